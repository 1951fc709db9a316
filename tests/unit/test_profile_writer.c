/* SPDX-License-Identifier: BSD-3-Clause */
/* The profile file: what is written is read back, and what is damaged is refused. */
#include <criterion/criterion.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/profile_reader.h"
#include "schema/profile_writer.h"

static char directory[] = "/tmp/test_profile_XXXXXX";
static char path[64];

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/profile.h5", directory);
}

static void tear_down(void)
{
    unlink(path);
    rmdir(directory);
}

TestSuite(profile_file, .init = set_up, .fini = tear_down);

static const char *const names[] = {
    "scope_profiler.session",
    "mpi:send kind=point-to-point bytes=8 peer=1 root=-1 tag=0 comm=0",
};

static const struct profile_row rows[] = {
    {.region = 0,
     .rank = 0,
     .first = 0,
     .count = 1,
     .total = 100,
     .minimum = 100,
     .maximum = 100,
     .first_duration = 100,
     .last_duration = 100,
     .earliest_start = 5,
     .latest_end = 105,
     .exclusive = 70,
     .mean = 100},
    {.region = 1,
     .rank = 0,
     .first = 1,
     .count = 2,
     .total = 30,
     .minimum = 10,
     .maximum = 20,
     .first_duration = 10,
     .last_duration = 20,
     .earliest_start = 10,
     .latest_end = 60,
     .exclusive = 30,
     .mean = 15,
     .m2 = 50,
     .tags = "[\"mpi\"]"},
};

static void write_example(void)
{
    struct profile_writer *writer;
    struct error err = {""};
    const int64_t starts[] = {5, 10, 30}, durations[] = {100, 10, 20};
    cr_assert_eq(profile_writer_create(&writer, path, &err), 0, "%s", err.text);
    cr_assert_eq(profile_writer_set_number(writer, "mpi_size", 3, &err), 0, "%s", err.text);
    cr_assert_eq(profile_writer_set_text(writer, "user", "fran\xc3\xa7ois \xff\xe9!", &err), 0);
    cr_assert_eq(profile_writer_reserve(writer, 3, false, &err), 0, "%s", err.text);
    cr_assert_eq(profile_writer_put(writer, 0, 3, starts, durations, NULL, &err), 0, "%s",
                 err.text);
    cr_assert_eq(profile_writer_index(writer, names, 2, rows, 2, &err), 0, "%s", err.text);
    cr_assert_eq(profile_writer_close(writer, &err), 0, "%s", err.text);
}

static void assert_same_row(const struct profile_row *got, const struct profile_row *expected)
{
    cr_expect_eq(got->region, expected->region);
    cr_expect_eq(got->rank, expected->rank);
    cr_expect_eq(got->first, expected->first);
    cr_expect_eq(got->count, expected->count);
    cr_expect_eq(got->total, expected->total);
    cr_expect_eq(got->minimum, expected->minimum);
    cr_expect_eq(got->maximum, expected->maximum);
    cr_expect_eq(got->first_duration, expected->first_duration);
    cr_expect_eq(got->last_duration, expected->last_duration);
    cr_expect_eq(got->earliest_start, expected->earliest_start);
    cr_expect_eq(got->latest_end, expected->latest_end);
    cr_expect_eq(got->exclusive, expected->exclusive);
    cr_expect_float_eq(got->mean, expected->mean, 1e-9);
    cr_expect_float_eq(got->m2, expected->m2, 1e-9);
}

Test(profile_file, what_was_written_is_read_back)
{
    struct profile profile;
    struct error err = {""};
    write_example();
    cr_assert_eq(profile_read(&profile, path, &err), 0, "%s", err.text);
    cr_expect_eq(profile.schema, 3);
    cr_expect_eq(profile.ranks, 3);
    cr_assert_eq(profile.name_count, 2);
    cr_expect_str_eq(profile.names[1], names[1]);
    cr_assert_eq(profile.row_count, 2);
    assert_same_row(&profile.rows[0], &rows[0]);
    assert_same_row(&profile.rows[1], &rows[1]);
    profile_release(&profile);
}

Test(profile_file, text_that_is_no_utf8_is_made_readable)
{
    struct profile profile;
    struct error err;
    write_example();
    cr_assert_eq(profile_read(&profile, path, &err), 0);
    const struct profile_attribute *user = profile_attribute(&profile, "user");
    cr_assert_not_null(user);
    cr_expect_str_eq(user->text, "fran\xc3\xa7ois ?" "?!");
    cr_expect_null(profile_attribute(&profile, "nobody"));
    profile_release(&profile);
}

Test(profile_file, statistics_missing_from_a_file_are_taken_from_its_events)
{
    struct profile profile;
    struct error err = {""};
    write_example();
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    cr_assert_geq(H5Ldelete(file, "/rank_region_index/summary_statistics", H5P_DEFAULT), 0);
    H5Fclose(file);
    cr_assert_eq(profile_read(&profile, path, &err), 0, "%s", err.text);
    assert_same_row(&profile.rows[0], &rows[0]);
    assert_same_row(&profile.rows[1], &rows[1]);
    profile_release(&profile);
}

Test(profile_file, a_file_that_is_there_is_not_overwritten)
{
    struct profile_writer *writer;
    struct error err;
    write_example();
    cr_assert_eq(profile_writer_create(&writer, path, &err), -1);
    cr_expect_not_null(strstr(err.text, path));
}

Test(profile_file, events_outside_the_reserved_room_are_refused)
{
    struct profile_writer *writer;
    struct error err;
    const int64_t values[2] = {1, 1};
    cr_assert_eq(profile_writer_create(&writer, path, &err), 0);
    cr_assert_eq(profile_writer_reserve(writer, 2, false, &err), 0);
    cr_expect_eq(profile_writer_put(writer, 1, 2, values, values, NULL, &err), -1);
    cr_expect_eq(profile_writer_put(writer, UINT64_MAX, 2, values, values, NULL, &err), -1);
    cr_expect_eq(profile_writer_put(writer, 0, 2, values, values, NULL, &err), 0);
    profile_writer_discard(writer);
}

/* Cuts the example at every length: none may crash, and none but the whole may be read. */
Test(profile_file, a_truncated_file_is_an_error)
{
    struct profile profile;
    struct error err;
    write_example();
    FILE *file = fopen(path, "r");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    for (long cut = size - 1; cut >= 0; cut -= 97) {
        cr_assert_eq(truncate(path, cut), 0);
        cr_assert_eq(profile_read(&profile, path, &err), -1, "cut at %ld", cut);
        cr_assert_not_null(strstr(err.text, path));
    }
}

Test(profile_file, a_region_number_out_of_range_is_an_error)
{
    struct profile profile;
    struct error err;
    const uint32_t wrong[2] = {0, 7};
    write_example();
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t column = H5Dopen2(file, "/rank_region_index/region_ids", H5P_DEFAULT);
    H5Dwrite(column, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, wrong);
    H5Dclose(column);
    H5Fclose(file);
    cr_assert_eq(profile_read(&profile, path, &err), -1);
}

Test(profile_file, a_directory_is_an_error)
{
    struct profile profile;
    struct error err;
    cr_assert_eq(profile_read(&profile, directory, &err), -1);
    cr_expect_not_null(strstr(err.text, "not a regular file"));
}
