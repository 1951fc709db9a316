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

static const struct profile_counted polls[] = {
    {.rank = 0, .region = "mpi:test", .count = UINT64_C(1) << 40, .ns = 12345},
    {.rank = 2, .region = "mpi:iprobe", .count = 1, .ns = 5},
};
static const struct profile_counted unrecorded[] = {
    {.rank = 1, .region = "mpi:finalize", .count = INT64_MAX, .ns = INT64_MAX},
    {.rank = 2, .region = "mpi:send", .count = 7, .ns = 0},
};
static const struct profile_failed failed[] = {
    {.rank = 2, .region = "mpi:send", .error_class = PROFILE_FAILED_OTHER, .count = 3},
    {.rank = 2, .region = "mpi:send", .error_class = INT32_MAX, .count = 4},
};
static const struct profile_pause pauses[] = {{.rank = 1, .start_ns = 50, .duration_ns = 20}};

static void write_example(void)
{
    struct profile_writer *writer;
    struct error err = {""};
    const int64_t starts[] = {5, 10, 30}, durations[] = {100, 10, 20};
    cr_assert_eq(profile_writer_create(&writer, path, NULL, &err), 0, "%s", err.text);
    cr_assert_eq(profile_writer_set_number(writer, "mpi_size", 3, &err), 0, "%s", err.text);
    cr_assert_eq(profile_writer_set_text(writer, "user", "fran\xc3\xa7ois \xff\xe9!", &err), 0);
    cr_assert_eq(profile_writer_reserve(writer, 3, false, &err), 0, "%s", err.text);
    cr_assert_eq(profile_writer_put(writer, 0, 3, starts, durations, NULL, &err), 0, "%s",
                 err.text);
    cr_assert_eq(profile_writer_index(writer, names, 2, rows, 2, &err), 0, "%s", err.text);
    cr_assert_eq(profile_writer_polls(writer, polls, 2, &err), 0, "%s", err.text);
    cr_assert_eq(profile_writer_unrecorded(writer, unrecorded, 2, &err), 0, "%s", err.text);
    cr_assert_eq(profile_writer_failed(writer, failed, 2, &err), 0, "%s", err.text);
    cr_assert_eq(profile_writer_pauses(writer, pauses, 1, &err), 0, "%s", err.text);
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

static void assert_same_counts(const struct profile_counts *got,
                               const struct profile_counted *expected)
{
    cr_assert_eq(got->count, 2);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(got->rows[i].rank, expected[i].rank);
        cr_expect_str_eq(got->rows[i].region, expected[i].region);
        cr_expect_eq(got->rows[i].count, expected[i].count);
        cr_expect_eq(got->rows[i].ns, expected[i].ns);
    }
}

Test(profile_file, tables_of_counts_are_read_back)
{
    struct profile profile;
    struct error err = {""};
    write_example();
    cr_assert_eq(profile_read(&profile, path, &err), 0, "%s", err.text);
    assert_same_counts(&profile.polls, polls);
    assert_same_counts(&profile.unrecorded, unrecorded);
    cr_assert(profile.failed_count == 2 && profile.pause_count == 1);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(profile.failed[i].rank, failed[i].rank);
        cr_expect_str_eq(profile.failed[i].region, failed[i].region);
        cr_expect_eq(profile.failed[i].error_class, failed[i].error_class);
        cr_expect_eq(profile.failed[i].count, failed[i].count);
    }
    cr_expect(profile.pauses[0].rank == 1 && profile.pauses[0].start_ns == 50 &&
              profile.pauses[0].duration_ns == 20);
    profile_release(&profile);
}

/* Removes a link of the example; whether it can be read then is told. */
static int read_without(const char *link, struct profile *profile, struct error *err)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    cr_assert_geq(H5Ldelete(file, link, H5P_DEFAULT), 0);
    H5Fclose(file);
    return profile_read(profile, path, err);
}

Test(profile_file, a_table_may_be_missing_but_not_half_of_it)
{
    struct profile profile;
    struct error err = {""};
    static const char *const columns[] = {
        "/scope_profile/polls/counts",       "/scope_profile/polls/regions",
        "/scope_profile/polls/busy_ns",      "/scope_profile/unrecorded/ranks",
        "/scope_profile/unrecorded/regions", "/scope_profile/unrecorded/total_ns",
        "/scope_profile/failed/ranks",       "/scope_profile/failed/error_classes",
        "/scope_profile/pauses/duration_ns"};
    write_example();
    cr_assert_eq(read_without("/scope_profile/pauses", &profile, &err), 0, "%s", err.text);
    cr_expect(profile.pause_count == 0 && profile.polls.count == 2);
    profile_release(&profile);
    cr_assert_eq(read_without("/scope_profile", &profile, &err), 0, "%s", err.text);
    cr_expect(profile.polls.count == 0 && profile.unrecorded.count == 0 &&
              profile.failed_count == 0);
    profile_release(&profile);
    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
        unlink(path);
        write_example();
        cr_expect_eq(read_without(columns[i], &profile, &err), -1);
        cr_expect_not_null(strstr(err.text, columns[i]), "%s", err.text);
    }
}

/* Writes two numbers into a column of the example; whether it can be read then is told. */
static int read_with(const char *column, const int64_t numbers[2], struct profile *profile,
                     struct error *err)
{
    write_example();
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    cr_assert_geq(H5Ldelete(file, column, H5P_DEFAULT), 0);
    const hsize_t two = 2;
    hid_t space = H5Screate_simple(1, &two, NULL);
    hid_t made = H5Dcreate2(file, column, H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT,
                            H5P_DEFAULT);
    H5Dwrite(made, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
    H5Dclose(made);
    H5Sclose(space);
    H5Fclose(file);
    int status = profile_read(profile, path, err);
    unlink(path);
    return status;
}

Test(profile_file, fewer_calls_than_none_are_an_error)
{
    static const char *const columns[] = {
        "/rank_region_index/event_counts", "/scope_profile/polls/counts",
        "/scope_profile/unrecorded/counts", "/scope_profile/failed/counts"};
    const int64_t numbers[2] = {1, -1};
    struct profile profile;
    struct error err = {""};
    for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
        cr_expect_eq(read_with(columns[i], numbers, &profile, &err), -1, "%s", columns[i]);
        cr_expect_not_null(strstr(err.text, columns[i]), "%s", err.text);
    }
}

Test(profile_file, times_may_be_any_number)
{
    const int64_t numbers[2] = {INT64_MIN, INT64_MAX};
    struct profile profile;
    struct error err = {""};
    cr_assert_eq(read_with("/scope_profile/unrecorded/total_ns", numbers, &profile, &err), 0, "%s",
                 err.text);
    cr_expect_eq(profile.unrecorded.rows[0].ns, INT64_MIN);
    profile_release(&profile);
}

/* A column of another length than the first one. */
Test(profile_file, columns_of_different_lengths_are_an_error)
{
    struct profile profile;
    struct error err = {""};
    static const char *const from[] = {"/scope_profile/pauses/start_ns",
                                       "/rank_region_index/source_texts"};
    static const char *const to[] = {"/scope_profile/failed/counts",
                                     "/scope_profile/polls/regions"};
    const hsize_t three = 3;
    for (size_t i = 0; i < 2; i++) {
        write_example();
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        hid_t column = H5Dopen2(file, from[i], H5P_DEFAULT), type = H5Dget_type(column);
        cr_assert_geq(H5Ldelete(file, to[i], H5P_DEFAULT), 0);
        hid_t space = H5Screate_simple(1, &three, NULL);
        hid_t made = H5Dcreate2(file, to[i], type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        int64_t zeros[3] = {0};
        char *texts[3] = {"", "", ""};
        H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, i ? (void *)texts : (void *)zeros);
        H5Dclose(made);
        H5Sclose(space);
        H5Tclose(type);
        H5Dclose(column);
        H5Fclose(file);
        cr_expect_eq(profile_read(&profile, path, &err), -1);
        cr_expect_not_null(strstr(err.text, to[i]), "%s", err.text);
        unlink(path);
    }
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
    cr_assert_eq(profile_writer_create(&writer, path, NULL, &err), -1);
    cr_expect_not_null(strstr(err.text, path));
}

Test(profile_file, events_outside_the_reserved_room_are_refused)
{
    struct profile_writer *writer;
    struct error err;
    const int64_t values[2] = {1, 1};
    cr_assert_eq(profile_writer_create(&writer, path, NULL, &err), 0);
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
    cr_expect_not_null(strstr(err.text, " is a directory: sp-merge "));
}
