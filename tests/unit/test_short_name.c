/* SPDX-License-Identifier: BSD-3-Clause */
/* Short forms of region names. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "report/short_name.h"

Test(short_name, leaves_out_what_says_nothing)
{
    static const char *const names[][2] = {
        {"mpi:wait kind=wait bytes=64 peer=1 root=-1 tag=17 comm=0 request=isend",
         "mpi:wait isend 64 B peer=1 tag=17 comm=0"},
        {"mpi:bcast kind=collective bytes=0 peer=-1 root=3 tag=-1 comm=2",
         "mpi:bcast 0 B root=3 comm=2"},
        {"mpi:recv kind=point-to-point bytes=-1 peer=-2 root=-1 tag=-10 comm=-1",
         "mpi:recv peer=-2 tag=-10"},
        {"mpi:test kind=poll bytes=8 peer=1 root=-1 tag=2 comm=0 request=irecv",
         "mpi:test kind=poll irecv 8 B peer=1 tag=2 comm=0"},
        {"mpi:test kind=wait bytes=8 peer=1 root=-1 tag=2 comm=0 request=irecv",
         "mpi:test irecv 8 B peer=1 tag=2 comm=0"},
        {"mpi:init kind=other bytes=-1 peer=-1 root=-1 tag=-1 comm=-1", "mpi:init"},
    };
    char text[SHORT_NAME_SIZE];
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        cr_expect_str_eq(short_name(names[i][0], text), names[i][1]);
}

Test(short_name, leaves_alone_what_is_not_in_the_grammar)
{
    static const char *const names[] = {
        "",
        "solve",
        "mpi:",
        "mpi:send",
        "mpi: kind=wait bytes=1 peer=1 root=1 tag=1 comm=1",
        "mpi:send kind=unheard bytes=1 peer=1 root=1 tag=1 comm=1",
        "mpi:send kind=wait bytes=- peer=1 root=1 tag=1 comm=1",
        "mpi:send kind=wait bytes=1  peer=1 root=1 tag=1 comm=1",
        "mpi:send kind=wait bytes=1 peer=1 root=1 tag=1",
        "mpi:send kind=wait bytes=1 peer=1 root=1 tag=1 comm=1 ",
        "mpi:send kind=wait bytes=1 peer=1 root=1 tag=1 comm=1 request=",
        "mpi:send kind=wait bytes=1 peer=1 root=1 tag=1 comm=1 colour=red",
    };
    char text[SHORT_NAME_SIZE];
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        cr_expect_eq(short_name(names[i], text), names[i], "\"%s\"", names[i]);
}

Test(short_name, of_any_length)
{
    char name[1000], text[SHORT_NAME_SIZE];
    for (int digits = 1; digits < 900; digits++) {
        snprintf(name, sizeof(name), "mpi:a kind=io bytes=%0*d peer=-1 root=-1 tag=-1 comm=-1",
                 digits, 1);
        const char *got = short_name(name, text);
        cr_assert_eq(got == name, strlen(name) >= SHORT_NAME_SIZE, "%d digits", digits);
        cr_assert(strlen(got) <= strlen(name));
    }
}
