/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that wait to be compressed, batch by batch. */
#define _GNU_SOURCE
#include "schema/profile_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/whole_io.h"

int profile_stage_begin(struct profile_stage *stage, const char *path, size_t columns,
                        uint64_t chunk, uint64_t bytes, struct error *err)
{
    uint64_t room = bytes / (columns * sizeof(int64_t));
    *stage = (struct profile_stage){.path = path,
                                    .columns = columns,
                                    .chunk = chunk,
                                    .room = room < chunk ? chunk : room,
                                    .fd = -1};
    stage->memory = malloc(stage->room * columns * sizeof(*stage->memory));
    stage->rest = malloc(chunk * columns * sizeof(*stage->rest));
    return stage->memory && stage->rest
               ? 0
               : error_set(err, "%s: no memory for events to be compressed", path);
}

/* A file that nobody can open, and that goes with us. */
static int open_nameless(const char *path)
{
    char *name = NULL, *copy = strdup(path);
    if (!copy)
        return -1;
    const char *directory = dirname(copy);
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    /* NFS and others know no O_TMPFILE. */
    if (fd < 0 && asprintf(&name, "%s/.sp-merge-XXXXXX", directory) >= 0) {
        fd = mkostemp(name, O_CLOEXEC);
        if (fd >= 0)
            unlink(name);
        free(name);
    }
    free(copy);
    return fd;
}

static off_t place_in_file(const struct profile_stage *stage, size_t column, uint64_t first)
{
    uint64_t events = column * (stage->end - stage->first) + (first - stage->first);
    return (off_t)(events * sizeof(int64_t));
}

static int64_t *place_in_memory(const struct profile_stage *stage, size_t column, uint64_t first)
{
    return stage->memory + column * stage->room + (first - stage->first);
}

static int keep_rest(const struct profile_stage *stage, uint64_t first, struct error *err)
{
    for (size_t i = 0; i < stage->columns; i++) {
        if (profile_stage_get(stage, i, first, (size_t)(stage->end - first),
                              stage->rest + i * stage->chunk, err) < 0)
            return -1;
    }
    return 0;
}

static int make_room(struct profile_stage *stage, struct error *err)
{
    uint64_t count = stage->end - stage->first;
    if (count > stage->room) {
        stage->fd = open_nameless(stage->path);
        if (stage->fd >= 0 && ftruncate(stage->fd, place_in_file(stage, stage->columns,
                                                                 stage->first)) == 0)
            return 0;
        return error_set(err, "%s: no temporary file beside it: %s", stage->path, strerror(errno));
    }
    for (size_t i = 0; i < stage->columns; i++)
        memset(place_in_memory(stage, i, stage->first), 0, count * sizeof(int64_t));
    return 0;
}

int profile_stage_batch(struct profile_stage *stage, uint64_t end, struct error *err)
{
    uint64_t first = stage->end - stage->end % stage->chunk;
    size_t rest = (size_t)(stage->end - first);
    if (keep_rest(stage, first, err) < 0)
        return -1;
    if (stage->fd >= 0)
        close(stage->fd);
    stage->fd = -1;
    stage->first = first;
    stage->end = end;
    if (make_room(stage, err) < 0)
        return -1;
    for (size_t i = 0; i < stage->columns; i++) {
        if (profile_stage_put(stage, i, first, rest, stage->rest + i * stage->chunk, err) < 0)
            return -1;
    }
    return 0;
}

int profile_stage_put(const struct profile_stage *stage, size_t column, uint64_t first,
                      size_t count, const int64_t *values, struct error *err)
{
    size_t size = count * sizeof(*values);
    if (stage->fd >= 0)
        return whole_write(stage->fd, values, size, place_in_file(stage, column, first)) < 0
                   ? error_set(err, "%s: cannot write to the temporary file beside it: %s",
                               stage->path, strerror(errno))
                   : 0;
    memcpy(place_in_memory(stage, column, first), values, size);
    return 0;
}

int profile_stage_get(const struct profile_stage *stage, size_t column, uint64_t first,
                      size_t count, int64_t *values, struct error *err)
{
    size_t size = count * sizeof(*values);
    if (stage->fd >= 0)
        return whole_read(stage->fd, values, size, place_in_file(stage, column, first)) < 0
                   ? error_set(err, "%s: cannot read the temporary file beside it: %s",
                               stage->path, strerror(errno))
                   : 0;
    memcpy(values, place_in_memory(stage, column, first), size);
    return 0;
}

void profile_stage_end(struct profile_stage *stage)
{
    free(stage->memory);
    free(stage->rest);
    if (stage->fd >= 0)
        close(stage->fd);
    *stage = (struct profile_stage){.fd = -1};
}
