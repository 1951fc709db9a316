/* SPDX-License-Identifier: BSD-3-Clause */
/* A SPANK plugin that puts each task into the directory of its plugstack line, as containers do. */
#include <slurm/spank.h>
#include <unistd.h>

SPANK_PLUGIN(test_chroot, 1);

int slurm_spank_task_init_privileged(spank_t spank, int argc, char **argv)
{
    (void)spank;
    return argc == 1 && chroot(argv[0]) == 0 && chdir("/") == 0 ? 0 : -1;
}
