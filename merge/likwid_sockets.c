/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted for a whole socket, such as energy, is told once. */
#include "merge/likwid_sockets.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "merge/likwid_metrics.h"

struct likwid_claim {
    char *tag; /* NULL: nobody is here */
    int host;
    int32_t group;
    struct likwid_owner owner;
};

/* Energy of a core is among the counters that liblikwid takes for those of a socket. */
static bool is_of_socket(const char *counter, const char *event)
{
    return likwid_metrics_is_uncore(counter) && !strstr(event, "CORE_ENERGY") &&
           !strstr(event, "CORE_VOLTAGE");
}

static size_t hash(const struct likwid_claim *claim)
{
    uint64_t value = 14695981039346656037u;
    for (const char *p = claim->tag; *p; p++)
        value = (value ^ (unsigned char)*p) * 1099511628211u;
    const int32_t numbers[] = {claim->host, claim->group, claim->owner.socket};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        value = (value ^ (uint32_t)numbers[i]) * 1099511628211u;
    return (size_t)(value ^ value >> 32);
}

/* The place of a claim on the same, or where it may be put. There is room. */
static struct likwid_claim *find(const struct likwid_sockets *sockets,
                                 const struct likwid_claim *claim)
{
    for (size_t i = hash(claim);; i++) {
        struct likwid_claim *there = &sockets->claims[i & (sockets->room - 1)];
        if (!there->tag ||
            (there->host == claim->host && there->group == claim->group &&
             there->owner.socket == claim->owner.socket && strcmp(there->tag, claim->tag) == 0))
            return there;
    }
}

static int make_room(struct likwid_sockets *sockets)
{
    struct likwid_sockets more = {.room = sockets->room ? 2 * sockets->room : 64};
    if (2 * (sockets->count + 1) <= sockets->room)
        return 0;
    more.claims = calloc(more.room, sizeof(*more.claims));
    if (!more.claims)
        return -1;
    for (size_t i = 0; i < sockets->room; i++) {
        if (sockets->claims[i].tag)
            *find(&more, &sockets->claims[i]) = sockets->claims[i];
    }
    more.count = sockets->count;
    free(sockets->claims);
    *sockets = more;
    return 0;
}

/* Who has what is claimed: the claimant, if nobody did before. NULL: memory is out. */
static const struct likwid_owner *take(struct likwid_sockets *sockets,
                                       const struct likwid_claim *claim)
{
    if (make_room(sockets) < 0)
        return NULL;
    struct likwid_claim *place = find(sockets, claim);
    if (!place->tag) {
        *place = *claim;
        place->tag = strdup(claim->tag);
        if (!place->tag)
            return NULL;
        sockets->count++;
    }
    return &place->owner;
}

/* Whether the thread counted anything of its socket. */
static bool has_counted(const struct likwid_rank *rank, const struct likwid_region *region,
                        size_t thread)
{
    const struct likwid_group *group = likwid_rank_group(rank, region);
    for (size_t i = 0; group && i < region->event_count; i++) {
        if (is_of_socket(rank->record.counters[group->first_event + i],
                         rank->record.events[group->first_event + i]) &&
            region->values[thread * region->event_count + i] > 0)
            return true;
    }
    return false;
}

/* The thread's counts of its socket are owner's. */
static int give_up(const struct likwid_rank *rank, struct likwid_region *region, size_t thread,
                   const struct likwid_owner *owner)
{
    const struct likwid_group *group = likwid_rank_group(rank, region);
    if (!region->owners) {
        region->owners = calloc(region->thread_count, sizeof(*region->owners));
        if (!region->owners)
            return -1;
        for (size_t i = 0; i < region->thread_count; i++)
            region->owners[i].cpu = -1;
    }
    region->owners[thread] = *owner;
    for (size_t i = 0; i < region->event_count; i++) {
        if (is_of_socket(rank->record.counters[group->first_event + i],
                         rank->record.events[group->first_event + i]))
            region->values[thread * region->event_count + i] = 0;
    }
    likwid_metrics_correct(rank, region, thread);
    return 0;
}

static int settle_thread(struct likwid_sockets *sockets, const struct likwid_rank *rank,
                         struct likwid_region *region, size_t thread)
{
    int32_t cpu = region->threads[thread].cpu, socket = likwid_record_socket(&rank->record, cpu);
    const struct likwid_claim claim = {.tag = region->tag,
                                       .host = rank->host,
                                       .group = region->group,
                                       .owner = {rank->number, cpu, socket}};
    if (socket < 0 || !has_counted(rank, region, thread))
        return 0;
    const struct likwid_owner *owner = take(sockets, &claim);
    if (!owner)
        return -1;
    return owner->rank == rank->number && owner->cpu == cpu
               ? 0
               : give_up(rank, region, thread, owner);
}

int likwid_sockets_settle(struct likwid_sockets *sockets, struct likwid_rank *rank)
{
    for (size_t i = 0; i < rank->marker.region_count; i++) {
        struct likwid_region *region = &rank->marker.regions[i];
        for (size_t j = 0; j < region->thread_count; j++) {
            if (settle_thread(sockets, rank, region, j) < 0)
                return -1;
        }
    }
    return 0;
}

void likwid_sockets_release(struct likwid_sockets *sockets)
{
    for (size_t i = 0; i < sockets->room; i++)
        free(sockets->claims[i].tag);
    free(sockets->claims);
    *sockets = (struct likwid_sockets){0};
}
