/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that a rank has outstanding, as its trace tells: started, and not given back yet. */
#include "schema/trace_outstanding.h"

#include <stdlib.h>
#include <string.h>

/* What requests are counted by: the number of their origin, and these. */
enum { KEY_WAITED = 1 << 20, KEY_SHARED = 1 << 21 };

enum { READ_SIZE = 64 * 1024 };
enum { LOOKED_AT = 1024 }; /* kinds of requests, of which the most interesting make rows */

/* Addresses as a trace has them. */
#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)

struct counted {
    uint32_t key, count;
};

/* An area of origins. */
struct place {
    struct trace_area area;
    uint64_t offset;
};

struct counter {
    struct trace_reader *reader;
    struct {
        uint64_t first, size;
    } arrays[TRACE_SLOTS]; /* of requests that calls in flight complete */
    size_t array_count;
    unsigned char *bytes;   /* READ_SIZE */
    struct counted *counted;
    size_t counted_count, counted_room;
    uint32_t *by_key;   /* hash table: place in counted + 1 */
    size_t by_key_room; /* a power of two, at least twice counted_count */
    struct place *origins;
    size_t origin_count, origin_room;
};

/* Makes room for one more element, or returns NULL and leaves all as it was. */
static void *grown(void *array, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return array;
    size_t new_room = *room ? 2 * *room : 64;
    void *memory = realloc(array, new_room * size);
    if (memory)
        *room = new_room;
    return memory;
}

/* --- counting ----------------------------------------------------------------------------------
 */

static void note_arrays(struct counter *counter)
{
    const struct trace_slot *slots = trace_reader_slots(counter->reader);
    for (uint32_t i = 0; i < trace_reader_header(counter->reader)->slot_count; i++) {
        const struct trace_slot *slot = &slots[i];
        if (slot->stream == 0 || slot->signature == 0 || slot->array_start != slot->start)
            continue;
        counter->arrays[counter->array_count].first = slot->array & ADDRESS_MASK;
        counter->arrays[counter->array_count++].size = slot->array_size;
    }
}

static bool is_waited(const struct counter *counter, uint64_t address)
{
    for (size_t i = 0; i < counter->array_count; i++) {
        if (address - counter->arrays[i].first < counter->arrays[i].size)
            return true;
    }
    return false;
}

/* Where a key is in the hash table, or is to be put. */
static uint32_t *place_of(const struct counter *counter, uint32_t key)
{
    size_t at = key * UINT32_C(0x9e3779b1) >> 8;
    uint32_t *place;
    while (*(place = &counter->by_key[at & (counter->by_key_room - 1)]) != 0 &&
           counter->counted[*place - 1].key != key)
        at++;
    return place;
}

static bool make_room_for_keys(struct counter *counter)
{
    if (2 * counter->counted_count < counter->by_key_room)
        return true;
    size_t room = counter->by_key_room ? 2 * counter->by_key_room : 128;
    uint32_t *by_key = calloc(room, sizeof(*by_key));
    if (!by_key)
        return false;
    free(counter->by_key);
    counter->by_key = by_key;
    counter->by_key_room = room;
    for (size_t i = 0; i < counter->counted_count; i++)
        *place_of(counter, counter->counted[i].key) = (uint32_t)i + 1;
    return true;
}

/* Finds or adds a key; NULL: no memory. */
static struct counted *find_counted(struct counter *counter, uint32_t key)
{
    if (!make_room_for_keys(counter))
        return NULL;
    uint32_t *place = place_of(counter, key);
    if (*place)
        return &counter->counted[*place - 1];
    struct counted *counted = grown(counter->counted, &counter->counted_room,
                                    counter->counted_count, sizeof(*counted));
    if (!counted)
        return NULL;
    counter->counted = counted;
    counted[counter->counted_count] = (struct counted){.key = key};
    *place = (uint32_t)++counter->counted_count;
    return &counted[*place - 1];
}

static int count_request(struct counter *counter, const struct trace_request *request)
{
    uint64_t address = request->address_low | (uint64_t)request->address_high << 32;
    uint32_t key = request->origin & TRACE_REQUEST_ORIGIN;
    if (!(request->origin & TRACE_REQUEST_IN_FLIGHT))
        return 0;
    key |= is_waited(counter, address) ? KEY_WAITED : 0;
    key |= request->origin & TRACE_REQUEST_SHARED ? KEY_SHARED : 0;
    struct counted *counted = find_counted(counter, key);
    if (!counted)
        return -1;
    counted->count += counted->count < UINT32_MAX;
    return 0;
}

static int count_requests(struct counter *counter, uint64_t offset, const struct trace_area *area)
{
    size_t entry = area->entry_size, left = (size_t)area->entry_count * entry;
    size_t step = READ_SIZE / entry * entry;
    for (uint64_t at = offset + sizeof(*area); left > 0; at += step) {
        size_t want = left < step ? left : step;
        size_t got = trace_reader_read(counter->reader, counter->bytes, want, at);
        for (size_t i = 0; i + entry <= got; i += entry) {
            struct trace_request request;
            memcpy(&request, counter->bytes + i, sizeof(request));
            if (count_request(counter, &request) < 0)
                return -1;
        }
        left = got == want ? left - want : 0;
    }
    return 0;
}

static int note_origins(struct counter *counter, uint64_t offset, const struct trace_area *area)
{
    struct place *origins = grown(counter->origins, &counter->origin_room, counter->origin_count,
                                  sizeof(*origins));
    if (!origins)
        return -1;
    counter->origins = origins;
    origins[counter->origin_count++] = (struct place){.area = *area, .offset = offset};
    return 0;
}

static int look_through_areas(struct counter *counter)
{
    struct trace_area area;
    uint64_t offset = 0;
    int status = 0;
    while (status == 0 && trace_reader_area(counter->reader, &offset, &area)) {
        if (area.kind == AREA_REQUESTS && area.entry_size >= sizeof(struct trace_request) &&
            area.entry_size <= READ_SIZE)
            status = count_requests(counter, offset, &area);
        else if (area.kind == AREA_ORIGINS &&
                 area.entry_size >= sizeof(struct trace_request_origin))
            status = note_origins(counter, offset, &area);
    }
    return status;
}

/* --- telling -----------------------------------------------------------------------------------
 */

/* What is waited for comes first, then what there is most of. */
static int compare_counted(const void *left, const void *right)
{
    const struct counted *a = left, *b = right;
    if ((a->key ^ b->key) & KEY_WAITED)
        return a->key & KEY_WAITED ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Reads the entry of an origin; false if the trace has none that can be. */
static bool find_origin(const struct counter *counter, uint32_t number,
                        struct trace_request_origin *origin)
{
    for (size_t i = 0; number > 0 && i < counter->origin_count; i++) {
        const struct trace_area *area = &counter->origins[i].area;
        if (number < area->first || number - area->first >= area->entry_count)
            continue;
        uint64_t at = counter->origins[i].offset + sizeof(*area) +
                      (uint64_t)(number - area->first) * area->entry_size;
        return trace_reader_read(counter->reader, origin, sizeof(*origin), at) ==
                   sizeof(*origin) &&
               origin->kind < KIND_COUNT && origin->bytes >= -1 &&
               trace_reader_is_name(origin->name, sizeof(origin->name));
    }
    return false;
}

static void describe(const struct counter *counter, const struct counted *counted,
                     struct trace_outstanding *row)
{
    struct trace_request_origin origin;
    *row = (struct trace_outstanding){.operation = {.kind = KIND_OTHER, .name = "unknown"},
                                      .bytes = -1,
                                      .peer = PEER_NONE,
                                      .tag = -1,
                                      .communicator = -1,
                                      .is_waited = counted->key & KEY_WAITED,
                                      .count = counted->count};
    if (!find_origin(counter, counted->key & TRACE_REQUEST_ORIGIN, &origin))
        return;
    row->operation.kind = (enum mpi_kind)origin.kind;
    strcpy(row->operation.name, origin.name);
    row->bytes = origin.bytes;
    row->peer = origin.peer;
    row->tag = origin.tag;
    row->communicator = origin.communicator;
    /* Of anything but sends, one that had the handle before may have ended without our notice. */
    bool is_send = strstr(origin.name, "send") != NULL;
    row->has_completed =
        origin.peer == PEER_PROC_NULL || (is_send && counted->key & KEY_SHARED);
    size_t length = strlen(origin.name);
    row->is_persistent = length > 5 && strcmp(origin.name + length - 5, "_init") == 0;
}

static int compare_numbers(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* Requests that are waited for come first, those that have completed last; receives before sends,
 * for they are what others fail to answer. */
static int compare_rows(const void *left, const void *right)
{
    const struct trace_outstanding *a = left, *b = right;
    int order = compare_numbers(b->is_waited, a->is_waited);
    order = order ? order : compare_numbers(a->has_completed, b->has_completed);
    order = order ? order : compare_numbers(strstr(a->operation.name, "recv") == NULL,
                                            strstr(b->operation.name, "recv") == NULL);
    order = order ? order : strcmp(a->operation.name, b->operation.name);
    order = order ? order : compare_numbers(a->communicator, b->communicator);
    order = order ? order : compare_numbers(a->peer, b->peer);
    order = order ? order : compare_numbers(a->tag, b->tag);
    return order ? order : compare_numbers(a->bytes, b->bytes);
}

static bool is_same(const struct trace_outstanding *a, const struct trace_outstanding *b)
{
    return compare_rows(a, b) == 0;
}

static int tell(const struct counter *counter, struct trace_outstanding_list *list)
{
    size_t looked_at = counter->counted_count < LOOKED_AT ? counter->counted_count : LOOKED_AT;
    struct trace_outstanding *rows = calloc(looked_at + 1, sizeof(*rows));
    if (!rows)
        return -1;
    for (size_t i = 0; i < looked_at; i++)
        describe(counter, &counter->counted[i], &rows[i]);
    qsort(rows, looked_at, sizeof(*rows), compare_rows);
    for (size_t i = 0; i < looked_at; i++) {
        if (list->count > 0 && is_same(&list->rows[list->count - 1], &rows[i]))
            list->rows[list->count - 1].count += rows[i].count;
        else if (list->count < TRACE_OUTSTANDING_MAX)
            list->rows[list->count++] = rows[i];
        else
            list->others += rows[i].count;
    }
    free(rows);
    for (size_t i = looked_at; i < counter->counted_count; i++)
        list->others += counter->counted[i].count;
    return 0;
}

/* Whether a call that was in flight when the reader opened the trace is no longer. */
static bool has_moved_on(struct trace_reader *reader)
{
    const struct trace_slot *slots = trace_reader_slots(reader);
    const struct trace_header *header = trace_reader_header(reader);
    struct trace_slot now[TRACE_SLOTS];
    size_t size = header->slot_count * sizeof(*now);
    if (trace_reader_read(reader, now, size, header->slot_offset) != size)
        return true;
    for (uint32_t i = 0; i < header->slot_count; i++) {
        if (slots[i].signature != 0 &&
            (slots[i].signature != now[i].signature || slots[i].start != now[i].start))
            return true;
    }
    return false;
}

int trace_outstanding_read(struct trace_reader *reader, struct trace_outstanding_list *list)
{
    const struct trace_state *state = trace_reader_state(reader);
    bool is_buffered = trace_reader_header(reader)->flags & TRACE_BUFFERED;
    struct counter counter = {.reader = reader, .bytes = malloc(READ_SIZE)};
    *list = (struct trace_outstanding_list){.is_incomplete = is_buffered || state->hides_requests};
    note_arrays(&counter);
    int status = counter.bytes ? look_through_areas(&counter) : -1;
    if (status == 0 && counter.counted_count > 0) {
        qsort(counter.counted, counter.counted_count, sizeof(*counter.counted), compare_counted);
        status = tell(&counter, list);
        list->has_moved_on = has_moved_on(reader);
    }
    free(counter.bytes);
    free(counter.by_key);
    free(counter.counted);
    free(counter.origins);
    return status;
}
