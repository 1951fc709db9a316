/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels get coarser step by step, and where there would be too many. */
#include <criterion/criterion.h>
#include <string.h>

#include "merge/labels.h"

static const char *print(enum labels labels, int64_t bytes)
{
    static char text[REGION_LABEL_SIZE];
    struct region_label label = {.operation = "wait",
                                 .request = "isend",
                                 .kind = KIND_WAIT,
                                 .bytes = bytes,
                                 .peer = 3,
                                 .root = -1,
                                 .tag = 7,
                                 .communicator = 2};
    labels_coarsen(labels, &label);
    region_label_print(&label, text);
    return text;
}

Test(labels, each_grain_tells_less)
{
    cr_expect_str_eq(print(LABELS_FULL, 1000),
                     "mpi:wait kind=wait bytes=1000 peer=3 root=-1 tag=7 comm=2 request=isend");
    cr_expect_str_eq(print(LABELS_SIZE_CLASS, 1000),
                     "mpi:wait kind=wait bytes=1024 peer=3 root=-1 tag=7 comm=2 request=isend");
    cr_expect_str_eq(print(LABELS_PEER, 1000),
                     "mpi:wait kind=wait bytes=-1 peer=3 root=-1 tag=-1 comm=2 request=isend");
    cr_expect_str_eq(print(LABELS_OP, 1000),
                     "mpi:wait kind=wait bytes=-1 peer=-1 root=-1 tag=-1 comm=-1 request=isend");
}

Test(labels, sizes_have_a_class)
{
    static const int64_t sizes[][2] = {
        {-1, -1}, {0, 0}, {1, 1},       {2, 2},
        {3, 4},   {4, 4}, {1025, 2048}, {INT64_MAX, INT64_C(1) << 62}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct region_label label = {.bytes = sizes[i][0]};
        labels_coarsen(LABELS_SIZE_CLASS, &label);
        cr_expect_eq(label.bytes, sizes[i][1], "%ld", (long)sizes[i][0]);
    }
}

Test(labels, words_are_read_back)
{
    enum labels read;
    for (int labels = LABELS_AUTO; labels <= LABELS_OP; labels++) {
        cr_assert(labels_read(labels_word((enum labels)labels), &read));
        cr_expect_eq((int)read, labels);
    }
    cr_expect_not(labels_read("", &read));
    cr_expect_not(labels_read("ful", &read));
}

Test(labels, many_names_of_few_ranks_or_many_rows_are_too_many)
{
    cr_expect_not(labels_are_many(4, 2000, 8000));
    cr_expect(labels_are_many(4, 4000, 16000));
    cr_expect(labels_are_many(128, 6402, 6656));
    cr_expect_not(labels_are_many(1024, 102402, 104448));
    cr_expect(labels_are_many(1024, 201, 205824));
}
