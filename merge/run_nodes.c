/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes on which the ranks of a run were, as their traces tell. */
#define _GNU_SOURCE
#include "merge/run_nodes.h"

#include <fcntl.h>
#include <unistd.h>

#include "merge/run.h"
#include "schema/node_marker.h"
#include "schema/trace_reader.h"

/* A name that no marker can have is no node's. */
static int add(struct names *nodes, const char *node)
{
    char marker[NODE_MARKER_NAME_SIZE];
    return node_marker_name(node, 0, marker) < 0 || names_intern(nodes, node) >= 0 ? 0 : -1;
}

static int find_in(struct names *nodes, const struct run_world *world)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < world->file_count; i++) {
        struct trace_reader *reader;
        if (run_world_open(world, i, &reader, NULL) < 0)
            continue;
        status = add(nodes, trace_reader_header(reader)->node);
        trace_reader_close(reader);
    }
    return status;
}

int run_nodes_find(struct names *nodes, const char *path)
{
    struct run run;
    int status = 0;
    if (run_open(&run, path, NULL) < 0)
        return 0;
    for (size_t i = 0; status == 0 && i < run.world_count; i++)
        status = find_in(nodes, &run.worlds[i]);
    run_release(&run);
    return status;
}

size_t run_nodes_done(const struct names *nodes, int run)
{
    char marker[NODE_MARKER_NAME_SIZE];
    size_t done = 0;
    for (size_t i = 0; i < nodes->count; i++)
        done += node_marker_name(nodes->texts[i], 0, marker) == 0 &&
                faccessat(run, marker, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    return done;
}
