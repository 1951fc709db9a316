/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts QMPI tools: which instances there are, what they registered, and what each calls next. */
#define _GNU_SOURCE
#include "preload/qmpi.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "preload/dispatch.h"
#include "preload/objects.h"
#include "preload/pages.h"
#include "preload/qmpi_tools.h"
#include "preload/report.h"

#include "preload/qmpi_numbers.h"

enum {
    OWN_NUMBER_BITS = 28, /* of a number in scope_qmpi.h; above them the family */
    PLACES = 2048,
    NO_FUNCTION = FUNCTION_COUNT,
};

/* A tool's instance; its id is its place in the list of instances + 1. */
struct instance {
    const struct qmpi_tool *tool;
    void *storage;
    void *wrapper[FUNCTION_COUNT];
    struct qmpi_hop next[FUNCTION_COUNT]; /* what it calls, when all is known */
};

enum stage { STAGE_LOADING, STAGE_INIT, STAGE_READY };

enum { OBJECTS_MAX = 4 * QMPI_TOOLS_MAX };

static struct {
    enum stage stage;
    int in_init; /* the id of the instance whose init runs; 0: none */
    enum trace_family family;
    int error;
    struct instance *instances;
    int asked; /* how many shall be there */
    int count; /* how many are */
    int recorder; /* so many instances stand in front of it */
    bool has_recorder_place;
    const uint16_t *mpich_numbers; /* FUNCTION + 1 by number; NULL: not known */
    size_t mpich_number_count;
    uint16_t places[PLACES]; /* own numbers, hashed: FUNCTION + 1 */
    struct ways {
        struct qmpi_hop first, first_below, to_recorder, to_library;
    } ways[FUNCTION_COUNT];
    struct object_range objects[OBJECTS_MAX]; /* that tools lie in */
    size_t object_count;
} host;

int qmpi_error(void)
{
    return host.error ? host.error : 13; /* as most libraries number it, until ours is known */
}

bool qmpi_helps(enum mpi_function function)
{
    return helps[function];
}

/* --- numbers ---------------------------------------------------------------------------------- */

static void learn_numbers(const char *version)
{
    static const char prefix[] = "MPICH Version:";
    for (unsigned function = 0; function < FUNCTION_COUNT; function++) {
        unsigned place = own_numbers[function] % PLACES;
        while (own_numbers[function] && host.places[place])
            place = (place + 1) % PLACES;
        if (own_numbers[function])
            host.places[place] = (uint16_t)(function + 1);
    }
    /* MPICH's library for the standard ABI says the same, but handles are pointers there. */
    if (host.family != FAMILY_MPICH || strncmp(version, prefix, strlen(prefix)) != 0)
        return;
    version += strlen(prefix);
    version += strspn(version, " ");
    size_t length = strcspn(version, " ,");
#define VERSION(text, numbers)                                                                     \
    if (length == strlen(text) && strncmp(version, text, length) == 0) {                           \
        host.mpich_numbers = numbers;                                                              \
        host.mpich_number_count = sizeof(numbers) / sizeof *(numbers);                             \
    }
    MPICH_VERSIONS(VERSION)
#undef VERSION
}

/* The function that a tool means; NO_FUNCTION if there is none, or no tool can have it. */
static unsigned function_of(unsigned number)
{
    if (number >> OWN_NUMBER_BITS == 0)
        return number < host.mpich_number_count ? host.mpich_numbers[number] - 1U : NO_FUNCTION;
    if (number >> OWN_NUMBER_BITS != (unsigned)host.family)
        return NO_FUNCTION;
    number &= (1U << OWN_NUMBER_BITS) - 1;
    for (unsigned place = number % PLACES; host.places[place]; place = (place + 1) % PLACES) {
        unsigned function = host.places[place] - 1U;
        if (own_numbers[function] == number)
            return function;
    }
    return NO_FUNCTION;
}

static const char *why_no_function(unsigned number)
{
    if (number == (unsigned)host.family << OWN_NUMBER_BITS) /* so scope_qmpi.h has them all */
        return "one of those that tools cannot have, such as MPI_Wtime: see qmpi(7)";
    if (number >> OWN_NUMBER_BITS != 0)
        return number >> OWN_NUMBER_BITS == (unsigned)host.family
                   ? "which tools cannot have"
                   : "of another MPI library than the program's, for which it was compiled";
    return host.mpich_numbers ? "which tools cannot have"
                              : "of an mpi.h whose numbers are not known: it has to be compiled "
                                "with scope_qmpi.h";
}

/* --- where tools lie -------------------------------------------------------------------------- */

bool qmpi_is_tool(const void *address)
{
    size_t count = __atomic_load_n(&host.object_count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < count; i++) {
        if ((uintptr_t)address >= host.objects[i].low && (uintptr_t)address < host.objects[i].high)
            return true;
    }
    return false;
}

/* A program that brings a tool of its own calls MPI as a program. */
static void note_object(const void *function)
{
    struct object_range range;
    if (qmpi_is_tool(function) || !objects_range_of_library(function, &range))
        return;
    if (host.object_count == OBJECTS_MAX) {
        report_once(REPORT_TOOLS,
                    "QMPI tools are in more than %d libraries: calls from the others are taken for "
                    "the program's",
                    OBJECTS_MAX);
        return;
    }
    host.objects[host.object_count] = range;
    __atomic_store_n(&host.object_count, host.object_count + 1, __ATOMIC_RELEASE);
}

/* --- what tools call -------------------------------------------------------------------------- */

#define EXPORTED __attribute__((visibility("default")))
typedef void any_function(void);

int QMPI_Register_tool_name(const char *name, void (*init)(int tool_id)) EXPORTED;
int QMPI_Register_tool_storage(int id, void *storage) EXPORTED;
int QMPI_Register_function(int id, unsigned number, any_function *wrapper) EXPORTED;
int QMPI_Register_tool_function(int id, unsigned number, any_function *wrapper) EXPORTED;
int QMPI_Get_function(int id, unsigned number, any_function **next, int *next_id) EXPORTED;
int QMPI_Get_tool_storage(struct qmpi_context context, int id, void **storage) EXPORTED;
int QMPI_Context_get_storage(struct qmpi_context context, int id, void **storage) EXPORTED;
int QMPI_Get_calling_address(struct qmpi_context context, void **address) EXPORTED;

static enum stage stage(void)
{
    return __atomic_load_n(&host.stage, __ATOMIC_ACQUIRE);
}

static struct instance *instance_of(int id)
{
    return id >= 1 && id <= host.count ? &host.instances[id - 1] : NULL;
}

int QMPI_Register_tool_name(const char *name, void (*init)(int tool_id))
{
    if (stage() != STAGE_LOADING) {
        report_once(REPORT_TOOLS,
                    "the QMPI tool \"%.60s\" announces itself when MPI has started: it is not used",
                    name ? name : "");
        return qmpi_error();
    }
    return qmpi_tools_announce(name, init) < 0 ? qmpi_error() : 0;
}

int QMPI_Register_tool_storage(int id, void *storage)
{
    struct instance *instance = instance_of(id);
    if (!instance) {
        report_once(REPORT_TOOLS,
                    "a QMPI tool registers storage for id %d, which nobody has", id);
        return qmpi_error();
    }
    __atomic_store_n(&instance->storage, storage, __ATOMIC_RELEASE);
    return 0;
}

int QMPI_Register_function(int id, unsigned number, any_function *wrapper)
{
    struct instance *instance = instance_of(id);
    if (!instance) {
        report_once(REPORT_TOOLS,
                    "a QMPI tool registers a function for id %d, which nobody has", id);
        return qmpi_error();
    }
    unsigned function = function_of(number);
    if (__atomic_load_n(&host.in_init, __ATOMIC_RELAXED) != id) {
        report_once(REPORT_TOOLS,
                    "the QMPI tool \"%s\" registers a function outside of its init: it has no "
                    "effect",
                    instance->tool->name);
        return qmpi_error();
    }
    if (function >= NO_FUNCTION || !wrapper) {
        report_once(REPORT_TOOLS,
                    "the QMPI tool \"%s\" registers function number %u, %s", instance->tool->name,
                    number, wrapper ? why_no_function(number) : "and NULL for it");
        return qmpi_error();
    }
    instance->wrapper[function] = (void *)wrapper;
    note_object((void *)wrapper);
    return 0;
}

int QMPI_Register_tool_function(int id, unsigned number, any_function *wrapper)
{
    return QMPI_Register_function(id, number, wrapper);
}

int QMPI_Get_function(int id, unsigned number, any_function **next, int *next_id)
{
    struct instance *instance = instance_of(id);
    unsigned function = function_of(number);
    bool known = instance && function < NO_FUNCTION && stage() == STAGE_READY;
    if (!next || !next_id)
        return qmpi_error();
    *next = known ? (any_function *)instance->next[function].function
                  : (any_function *)qmpi_way_nowhere;
    *next_id = known ? instance->next[function].tool : 0;
    return known ? 0 : qmpi_error();
}

int QMPI_Get_tool_storage(struct qmpi_context context, int id, void **storage)
{
    struct instance *instance = instance_of(id);
    (void)context;
    if (!storage)
        return qmpi_error();
    *storage = instance ? __atomic_load_n(&instance->storage, __ATOMIC_ACQUIRE) : NULL;
    return instance ? 0 : qmpi_error();
}

int QMPI_Context_get_storage(struct qmpi_context context, int id, void **storage)
{
    return QMPI_Get_tool_storage(context, id, storage);
}

int QMPI_Get_calling_address(struct qmpi_context context, void **address)
{
    if (!address)
        return qmpi_error();
    *address = (void *)qmpi_way_caller(context);
    return *address ? 0 : qmpi_error();
}

/* --- before MPI starts ------------------------------------------------------------------------ */

static void count_tool(const struct qmpi_tool *tool)
{
    if (tool)
        host.asked++;
}

static void add_tool(const struct qmpi_tool *tool)
{
    if (!tool) {
        host.recorder = host.count;
        host.has_recorder_place = true;
        return;
    }
    host.instances[host.count++].tool = tool;
}

static bool make_instances(void)
{
    qmpi_tools_visit(count_tool);
    int count = host.asked;
    if (count == 0)
        return false;
    host.instances = pages_take((size_t)count * sizeof *host.instances);
    if (!host.instances)
        return false;
    qmpi_tools_visit(add_tool);
    if (!host.has_recorder_place)
        host.recorder = host.count;
    return true;
}

/* The first instance from index on, before end, that has the function; the tail if there is none.
 */
static struct qmpi_hop hop(enum mpi_function function, int index, int end,
                           void *tail(enum mpi_function))
{
    for (; index < end; index++) {
        if (host.instances[index].wrapper[function])
            return (struct qmpi_hop){host.instances[index].wrapper[function], index + 1};
    }
    return (struct qmpi_hop){tail(function), 0};
}

static void join(enum mpi_function function)
{
    int recorder = host.recorder;
    for (int i = 0; i < host.count; i++)
        host.instances[i].next[function] =
            i < recorder ? hop(function, i + 1, recorder, qmpi_way_to_recorder)
                         : hop(function, i + 1, host.count, qmpi_way_to_library);
    host.ways[function] =
        (struct ways){.first = hop(function, 0, recorder, qmpi_way_to_recorder),
                      .first_below = hop(function, recorder, host.count, qmpi_way_to_library),
                      .to_recorder = {qmpi_way_to_recorder(function), 0},
                      .to_library = {qmpi_way_to_library(function), 0}};
}

static void initialise(int id)
{
    const struct qmpi_tool *tool = host.instances[id - 1].tool;
    note_object((void *)tool->init);
    __atomic_store_n(&host.in_init, id, __ATOMIC_RELAXED);
    tool->init(id);
    __atomic_store_n(&host.in_init, 0, __ATOMIC_RELAXED);
}

bool qmpi_is_starting(void)
{
    return stage() == STAGE_INIT;
}

void qmpi_start(enum trace_family family, const char *version, int argument_error)
{
    host.family = family;
    host.error = argument_error;
    if (qmpi_tools_asked()) {
        learn_numbers(version);
        qmpi_tools_load();
        if (make_instances()) {
            __atomic_store_n(&host.stage, STAGE_INIT, __ATOMIC_RELEASE);
            for (int i = 0; i < host.count; i++)
                initialise(i + 1);
            for (unsigned function = 0; function < FUNCTION_COUNT; function++)
                join(function);
        }
    }
    __atomic_store_n(&host.stage, STAGE_READY, __ATOMIC_RELEASE);
}

bool qmpi_wants_below(enum mpi_function function)
{
    return host.ways[function].first_below.tool != 0;
}

bool qmpi_wants(enum mpi_function function)
{
    return host.ways[function].first.tool != 0 || qmpi_wants_below(function);
}

const struct qmpi_hop *qmpi_first(enum mpi_function function)
{
    return &host.ways[function].first;
}

const struct qmpi_hop *qmpi_first_below(enum mpi_function function)
{
    return &host.ways[function].first_below;
}

const struct qmpi_hop *qmpi_recorder(enum mpi_function function)
{
    return &host.ways[function].to_recorder;
}

const struct qmpi_hop *qmpi_library(enum mpi_function function)
{
    return &host.ways[function].to_library;
}
