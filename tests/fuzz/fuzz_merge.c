/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer on a run directory: it is folded into profile files, and these are reported on. */
#include <hdf5.h>

#include "merge/run.h"
#include "merge/world.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/text.h"
#include "schema/profile_reader.h"
#include "tests/fuzz/fuzz_input.h"

static int directory;
static char path[64], profile_path[96];

/* A file that we wrote ourselves: it can be read, and tells of the calls that were merged. */
static void report(uint64_t calls)
{
    static const struct rank_set all;
    const struct text_layout layout = {.width = 80};
    struct profile profile;
    struct summary summary;
    struct error err;
    if (profile_read(&profile, profile_path, &err) < 0 ||
        summary_make(&summary, &profile, &all, &err) < 0) {
        fprintf(stderr, "the profile file cannot be read: %s\n", err.text);
        abort();
    }
    text_print(stdout, profile_path, &profile, &summary, &layout);
    if (json_print(stdout, profile_path, &profile, &summary, 3, &err) < 0)
        abort();
    fflush(stdout);
    if (summary.mpi_calls != calls)
        abort();
    summary_release(&summary);
    profile_release(&profile);
}

/* The file's form is the input's as well. */
static void merge(const struct run *run, const struct run_world *world, size_t form)
{
    struct losses losses = {.quiet = true};
    static struct world_result result;
    struct error err = {""};
    const struct world_options options = {.overwrite = true,
                                          .threads = 2,
                                          .compress = form % 2 == 0,
                                          .is_old_schema = form % 3 == 0,
                                          .has_handles = form % 5 == 0,
                                          .most_bytes = form % 7 == 0};
    memset(&result, 0, sizeof result);
    enum world_status status =
        world_merge(run, world, profile_path, &options, &losses, &result, &err);
    if (status == WORLD_COMPLETE || status == WORLD_LOSSES)
        report(result.calls);
    else if (err.text[0] == '\0')
        abort();
    if (status == WORLD_COMPLETE && losses.count > 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run run;
    struct error err;
    if (directory == 0) {
        input_fill_streams();
        /* The tables of each open file take half of the time. */
        H5set_free_list_limits(-1, -1, -1, -1, -1, -1);
        directory = input_directory(path);
        snprintf(profile_path, sizeof profile_path, "%s.h5", path);
    }
    input_write(directory, data, size, INPUT_NAMES);
    if (run_open(&run, path, &err) == 0)
        for (size_t i = 0; i < run.world_count; i++)
            merge(&run, &run.worlds[i], size);
    run_release(&run);
    input_remove(directory);
    unlink(profile_path);
    return 0;
}
