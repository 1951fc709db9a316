/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that one rank's trace may take: what the user asked for, and what its memory bears. */
#include "preload/trace_limit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>

#include "schema/options.h"
#include "schema/size_text.h"

/* Bytes of trace: all ranks together, and the least that any rank may have. */
static const uint64_t run_limit = UINT64_C(10) << 30, least = UINT64_C(8) << 20;

/* In memory: the part of the job's that all ranks of a node may take together, and the least. */
enum { PART_OF_MEMORY = 50, LEAST_IN_MEMORY = 1 << 20 };

static const unsigned long fs_tmpfs = 0x01021994, fs_ramfs = 0x858458f6;

static bool size_option(const char *what, const char *name, uint64_t *bytes)
{
    size_t length;
    const char *value = options_value(what, name, &length);
    return value && size_text_read(value, length, bytes);
}

static bool takes_memory(int directory)
{
    struct statfs fs;
    if (fstatfs(directory, &fs) < 0)
        return false;
    return (unsigned long)fs.f_type == fs_tmpfs || (unsigned long)fs.f_type == fs_ramfs;
}

/* The largest number of a text such as "2(x3),1", two on each of three nodes and one on another; or
 * 0. */
static uint32_t largest_number(const char *text)
{
    unsigned long largest = 0;
    while (text) {
        unsigned long number = strtoul(text, NULL, 10);
        largest = number > largest ? number : largest;
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
    return largest < UINT32_MAX ? (uint32_t)largest : UINT32_MAX;
}

static uint32_t count(const char *variable)
{
    return largest_number(getenv(variable));
}

/* mpirun's ranks have Slurm's variables too: those of the step that its daemons are in. */
static uint32_t ranks_on_node(uint32_t ranks)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "SLURM_STEP_TASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t found = count(names[i]);
        if (found > 0)
            return found < ranks ? found : ranks;
    }
    return ranks;
}

/* Bytes of this machine's memory, or of what Slurm gave the job of it. */
static uint64_t memory(void)
{
    struct sysinfo machine;
    uint64_t all = sysinfo(&machine) == 0 ? (uint64_t)machine.totalram * machine.mem_unit : 0;
    uint64_t given = (uint64_t)count("SLURM_MEM_PER_NODE") << 20; /* 0: all there is */
    if (given == 0)
        given = ((uint64_t)count("SLURM_MEM_PER_CPU") << 20) * count("SLURM_CPUS_ON_NODE");
    return given > 0 && given < all ? given : all;
}

uint64_t trace_limit_in_memory(uint32_t ranks)
{
    uint64_t share = memory() / PART_OF_MEMORY / ranks_on_node(ranks);
    return share > LEAST_IN_MEMORY ? share : LEAST_IN_MEMORY;
}

uint64_t trace_limit_in_spool(uint64_t size, uint32_t ranks)
{
    uint64_t share = size / ranks_on_node(ranks);
    return share < LEAST_IN_MEMORY ? 0 : share;
}

uint64_t trace_limit(const char *what, uint32_t ranks, int directory)
{
    uint64_t limit, of_memory;
    if (size_option(what, "max-trace", &limit))
        return limit;
    bool given = size_option(what, "max-run", &limit);
    limit = (given ? limit : run_limit) / ranks;
    limit = limit > least ? limit : least;
    of_memory = takes_memory(directory) ? trace_limit_in_memory(ranks) : limit;
    return of_memory < limit ? of_memory : limit;
}
