/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that a trace may take: what the user asked for, and its part of the job's memory. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "preload/trace_limit.h"

static const uint64_t mega = 1 << 20, giga = 1 << 30;

enum { NOWHERE = -1 }; /* on no file system in memory */

static void set(const char *name, const char *value)
{
    cr_assert_eq(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

static void forget_launchers(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "SLURM_STEP_TASKS_PER_NODE", "SLURM_MEM_PER_NODE",
                                        "SLURM_MEM_PER_CPU", "SLURM_CPUS_ON_NODE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        set(names[i], NULL);
}

TestSuite(trace_limit, .init = forget_launchers);

Test(trace_limit, a_run_is_shared_by_its_ranks_with_a_least)
{
    cr_expect_eq(trace_limit(NULL, 1, NOWHERE), 10 * giga);
    cr_expect_eq(trace_limit("mpi-calls", 10, NOWHERE), giga);
    cr_expect_eq(trace_limit("mpi-calls,max-run=20G", 10, NOWHERE), 2 * giga);
    cr_expect_eq(trace_limit("mpi-calls", 1000000, NOWHERE), 8 * mega);
    cr_expect_eq(trace_limit("mpi-calls,max-trace=300K", 10, NOWHERE), 300 * 1024);
    cr_expect_eq(trace_limit("mpi-calls,max-run=1M,max-trace=9G", 10, NOWHERE), 9 * giga);
}

Test(trace_limit, in_memory_it_is_a_part_of_the_jobs)
{
    set("SLURM_MEM_PER_NODE", "1000");
    cr_expect_eq(trace_limit_in_memory(1), 20 * mega);
    cr_expect_eq(trace_limit_in_memory(10), 2 * mega, "all ranks may be on this node");
    cr_expect_eq(trace_limit_in_memory(1000), mega, "the least");
    set("SLURM_MEM_PER_NODE", NULL);
    set("SLURM_MEM_PER_CPU", "250");
    set("SLURM_CPUS_ON_NODE", "4");
    cr_expect_eq(trace_limit_in_memory(1), 20 * mega);
}

Test(trace_limit, without_one_it_is_a_part_of_the_machines)
{
    struct sysinfo machine;
    cr_assert_eq(sysinfo(&machine), 0);
    uint64_t part = (uint64_t)machine.totalram * machine.mem_unit / 50;
    static const char *const texts[] = {NULL, "0", "", "all", "4000000000"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        set("SLURM_MEM_PER_NODE", texts[i]);
        cr_expect_eq(trace_limit_in_memory(2), part / 2);
    }
}

Test(trace_limit, the_ranks_of_a_node_share_it)
{
    set("SLURM_MEM_PER_NODE", "1000");
    set("SLURM_STEP_TASKS_PER_NODE", "1,4(x3),2");
    cr_expect_eq(trace_limit_in_memory(15), 5 * mega);
    cr_expect_eq(trace_limit_in_memory(2), 10 * mega, "of a small world in a large step");
    set("MPI_LOCALNRANKS", "5");
    cr_expect_eq(trace_limit_in_memory(15), 4 * mega);
    set("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
    cr_expect_eq(trace_limit_in_memory(15), 10 * mega);
}
