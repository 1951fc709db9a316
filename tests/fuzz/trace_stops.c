/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the trace after every store that writes it: there is every finished record, and no more.
 *
 * The writer is compiled in with a hook behind its stores. Speaks TAP.
 */
#define _GNU_SOURCE
static void stored(void);
#define TRACE_STORED() stored()
#include "schema/trace_writer.c" /* the hook is in it, so it cannot come from the library */

#include "tests/fuzz/sample_trace.h"

static const char name[] = "rank-000001.sptrace";
static int directory;
static bool watching;
static struct sample_digests expected, found;
static struct sample_progress finished;
static size_t stops, problems;

static void stored(void)
{
    struct error err = {""};
    if (!watching)
        return;
    stops++;
    if (!sample_read(directory, name, &found, &err))
        printf("# stop %zu: %s\n", stops, err.text);
    else if (!sample_is_prefix(&found, &expected, &finished))
        printf("# stop %zu: %zu and %zu records where %zu and %zu are finished\n", stops,
               found.count[0], found.count[1], finished.records[0], finished.records[1]);
    else if (!sample_requests_are_right(directory, name, &finished))
        printf("# stop %zu: other requests than are in flight\n", stops);
    else
        return;
    if (++problems > 10)
        sample_die("and so on");
}

int main(void)
{
    char path[64];
    struct error err;
    directory = sample_directory(path);
    sample_write(directory, name, &finished, stored);
    if (!sample_read(directory, name, &expected, &err))
        sample_die(err.text);
    if (!sample_is_whole(&expected, &finished))
        sample_die("the finished trace is not complete");
    unlinkat(directory, name, 0);

    memset(&finished, 0, sizeof finished);
    watching = true;
    sample_write(directory, name, &finished, stored);
    unlinkat(directory, name, 0);
    rmdir(path);
    printf("1..2\n");
    printf("%sok 1 - after each of %zu stores the trace is what was finished\n",
           problems ? "not " : "", stops);
    printf("%sok 2 - windows were turned on the way\n",
           expected.windows == 2 * SAMPLE_STREAMS ? "" : "not ");
    return problems > 0;
}
