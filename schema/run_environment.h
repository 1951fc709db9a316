/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the variables that hand a run to its processes.
 *
 * Those of a Slurm step begin with SLURM_, because only such names survive --export=NONE.
 */
#ifndef SCOPE_RUN_ENVIRONMENT_H
#define SCOPE_RUN_ENVIRONMENT_H

/* From the plugin to the tasks of one step. */
#define STEP_ENV_RUN "SLURM_SCOPE_PROFILE_RUN"         /* absolute path of the run directory; "": taken */
#define STEP_ENV_STEP "SLURM_SCOPE_PROFILE_STEP"       /* "JOB.STEP" that asked for it */
#define STEP_ENV_WHAT "SLURM_SCOPE_PROFILE_WHAT"       /* WHAT that holds for the step */
#define STEP_ENV_PRELOAD "SLURM_SCOPE_PROFILE_PRELOAD" /* what was put in front of LD_PRELOAD */
#define STEP_ENV_COMMAND "SLURM_SCOPE_PROFILE_COMMAND" /* the step's words, joined by blanks */
#define STEP_ENV_PARENT "SLURM_SCOPE_PROFILE_PARENT"   /* absolute out=, patterns unresolved */
#define STEP_ENV_LIKWID "SLURM_SCOPE_PROFILE_LIKWID"   /* what is counted (likwid_record.h) */
#define STEP_ENV_SITE "SLURM_SCOPE_PROFILE_SITE"       /* "1": the site asked, not the user */
#define STEP_ENV_SPOOL "SLURM_SCOPE_PROFILE_SPOOL"     /* the step's directory in the spool */
#define STEP_ENV_SPOOL_FILE "SLURM_SCOPE_PROFILE_SPOOL_FILE" /* its container in the run */
#define STEP_ENV_SPOOL_SIZE "SLURM_SCOPE_PROFILE_SPOOL_SIZE" /* bytes of all ranks; "": any */

/* From the plugin to what mpirun starts in a batch script or an interactive shell of the job,
 * here and, through its daemons, on other nodes. srun leaves them alone. */
#define MPIRUN_ENV_RUN "SLURM_SCOPE_PROFILE_MPIRUN_RUN"   /* "DIR/scope-profile-JOB.mpirun" */
#define MPIRUN_ENV_JOB "SLURM_SCOPE_PROFILE_MPIRUN_JOB"   /* "JOB" */
#define MPIRUN_ENV_WHAT "SLURM_SCOPE_PROFILE_MPIRUN_WHAT" /* WHAT that holds for the job */
#define MPIRUN_ENV_STEP "SLURM_SCOPE_PROFILE_MPIRUN_STEP" /* the step of the daemons */
#define MPIRUN_ENV_NODE "SLURM_SCOPE_PROFILE_MPIRUN_NODE" /* theirs: Hydra hands on mpiexec's */

/* From the user to srun: WHAT, where no option says it. */
#define USER_ENV_WHAT "SCOPE_PROFILE"

/* The same for words of WHAT: qmpi= and qmpi-path=. */
#define USER_ENV_QMPI_TOOLS "SCOPE_PROFILE_QMPI_TOOLS"
#define USER_ENV_QMPI_PATH "SCOPE_PROFILE_QMPI_PATH"
#define MPICH_ENV_QMPI_TOOLS "MPIR_CVAR_QMPI_TOOL_LIST" /* joined by colons */

/* From sp-run to the processes below it. */
#define RUN_ENV_RUN "SCOPE_PROFILE_RUN"
#define RUN_ENV_WHAT "SCOPE_PROFILE_WHAT"
#define RUN_ENV_COMMAND "SCOPE_PROFILE_COMMAND"

enum { RUN_COMMAND_MAX = 4096 }; /* bytes of a command variable, the rest is cut */

#endif
