/* SPDX-License-Identifier: BSD-3-Clause */
/* overrun [BYTES]: writes so many bytes past the end of an allocation, for AddressSanitizer to see. */
#include <stdlib.h>

int main(int argc, char **argv)
{
    int past = argc > 1 ? atoi(argv[1]) : 0;
    char *bytes = malloc(8);
    for (volatile int i = 0; bytes && i < 8 + past; i++)
        bytes[i] = 1;
    free(bytes);
    return 0;
}
