/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks, as some libraries do, whether the program it is in uses MPI: it does not. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    int flag = 0;
    int (*initialized)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, "MPI_Initialized");
    if (initialized && (flag = 1, initialized(&flag)) != 0)
        return 1;
    printf("flag %d\n", flag);
    return flag;
}
