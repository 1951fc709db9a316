/* SPDX-License-Identifier: BSD-3-Clause */
/* optional_program STEP...: a program that takes MPI as it comes, and the steps it is to take.
 *
 *     ask init use finalize      with the references of its own
 *     global=LIBRARY             opens a library in everybody's sight
 *     look                       looks MPI_Send up in it
 *     plugin=LIBRARY             opens a plugin, which the steps that follow are for
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/dispatch/optional.h"

static const char *who = "program";
static void (*ask)(const char *) = optional_ask;
static void (*init)(void) = optional_init;
static void (*use)(void) = optional_use;
static void (*finalize)(void) = optional_finalize;

static void *open_or_exit(const char *path, int mode)
{
    void *library = dlopen(path, mode);
    if (!library) {
        fprintf(stderr, "optional_program: %s\n", dlerror());
        exit(2);
    }
    return library;
}

static void open_plugin(const char *path)
{
    void *plugin = open_or_exit(path, RTLD_NOW | RTLD_LOCAL);
    who = "plugin";
    *(void **)&ask = dlsym(plugin, "optional_ask");
    *(void **)&init = dlsym(plugin, "optional_init");
    *(void **)&use = dlsym(plugin, "optional_use");
    *(void **)&finalize = dlsym(plugin, "optional_finalize");
}

static void take(const char *step)
{
    static void *library;
    if (strcmp(step, "ask") == 0)
        ask(who);
    else if (strcmp(step, "init") == 0)
        init();
    else if (strcmp(step, "use") == 0)
        use();
    else if (strcmp(step, "finalize") == 0)
        finalize();
    else if (strncmp(step, "global=", strlen("global=")) == 0)
        library = open_or_exit(strchr(step, '=') + 1, RTLD_NOW | RTLD_GLOBAL);
    else if (strcmp(step, "look") == 0)
        printf("MPI_Send %s\n", dlsym(library, "MPI_Send") ? "there" : "none");
    else if (strncmp(step, "plugin=", strlen("plugin=")) == 0)
        open_plugin(strchr(step, '=') + 1);
    else
        exit(2);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        take(argv[i]);
    return 0;
}
