/* SPDX-License-Identifier: BSD-3-Clause */
/* Region labels: the grammar, its bounds, and the tags beside it. */
#include <criterion/criterion.h>
#include <string.h>

#include "schema/region_label.h"
#include "schema/trace_format.h"

Test(region_label, prints_the_grammar_of_the_package)
{
    struct region_label label = {.operation = "send",
                                 .kind = KIND_POINT_TO_POINT,
                                 .bytes = 32,
                                 .peer = 2,
                                 .root = -1,
                                 .tag = 9,
                                 .communicator = 7};
    char text[REGION_LABEL_SIZE];
    size_t length = region_label_print(&label, text);
    cr_assert_str_eq(text, "mpi:send kind=point-to-point bytes=32 peer=2 root=-1 tag=9 comm=7");
    cr_assert_eq(length, strlen(text));
}

Test(region_label, a_wait_names_the_request)
{
    struct region_label label = {.operation = "wait",
                                 .request = "irecv",
                                 .kind = KIND_WAIT,
                                 .bytes = 64,
                                 .peer = 0,
                                 .root = -1,
                                 .tag = 17};
    char text[REGION_LABEL_SIZE];
    region_label_print(&label, text);
    cr_assert_str_eq(text,
                     "mpi:wait kind=wait bytes=64 peer=0 root=-1 tag=17 comm=0 request=irecv");
}

/* What polls of several requests and of several operations have in common. */
Test(region_label, polls_keep_what_they_have_in_common)
{
    struct region_label label = {.operation = "test",
                                 .request = "irecv",
                                 .kind = KIND_POLL,
                                 .bytes = -1,
                                 .peer = -1,
                                 .root = -1,
                                 .tag = 17,
                                 .communicator = 2};
    char text[REGION_LABEL_SIZE];
    region_label_print(&label, text);
    cr_assert_str_eq(text,
                     "mpi:test kind=poll bytes=-1 peer=-1 root=-1 tag=17 comm=2 request=irecv");
    label.operation = "poll";
    label.request = "mixed";
    label.tag = -1;
    label.communicator = -1;
    region_label_print(&label, text);
    cr_assert_str_eq(text,
                     "mpi:poll kind=poll bytes=-1 peer=-1 root=-1 tag=-1 comm=-1 request=mixed");
}

Test(region_label, the_longest_label_and_tags_fit)
{
    char name[200];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    struct region_label label = {.operation = name,
                                 .request = name,
                                 .kind = KIND_POINT_TO_POINT,
                                 .bytes = INT64_MIN,
                                 .peer = INT64_MIN,
                                 .root = INT64_MIN,
                                 .tag = INT64_MIN,
                                 .communicator = INT64_MIN};
    char text[REGION_LABEL_SIZE], tags[REGION_TAGS_SIZE];
    size_t length = region_label_print(&label, text);
    cr_assert_lt(length, sizeof(text));
    cr_assert_eq(strlen(text), length);
    cr_assert_eq(strspn(text + strlen("mpi:"), "x"), TRACE_NAME_MAX);
    length = region_label_print_tags(&label, tags);
    cr_assert_lt(length, sizeof(tags));
    cr_assert_eq(tags[length - 1], ']');
}

Test(region_label, tags_repeat_the_label)
{
    struct region_label label = {.operation = "bcast",
                                 .kind = KIND_COLLECTIVE,
                                 .bytes = 4,
                                 .peer = -1,
                                 .root = 0,
                                 .tag = -1};
    char tags[REGION_TAGS_SIZE];
    region_label_print_tags(&label, tags);
    cr_assert_str_eq(tags, "[\"mpi\", \"mpi.kind:collective\", \"mpi.operation:bcast\", "
                           "\"mpi.bytes:4\", \"mpi.peer:-1\", \"mpi.root:0\", \"mpi.tag:-1\", "
                           "\"mpi.communicator:0\"]");
}
