/* SPDX-License-Identifier: BSD-3-Clause */
/* LIKWID's marker file: what a rank's markers measured, as liblikwid wrote it. */
#include "merge/likwid_marker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/regular_file.h"

enum { CPU_MAX = 1 << 20, GROUPS_MAX = 1 << 16, NUMBER_SIZE = 64 };

/* A line of the text, without its newline, and how much of it was read. */
struct line {
    const char *at, *end;
    size_t number; /* from 1 on */
};

static void add_problem(struct likwid_marker *marker, const struct line *line, const char *what)
{
    if (marker->problem_count++ == 0)
        error_set(&marker->problem, "line %zu %s", line->number, what);
}

/* Adds one to a list that grows by powers of two: room for it, or NULL. */
static void *grow(void *list, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return list;
    return realloc(list, (count ? 2 * count : 1) * size);
}

/* --- words of a line -----------------------------------------------------------------------------
 */

/* The next word between blanks, as a text that ends; false: there is none, or it is too long. */
static bool take_word(struct line *line, char word[static NUMBER_SIZE])
{
    while (line->at < line->end && *line->at == ' ')
        line->at++;
    size_t length = 0;
    while (line->at < line->end && *line->at != ' ' && length < NUMBER_SIZE - 1)
        word[length++] = *line->at++;
    word[length] = '\0';
    return length > 0 && (line->at == line->end || *line->at == ' ');
}

static bool take_integer(struct line *line, int64_t least, int64_t most, int64_t *value)
{
    char word[NUMBER_SIZE], *end;
    if (!take_word(line, word))
        return false;
    errno = 0;
    long long number = strtoll(word, &end, 10);
    *value = number;
    return *end == '\0' && errno == 0 && number >= least && number <= most;
}

static bool take_real(struct line *line, double *value)
{
    char word[NUMBER_SIZE], *end;
    if (!take_word(line, word))
        return false;
    char *comma = strchr(word, ',');
    if (comma)
        *comma = '.';
    *value = strtod(word, &end);
    return *end == '\0';
}

/* --- lines ---------------------------------------------------------------------------------------
 */

/* "3:solve-fast-0": the tag may have colons and dashes of its own. */
static int take_region(struct likwid_marker *marker, const struct line *line)
{
    const char *colon = memchr(line->at, ':', (size_t)(line->end - line->at));
    const char *dash = colon ? line->end : NULL;
    while (dash && dash > colon && *--dash != '-')
        continue;
    struct line id = {line->at, colon, line->number};
    struct line group = {dash ? dash + 1 : line->end, line->end, line->number};
    int64_t id_value, group_value;
    size_t count = marker->region_count;
    if (!dash || dash == colon || !take_integer(&id, (int64_t)count, (int64_t)count, &id_value) ||
        !take_integer(&group, 0, GROUPS_MAX, &group_value) ||
        memchr(colon, '\0', (size_t)(dash - colon))) {
        add_problem(marker, line, "is no ID:TAG-GROUP, with ids in their order");
        return 0;
    }
    struct likwid_region *regions = grow(marker->regions, count, sizeof(*regions));
    if (!regions)
        return -1;
    marker->regions = regions;
    char *tag = strndup(colon + 1, (size_t)(dash - colon - 1));
    if (!tag)
        return -1;
    regions[count] = (struct likwid_region){.tag = tag, .group = (int32_t)group_value};
    marker->region_count++;
    return 0;
}

static int keep_thread(struct likwid_region *region, const struct likwid_thread *thread,
                       const double *values, size_t events)
{
    size_t count = region->thread_count;
    struct likwid_thread *threads = grow(region->threads, count, sizeof(*threads));
    if (!threads)
        return -1;
    region->threads = threads;
    double *more = grow(region->values, count, (events ? events : 1) * sizeof(*values));
    if (!more)
        return -1;
    region->values = more;
    region->event_count = events;
    memcpy(more + count * events, values, events * sizeof(*values));
    threads[count] = *thread;
    region->thread_count++;
    return 0;
}

/* "0 0 1 3 1.7e-06 5 1.2e+07 ...": a thread that came to the region. */
static int take_thread(struct likwid_marker *marker, struct line *line)
{
    double values[LIKWID_MARKER_EVENTS_MAX];
    int64_t id, group, cpu, calls, events;
    struct likwid_thread thread;
    if (!take_integer(line, 0, (int64_t)marker->region_count - 1, &id) ||
        !take_integer(line, 0, GROUPS_MAX, &group) || !take_integer(line, -1, CPU_MAX, &cpu) ||
        !take_integer(line, 0, INT64_MAX, &calls) || !take_real(line, &thread.seconds) ||
        !take_integer(line, 0, LIKWID_MARKER_EVENTS_MAX, &events)) {
        add_problem(marker, line, "is no REGION GROUP CPU CALLS SECONDS EVENTS VALUE...");
        return 0;
    }
    for (int64_t i = 0; i < events; i++) {
        if (!take_real(line, &values[i])) {
            add_problem(marker, line, "has fewer values than it tells");
            return 0;
        }
    }
    struct likwid_region *region = &marker->regions[id];
    if (group != region->group ||
        (region->thread_count > 0 && (size_t)events != region->event_count)) {
        add_problem(marker, line, "is of another event set than its region");
        return 0;
    }
    if (calls == 0 || cpu < 0)
        return 0;
    thread.cpu = (int32_t)cpu;
    thread.calls = calls;
    return keep_thread(region, &thread, values, (size_t)events);
}

/* A region that no thread came to says nothing. */
static void drop_empty_regions(struct likwid_marker *marker)
{
    size_t kept = 0;
    for (size_t i = 0; i < marker->region_count; i++) {
        if (marker->regions[i].thread_count > 0)
            marker->regions[kept++] = marker->regions[i];
        else
            free(marker->regions[i].tag);
    }
    marker->region_count = kept;
}

static bool next_line(const char **at, const char *end, struct line *line)
{
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    line->number++;
    line->at = *at;
    line->end = newline ? newline : end;
    *at = newline ? newline + 1 : end;
    return newline;
}

int likwid_marker_parse(struct likwid_marker *marker, const char *text, size_t size)
{
    *marker = (struct likwid_marker){0};
    const char *at = text, *end = text + size;
    struct line line = {0};
    int64_t threads, regions, groups;
    if (!next_line(&at, end, &line) || !take_integer(&line, 0, INT32_MAX, &threads) ||
        !take_integer(&line, 0, INT32_MAX, &regions) ||
        !take_integer(&line, 0, INT32_MAX, &groups)) {
        add_problem(marker, &line, "is no THREADS REGIONS GROUPS");
        return 0;
    }
    while (at < end) {
        /* The last number of a line without its end may be cut, too. */
        if (!next_line(&at, end, &line))
            add_problem(marker, &line, "is cut off");
        else if ((regions-- > 0 ? take_region(marker, &line) : take_thread(marker, &line)) < 0)
            return -1;
    }
    if (regions > 0) {
        line.number++;
        add_problem(marker, &line, "is missing: there are fewer regions than the first line tells");
    }
    drop_empty_regions(marker);
    return 0;
}

/* --- the file ------------------------------------------------------------------------------------
 */

/* As many bytes as there are; a file that becomes shorter meanwhile is a cut one. */
static size_t read_all(int fd, char *text, size_t size)
{
    size_t have = 0;
    while (have < size) {
        ssize_t got = pread(fd, text + have, size - have, (off_t)have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        have += (size_t)got;
    }
    return have;
}

int likwid_marker_read(struct likwid_marker *marker, int dirfd, const char *name)
{
    struct stat info;
    int64_t size;
    *marker = (struct likwid_marker){0};
    if (fstatat(dirfd, name, &info, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        return 1;
    int fd = regular_file_open(dirfd, name, &size, &marker->problem);
    if (fd >= 0 && size > LIKWID_MARKER_SIZE_MAX)
        error_set(&marker->problem, "%s is longer than %d bytes", name, LIKWID_MARKER_SIZE_MAX);
    if (marker->problem.text[0]) {
        marker->problem_count = 1;
        if (fd >= 0)
            close(fd);
        return 0;
    }
    char *text = malloc((size_t)size + 1);
    int status = text ? likwid_marker_parse(marker, text, read_all(fd, text, (size_t)size)) : -1;
    free(text);
    close(fd);
    return status;
}

void likwid_marker_release(struct likwid_marker *marker)
{
    for (size_t i = 0; i < marker->region_count; i++) {
        free(marker->regions[i].tag);
        free(marker->regions[i].threads);
        free(marker->regions[i].values);
        free(marker->regions[i].metrics);
        free(marker->regions[i].owners);
    }
    free(marker->regions);
    *marker = (struct likwid_marker){0};
}
