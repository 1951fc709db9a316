/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without MPI: says a word and ends with status 7. */
#include <stdio.h>

int main(void)
{
    puts("plain");
    return 7;
}
