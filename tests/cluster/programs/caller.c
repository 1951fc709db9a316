/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls library_work, of the library it is linked with or of the one it is told to open. It knows
 * nothing of MPI. */
#include <dlfcn.h>
#include <stdio.h>

extern __attribute__((weak)) void library_work(void);

int main(int argc, char **argv)
{
    void (*work)(void) = library_work;
    if (argc > 1) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        work = library ? (void (*)(void))dlsym(library, "library_work") : NULL;
    }
    if (!work) {
        fprintf(stderr, "caller: %s\n", dlerror());
        return 1;
    }
    work();
    return 0;
}
