/* SPDX-License-Identifier: BSD-3-Clause */
/* A file, written and read in every way. */
#include "conformance.h"

static const char *const of_file = "0"; /* the communicator of the file */

static void file_call(const char *operation, long bytes)
{
    tally_call(operation, "io", bytes, NONE, NONE, NONE, of_file);
}

static struct origin starts(const char *operation, long bytes)
{
    file_call(operation, bytes);
    return (struct origin){operation, bytes, NONE, NONE, NONE, of_file};
}

static MPI_File opened(void)
{
    MPI_File file;
    tally_call("file_open", "io", NONE, NONE, NONE, NONE, "0");
    MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    file_call("file_set_view", NONE);
    MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    return file;
}

static void go_to(MPI_File file, MPI_Offset offset)
{
    tally_local("file_seek", "io", of_file);
    MPI_File_seek(file, offset, MPI_SEEK_SET);
}

/* At the file pointer, at a place, and at the pointer that all share. */
static void blocking(MPI_File file)
{
    MPI_Offset mine = 16 * rank;

    file_call("file_write_at", 2 * DOUBLE);
    MPI_File_write_at(file, mine, out, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
    file_call("file_write_at_all", 3 * DOUBLE);
    MPI_File_write_at_all(file, mine, out, 3, MPI_DOUBLE, MPI_STATUS_IGNORE);
    go_to(file, mine);
    file_call("file_write", 4 * DOUBLE);
    MPI_File_write(file, out, 4, MPI_DOUBLE, MPI_STATUS_IGNORE);
    file_call("file_write_all", 5 * DOUBLE);
    MPI_File_write_all(file, out, 5, MPI_DOUBLE, MPI_STATUS_IGNORE);
    file_call("file_sync", NONE);
    MPI_File_sync(file);
    barrier();
    file_call("file_read_at", 2 * DOUBLE);
    MPI_File_read_at(file, mine, in, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
    file_call("file_read_at_all", 3 * DOUBLE);
    MPI_File_read_at_all(file, mine, in, 3, MPI_DOUBLE, MPI_STATUS_IGNORE);
    go_to(file, mine);
    file_call("file_read", 4 * DOUBLE);
    MPI_File_read(file, in, 4, MPI_DOUBLE, MPI_STATUS_IGNORE);
    file_call("file_read_all", 5 * DOUBLE);
    MPI_File_read_all(file, in, 5, MPI_DOUBLE, MPI_STATUS_IGNORE);
}

static void shared_pointer(MPI_File file)
{
    file_call("file_write_shared", DOUBLE);
    MPI_File_write_shared(file, out, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    barrier();
    file_call("file_write_ordered", 2 * DOUBLE);
    MPI_File_write_ordered(file, out, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
    file_call("file_seek_shared", NONE);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    file_call("file_read_shared", DOUBLE);
    MPI_File_read_shared(file, in, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    barrier();
    file_call("file_read_ordered", 2 * DOUBLE);
    MPI_File_read_ordered(file, in, 2, MPI_DOUBLE, MPI_STATUS_IGNORE);
}

static void started(MPI_File file)
{
    MPI_Offset mine = 16 * rank;
    MPI_Request request;
    struct origin o;

    o = starts("file_iwrite_at", 2 * DOUBLE);
    MPI_File_iwrite_at(file, mine, out, 2, MPI_DOUBLE, &request);
    finish(&request, o);
    o = starts("file_iwrite_at_all", 3 * DOUBLE);
    MPI_File_iwrite_at_all(file, mine, out, 3, MPI_DOUBLE, &request);
    finish(&request, o);
    go_to(file, mine);
    o = starts("file_iwrite", 4 * DOUBLE);
    MPI_File_iwrite(file, out, 4, MPI_DOUBLE, &request);
    finish(&request, o);
    o = starts("file_iwrite_all", 5 * DOUBLE);
    MPI_File_iwrite_all(file, out, 5, MPI_DOUBLE, &request);
    finish(&request, o);
    o = starts("file_iwrite_shared", DOUBLE);
    MPI_File_iwrite_shared(file, out, 1, MPI_DOUBLE, &request);
    finish(&request, o);
    barrier();
    o = starts("file_iread_at", 2 * DOUBLE);
    MPI_File_iread_at(file, mine, in, 2, MPI_DOUBLE, &request);
    finish(&request, o);
    o = starts("file_iread_at_all", 3 * DOUBLE);
    MPI_File_iread_at_all(file, mine, in, 3, MPI_DOUBLE, &request);
    finish(&request, o);
    go_to(file, 0);
    o = starts("file_iread", 4 * DOUBLE);
    MPI_File_iread(file, in, 4, MPI_DOUBLE, &request);
    finish(&request, o);
    o = starts("file_iread_all", 5 * DOUBLE);
    MPI_File_iread_all(file, in, 5, MPI_DOUBLE, &request);
    finish(&request, o);
}

/* Begun and ended: both are calls of their own. */
static void split(MPI_File file)
{
    MPI_Offset mine = 16 * rank;

    go_to(file, mine);
    file_call("file_write_all_begin", 2 * DOUBLE);
    MPI_File_write_all_begin(file, out, 2, MPI_DOUBLE);
    file_call("file_write_all_end", NONE);
    MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE);
    file_call("file_write_at_all_begin", 3 * DOUBLE);
    MPI_File_write_at_all_begin(file, mine, out, 3, MPI_DOUBLE);
    file_call("file_write_at_all_end", NONE);
    MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
    file_call("file_write_ordered_begin", DOUBLE);
    MPI_File_write_ordered_begin(file, out, 1, MPI_DOUBLE);
    file_call("file_write_ordered_end", NONE);
    MPI_File_write_ordered_end(file, out, MPI_STATUS_IGNORE);
    go_to(file, 0);
    file_call("file_read_all_begin", 2 * DOUBLE);
    MPI_File_read_all_begin(file, in, 2, MPI_DOUBLE);
    file_call("file_read_all_end", NONE);
    MPI_File_read_all_end(file, in, MPI_STATUS_IGNORE);
    file_call("file_read_at_all_begin", 3 * DOUBLE);
    MPI_File_read_at_all_begin(file, mine, in, 3, MPI_DOUBLE);
    file_call("file_read_at_all_end", NONE);
    MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE);
    file_call("file_seek_shared", NONE);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    file_call("file_read_ordered_begin", DOUBLE);
    MPI_File_read_ordered_begin(file, in, 1, MPI_DOUBLE);
    file_call("file_read_ordered_end", NONE);
    MPI_File_read_ordered_end(file, in, MPI_STATUS_IGNORE);
}

/* The file as a whole. */
static void whole(MPI_File file)
{
    MPI_Offset size;
    file_call("file_preallocate", NONE);
    MPI_File_preallocate(file, 4096);
    file_call("file_set_size", NONE);
    MPI_File_set_size(file, 2048);
    file_call("file_get_size", NONE);
    MPI_File_get_size(file, &size);
    tally_local("file_get_position", "io", of_file);
    MPI_File_get_position(file, &size);
}

void io(void)
{
    MPI_File file = opened();
    blocking(file);
    shared_pointer(file);
    started(file);
    split(file);
    whole(file);
    file_call("file_close", NONE);
    MPI_File_close(&file);
    barrier();
    if (rank == 0) {
        tally_call("file_delete", "io", NONE, NONE, NONE, NONE, "-1");
        MPI_File_delete("data", MPI_INFO_NULL);
    }
}
