/* SPDX-License-Identifier: BSD-3-Clause */
/* What is shown of progress, and where. */
#define _GNU_SOURCE
#include "merge/progress.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is written to fd while stderr is the other end of it; fd does not wait. */
static void read_all(int fd, char *text, size_t size)
{
    ssize_t got, length = 0;
    while ((got = read(fd, text + length, size - 1 - (size_t)length)) > 0)
        length += got;
    text[length] = '\0';
}

/* Advances 16 ranks from a start that is seconds ago, to a quarter of what there is to do. */
static void advance(struct progress *progress, bool on, int seconds)
{
    progress_begin(progress, on, 16);
    progress_phase(progress, "writing", UINT64_C(40000000000), 16);
    progress->start.tv_sec -= seconds;
    progress->shown = progress->start;
    for (int i = 0; i < 4; i++)
        progress_rank(progress, UINT64_C(2500000000));
    progress_advance(progress, UINT64_C(10000000000));
}

/* What a terminal shows of that, and of the end. */
static void look(bool on, int seconds, char *text, size_t size)
{
    struct progress progress;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), saved = dup(STDERR_FILENO);
    cr_assert_eq(grantpt(terminal) + unlockpt(terminal), 0);
    int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    cr_assert_geq(dup2(other, STDERR_FILENO), 0);
    advance(&progress, on, seconds);
    progress_clear(&progress);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    read_all(terminal, text, size);
    close(saved);
    close(other);
    close(terminal);
}

Test(progress, a_terminal_shows_how_far_it_is)
{
    char text[512];
    look(true, 2000, text, sizeof text);
    /* 6000 s, and three more for each that this takes. */
    const char *expected =
        "\rwriting:  25 %, 4 of 16 ranks, 10000.0 million events, 80 MB/s, 60";
    cr_expect_eq(strncmp(text, expected, strlen(expected)), 0, "%s", text + 1);
    cr_expect_not_null(strstr(text, " s left\033[K\r\033[K"));
}

Test(progress, what_has_just_begun_shows_nothing)
{
    char text[512];
    look(true, 0, text, sizeof text);
    cr_expect_str_empty(text);
}

Test(progress, nobody_asked)
{
    char text[512];
    look(false, 20, text, sizeof text);
    cr_expect_str_empty(text);
}

Test(progress, no_terminal)
{
    char text[512];
    struct progress progress;
    int pipes[2], saved = dup(STDERR_FILENO);
    cr_assert_eq(pipe2(pipes, O_NONBLOCK), 0);
    dup2(pipes[1], STDERR_FILENO);
    advance(&progress, true, 20);
    progress_clear(&progress);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    read_all(pipes[0], text, sizeof text);
    cr_expect_str_empty(text);
}
