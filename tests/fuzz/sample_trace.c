/* SPDX-License-Identifier: BSD-3-Clause */
/* sample_trace DIR: writes the sample that the tests here damage. */
#include "tests/fuzz/sample_trace.h"

static void no_step(void)
{
}

int main(int argc, char **argv)
{
    static struct sample_progress progress;
    int directory = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (directory < 0)
        sample_die("sample_trace needs a directory");
    sample_write(directory, "rank-000001.sptrace", &progress, no_step);
    return 0;
}
