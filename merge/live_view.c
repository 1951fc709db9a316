/* SPDX-License-Identifier: BSD-3-Clause */
/* sp-dump --live: shows what the ranks of a run do, once or again and again. */
#define _GNU_SOURCE
#include "merge/live_view.h"

#include <json.h>
#include <stdio.h>
#include <unistd.h>

#include "merge/live.h"
#include "merge/live_group.h"
#include "merge/live_json.h"
#include "merge/live_text.h"
#include "merge/run_choice.h"

/* One look at a run. */
struct sight {
    const struct live_view *view;
    struct json_object *worlds; /* NULL: text */
    size_t shown;
    bool has_unreadable, has_running;
};

static void note(struct sight *sight, const struct live *live)
{
    for (size_t i = 0; i < live->rank_count; i++) {
        enum live_state state = live->ranks[i].threads[0].state;
        sight->has_unreadable |= state == LIVE_UNREADABLE;
        sight->has_running |= state < LIVE_DEAD;
    }
}

static bool has_ended(const struct live *live)
{
    for (size_t i = 0; i < live->rank_count; i++) {
        if (live->ranks[i].threads[0].state != LIVE_ENDED)
            return false;
    }
    return true;
}

static void print_world(struct sight *sight, const char *name, const struct live *live,
                        const struct live_groups *groups)
{
    if (sight->worlds) {
        json_object_array_add(sight->worlds, live_json(name, live, groups, sight->view->limit));
        return;
    }
    if (sight->shown > 0)
        putchar('\n');
    live_text_print(stdout, name, live, groups, sight->view->limit);
}

/* A world that has ended is of no interest while there is another. */
static int show_world(struct sight *sight, const struct run *run, const struct run_world *world,
                      bool is_alone, struct error *err)
{
    struct live live;
    struct live_groups groups = {0};
    char name[4096];
    if (is_alone)
        snprintf(name, sizeof(name), "%s", run->path);
    else
        snprintf(name, sizeof(name), "%s/%s", run->path, world->name);
    int status = live_read(&live, run, world, 0, err);
    if (status == 0 && (is_alone || !has_ended(&live))) {
        status = live_groups_make(&groups, &live, err);
        if (status == 0) {
            print_world(sight, name, &live, &groups);
            note(sight, &live);
            sight->shown++;
        }
    }
    live_groups_release(&groups);
    live_release(&live);
    return status;
}

static int show_run(struct sight *sight, const struct run_choice *choice, struct error *err)
{
    const struct run *run = &choice->run;
    if (choice->has_world)
        return show_world(sight, run, &run->worlds[choice->world], true, err);
    for (size_t i = 0; i < run->world_count; i++) {
        if (show_world(sight, run, &run->worlds[i], run->world_count == 1, err) < 0)
            return -1;
    }
    if (sight->shown == 0 && run->world_count > 0)
        return show_world(sight, run, &run->worlds[run->world_count - 1], true, err);
    return 0;
}

/* The nodes whose traces cannot be seen from here. */
static void tell_elsewhere(const struct run *run, struct json_object *nodes)
{
    enum { NODES_TOLD = 10 };
    size_t told = 0;
    for (size_t i = 0; i < run->container_count; i++) {
        const struct run_container *container = &run->containers[i];
        if (!container->is_elsewhere)
            continue;
        if (nodes)
            json_object_array_add(nodes, json_object_new_string(container->part));
        else if (told++ < NODES_TOLD)
            fprintf(stderr,
                    "sp-dump: the ranks on %s write to %s there: sp-dump --live on that node shows "
                    "them\n",
                    container->part, container->spool);
    }
}

static void print_json(const struct run *run, struct json_object *worlds)
{
    struct json_object *root = json_object_new_object(), *nodes = json_object_new_array();
    tell_elsewhere(run, nodes);
    json_object_object_add(root, "worlds", worlds);
    json_object_object_add(root, "spooled_elsewhere", nodes);
    puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED));
    json_object_put(root);
}

static enum live_view_status look(struct sight *sight)
{
    struct run_choice choice;
    struct error err;
    if (run_choose(&choice, sight->view->path, &err) < 0) {
        fprintf(stderr, "sp-dump: %s\n", err.text);
        return LIVE_VIEW_NOTHING;
    }
    if (sight->view->json)
        sight->worlds = json_object_new_array();
    int status = show_run(sight, &choice, &err);
    if (sight->worlds)
        print_json(&choice.run, sight->worlds);
    else
        tell_elsewhere(&choice.run, NULL);
    run_release(&choice.run);
    if (status < 0) {
        fprintf(stderr, "sp-dump: %s\n", err.text);
        return LIVE_VIEW_NOTHING;
    }
    return sight->has_unreadable ? LIVE_VIEW_PART : LIVE_VIEW_ALL;
}

enum live_view_status live_view_show(const struct live_view *view)
{
    const char *between = view->json ? "" : "\n";
    if (isatty(STDOUT_FILENO))
        between = "\033[H\033[2J"; /* the same place on a cleared screen */
    for (bool is_first = true;; is_first = false) {
        struct sight sight = {.view = view};
        if (!is_first)
            fputs(between, stdout);
        enum live_view_status status = look(&sight);
        if (view->seconds == 0 || !sight.has_running || fflush(stdout) != 0)
            return status;
        sleep(view->seconds);
    }
}
