/* SPDX-License-Identifier: BSD-3-Clause */
/* The SPANK plugin: hands each of Slurm's callbacks to the part that runs in that program.
 *
 * No callback fails, but for a wrong option on a command line: whatever goes wrong costs the
 * profile, never the job.
 */
#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "config.h"
#include "spank/settings.h"
#include "spank/srun.h"
#include "spank/stepd.h"

SPANK_PLUGIN(scope_profile, 1)

/* Lines that contrib/doctor finds in the file, for it cannot ask a plugin. */
static const char about[] __attribute__((used)) = "\nscope-profile-version=" PACKAGE_VERSION
                                                  "\nscope-profile-slurm=" SP_SLURM_VERSION
                                                  "\nscope-profile-preload=" SP_PRELOAD_PATH
                                                  "\nscope-profile-merge-tool=" SP_MERGE_PATH "\n";

static struct settings settings;

static int take_option(int value, const char *what, int remote)
{
    (void)value;
    return remote ? 0 : srun_option(what); /* srun tells slurmstepd all in the environment */
}

/* The value is not optional (has_arg 1): otherwise "--scope-profile mpi-calls ./app" would run a
 * program "mpi-calls". A forgotten value takes ./app for WHAT, and is refused with the words. */
static struct spank_option option = {
    .name = (char *)"scope-profile",
    .arginfo = (char *)"WHAT",
    .usage = (char *)"profile the MPI calls of all ranks into one file beside the job: "
                     "mpi-calls, mpi-calls,out=DIR, mpi-calls,merge=off, off; help explains them",
    .has_arg = 1,
    .cb = take_option,
};

/* What is wrong in plugstack.conf goes to the administrator, in slurmd's log, and to no user. */
static void complain(const char *message)
{
    if (spank_context() != S_CTX_LOCAL && spank_context() != S_CTX_ALLOCATOR)
        slurm_error("scope-profile: %s", message);
}

int slurm_spank_init(spank_t spank, int argc, char *argv[])
{
    spank_context_t context = spank_context();
    settings_read(&settings, argc, argv, complain);
    if ((context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR || context == S_CTX_REMOTE) &&
        spank_option_register(spank, &option) != ESPANK_SUCCESS)
        slurm_error("scope-profile: the option --scope-profile cannot be registered");
    return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char *argv[])
{
    (void)argc, (void)argv;
    if (spank_context() == S_CTX_LOCAL)
        srun_announce(&settings);
    else if (spank_context() == S_CTX_ALLOCATOR)
        srun_announce_job(&settings);
    else if (spank_context() == S_CTX_REMOTE)
        stepd_step(spank, &settings);
    return 0;
}

int slurm_spank_local_user_init(spank_t spank, int argc, char *argv[])
{
    (void)argc, (void)argv;
    srun_launch(spank);
    return 0;
}

int slurm_spank_task_init(spank_t spank, int argc, char *argv[])
{
    (void)argc, (void)argv;
    stepd_task(spank, &settings);
    return 0;
}

int slurm_spank_task_post_fork(spank_t spank, int argc, char *argv[])
{
    (void)argc, (void)argv;
    stepd_task_started(spank, &settings);
    return 0;
}

int slurm_spank_task_exit(spank_t spank, int argc, char *argv[])
{
    (void)argc, (void)argv;
    stepd_task_exit(spank, &settings);
    return 0;
}

int slurm_spank_exit(spank_t spank, int argc, char *argv[])
{
    (void)spank, (void)argc, (void)argv;
    if (spank_context() == S_CTX_LOCAL)
        srun_finish(&settings);
    else if (spank_context() == S_CTX_REMOTE)
        stepd_exit();
    return 0;
}
