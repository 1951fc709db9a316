/* SPDX-License-Identifier: BSD-3-Clause */
/* A SPANK plugin that gives each task a file system of its own at the path of its plugstack
 * line, as job_container/tmpfs does. */
#define _GNU_SOURCE
#include <sched.h>
#include <slurm/spank.h>
#include <stddef.h>
#include <sys/mount.h>

SPANK_PLUGIN(test_private_tmp, 1);

int slurm_spank_task_init_privileged(spank_t spank, int argc, char **argv)
{
    (void)spank;
    return argc == 1 && unshare(CLONE_NEWNS) == 0 &&
                   mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                   mount("tmpfs", argv[0], "tmpfs", 0, "mode=1777") == 0
               ? 0
               : -1;
}
