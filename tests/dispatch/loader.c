/* SPDX-License-Identifier: BSD-3-Clause */
/* loader PLUGIN: opens it out of everybody else's sight and lets it send; without PLUGIN it does
 * nothing, a program without MPI. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*run)(int);
    if (argc < 2)
        return 0;
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        fprintf(stderr, "loader: %s\n", dlerror());
        return 2;
    }
    *(void **)&run = dlsym(plugin, "plugin_run");
    printf("send 25\n");
    return run ? run(25) : 3;
}
