/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrappers of one MPI family: what the generated ones use, and those written by hand.
 *
 * Included once by each family_*.c, behind the family's ABI header and these of its own:
 *     HANDLE(h)                          a handle as a number
 *     COMM_WORLD, COMM_SELF, COMM_NULL, REQUEST_NULL, OP_NO_OP
 *     int64_t datatype_size(MPI_Datatype)      bytes; DATATYPE_HUGE; -1: cannot be known
 *     bool is_communicator(MPI_Comm)           false: no handle that may be asked about
 *     uint64_t fortran_handle(MPI_Comm)
 *     int64_t status_bytes(const MPI_Status *) bytes received
 *     void family_attach(void *library)
 * Numbers are translated so that they mean the same under every MPI (trace_format.h).
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "preload/communicator.h"
#include "preload/dispatch.h"
#include "preload/glibc_compat.h"
#include "preload/identity.h"
#include "preload/objects.h"
#include "preload/pages.h"
#include "preload/recorder.h"
#include "preload/request.h"

#define STATUS_IGNORE ABI_STATUS_IGNORE
#define UNDEFINED ABI_UNDEFINED
#define FILE_HANDLE(file) ((uint64_t)(uintptr_t)(file)) /* a pointer in all families */

/* What the wrappers ask the MPI library, past everybody's interposition. */
#define MPI_QUESTIONS(X)                                                                           \
    X(Cartdim_get, (MPI_Comm, int *))                                                              \
    X(Comm_group, (MPI_Comm, MPI_Group *))                                                         \
    X(Comm_rank, (MPI_Comm, int *))                                                                \
    X(Comm_remote_group, (MPI_Comm, MPI_Group *))                                                  \
    X(Comm_remote_size, (MPI_Comm, int *))                                                         \
    X(Comm_size, (MPI_Comm, int *))                                                                \
    X(Comm_test_inter, (MPI_Comm, int *))                                                          \
    X(Dist_graph_neighbors_count, (MPI_Comm, int *, int *, int *))                                 \
    X(Error_class, (int, int *))                                                                   \
    X(Graph_neighbors_count, (MPI_Comm, int, int *))                                               \
    X(Group_free, (MPI_Group *))                                                                   \
    X(Group_translate_ranks, (MPI_Group, int, const int *, MPI_Group, int *))                      \
    X(Query_thread, (int *))                                                                       \
    X(Test_cancelled, (const MPI_Status *, int *))                                                 \
    X(Topo_test, (MPI_Comm, int *))                                                                \
    X(Type_size_x, (MPI_Datatype, MPI_Count *))

static struct {
#define QUESTION(name, parameters) int(*name) parameters;
    MPI_QUESTIONS(QUESTION)
#undef QUESTION
} ask;

/* Only libraries of MPI 4 have it. */
static int (*ask_process_set)(MPI_Session, const char *, MPI_Group *);

static int attach(void *library)
{
    *(void **)&ask_process_set = dlsym(library, "PMPI_Group_from_session_pset");
#define QUESTION(name, parameters)                                                                 \
    if (!(*(void **)&ask.name = dlsym(library, "PMPI_" #name)))                                    \
        return -1;
    MPI_QUESTIONS(QUESTION)
#undef QUESTION
    return family_attach(library);
}

/* --- sizes, ranks, tags ----------------------------------------------------------------------- */

/* Of one that an int cannot hold. */
static __attribute__((noinline, cold)) int64_t huge_size(MPI_Datatype datatype)
{
    MPI_Count size;
    return ask.Type_size_x(datatype, &size) == MPI_SUCCESS ? (int64_t)size : -1;
}

static inline int64_t bytes_of(int64_t count, MPI_Datatype datatype)
{
    int64_t size = datatype_size(datatype), bytes;
    if (__builtin_expect(size == DATATYPE_HUGE, 0))
        size = huge_size(datatype);
    if (count < 0 || size < 0 || __builtin_mul_overflow(count, size, &bytes))
        return -1;
    return bytes;
}

/* counts[i], which large-count functions have wider than others. */
static int64_t count_at(const void *counts, size_t width, int64_t i)
{
    return width == sizeof(int) ? ((const int *)counts)[i] : ((const MPI_Count *)counts)[i];
}

static int64_t bytes_of_sum(const void *counts, size_t width, int64_t n, MPI_Datatype datatype)
{
    int64_t sum = 0;
    if (n < 0 || !counts)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = count_at(counts, width, i);
        if (count < 0 || __builtin_add_overflow(sum, count, &sum))
            return -1;
    }
    return bytes_of(sum, datatype);
}

static int64_t bytes_of_types(const void *counts, size_t width, int64_t n,
                              const MPI_Datatype *datatypes)
{
    int64_t sum = 0;
    if (n < 0 || !counts || !datatypes)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = count_at(counts, width, i);
        int64_t bytes = count == 0 ? 0 : bytes_of(count, datatypes[i]);
        if (bytes < 0 || __builtin_add_overflow(sum, bytes, &sum))
            return -1;
    }
    return sum;
}

static int64_t bytes_of_partitions(int partitions, MPI_Count count, MPI_Datatype datatype)
{
    int64_t all;
    if (partitions < 0 || __builtin_mul_overflow(partitions, count, &all))
        return -1;
    return bytes_of(all, datatype);
}

static inline int32_t translated(int rank)
{
    switch (rank) {
    case ABI_ANY_SOURCE:
        return PEER_NONE;
    case ABI_PROC_NULL:
        return PEER_PROC_NULL;
    case ABI_ROOT:
        return PEER_ROOT;
    default:
        return rank;
    }
}

#define BYTES(count, datatype) bytes_of(count, datatype)
#define SUM(counts, n, datatype) bytes_of_sum(counts, sizeof *(counts), n, datatype)
#define SUM_TYPES(counts, n, datatypes) bytes_of_types(counts, sizeof *(counts), n, datatypes)
#define PARTITIONS(partitions, count, datatype) bytes_of_partitions(partitions, count, datatype)
/* In an intercommunicator the root's group names itself instead of a root: the root's arguments are
 * others than its members', and those who are neither have none. */
#define ROOTED(root, members, own)                                                                 \
    ((root) == ABI_ROOT ? (own) : (root) == ABI_PROC_NULL ? 0 : (members))
#define IS_NO_OP(op) ((op) == OP_NO_OP)
#define IN_PLACE(buffer) ((buffer) == ABI_IN_PLACE)
#define PEER(rank) translated(rank)
#define TAG(tag) ((tag) == ABI_ANY_TAG ? -1 : (tag))
#define SOURCE(source, sendtag, recvtag) ((recvtag) == (sendtag) ? PEER(source) : PEER_NONE)
#define IS_WILDCARD(source, tag) ((source) == ABI_ANY_SOURCE || (tag) == ABI_ANY_TAG)

/* --- communicators ---------------------------------------------------------------------------- */

/* The sessions that the program has begun and not ended. */
static struct {
    bool have_world; /* MPI_Init came back: there is an MPI_COMM_WORLD */
    int count;
    MPI_Session newest;
    bool newest_lives;
} sessions;

/* The group of all ranks, to be freed; false if it cannot be had. */
static bool ask_world(MPI_Group *world)
{
    if (sessions.have_world)
        return ask.Comm_group(COMM_WORLD, world) == MPI_SUCCESS;
    return sessions.newest_lives && ask_process_set &&
           ask_process_set(sessions.newest, "mpi://WORLD", world) == MPI_SUCCESS;
}

/* The world ranks of a group of n as runs, in pages_take memory of *room bytes; their number. 0 if
 * they cannot be told: memory is out, or (*foreign) a member is of another world. */
static uint32_t ask_members(MPI_Group group, size_t n, struct trace_rank_run **runs, size_t *room,
                            bool *foreign)
{
    MPI_Group world;
    size_t ranks_room = 2 * n * sizeof(int);
    int *ranks = pages_take(ranks_room);
    uint32_t count = 0;

    *foreign = false;
    *room = n * sizeof **runs;
    *runs = pages_take(*room);
    if (ranks && *runs && ask_world(&world)) {
        int *in_world = ranks + n;
        for (size_t i = 0; i < n; i++)
            ranks[i] = (int)i;
        int result = ask.Group_translate_ranks(group, (int)n, ranks, world, in_world);
        ask.Group_free(&world);
        for (size_t i = 0; result == MPI_SUCCESS && i < n; i++)
            *foreign |= in_world[i] < 0;
        if (result == MPI_SUCCESS && !*foreign)
            count = communicator_runs(in_world, (uint32_t)n, *runs);
    }
    pages_give(ranks, ranks_room);
    if (count == 0) {
        pages_give(*runs, *room);
        *runs = NULL;
        *room = 0;
    }
    return count;
}

/* Who is on the other side of an intercommunicator. */
static void ask_remote(MPI_Comm comm, struct communicator_answer *answer)
{
    MPI_Group group;
    struct trace_rank_run *runs;
    size_t room;
    bool foreign;
    if (ask.Comm_remote_group(comm, &group) != MPI_SUCCESS)
        return;
    uint32_t count = ask_members(group, answer->peers, &runs, &room, &foreign);
    ask.Group_free(&group);
    answer->foreign |= foreign;
    if (count == 0)
        return;
    answer->remote_hash = communicator_hash_runs(runs, count);
    answer->remote_first = runs[0].first;
    pages_give(runs, room);
}

/* Asks the library about a communicator: local questions only. */
static bool ask_communicator(MPI_Comm comm, struct communicator_answer *answer)
{
    int rank, size, inter, peers;
    MPI_Group group;
    *answer = (struct communicator_answer){.kind = COMMUNICATOR_INTRA};
    if (ask.Comm_rank(comm, &rank) != MPI_SUCCESS || ask.Comm_size(comm, &size) != MPI_SUCCESS ||
        ask.Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return false;
    peers = size;
    if (inter && ask.Comm_remote_size(comm, &peers) != MPI_SUCCESS)
        return false;
    answer->kind = inter ? COMMUNICATOR_INTER : COMMUNICATOR_INTRA;
    answer->rank = (uint32_t)rank;
    answer->size = (uint32_t)size;
    answer->peers = (uint32_t)peers;
    answer->fortran_handle = fortran_handle(comm);
    if (ask.Comm_group(comm, &group) == MPI_SUCCESS) {
        answer->run_count = ask_members(group, answer->size, &answer->runs, &answer->run_room,
                                        &answer->foreign);
        ask.Group_free(&group);
    }
    if (inter)
        ask_remote(comm, answer);
    return true;
}

static bool add_predefined(MPI_Comm comm, uint32_t id)
{
    struct communicator_answer answer;
    return ask_communicator(comm, &answer) &&
           communicator_add_predefined(HANDLE(comm), id, &answer);
}

static void communicator_use(struct recorder_thread *thread, uint64_t handle,
                             struct communicator *c, uint32_t generation)
{
    recorder_define_communicator(thread, c);
    thread->communicator = c;
    thread->communicator_handle = handle;
    thread->communicator_generation = generation;
}

/* The communicator behind a handle that the thread did not use last. */
static struct communicator *communicator_fetch(struct recorder_thread *thread, MPI_Comm comm)
{
    uint32_t generation = __atomic_load_n(&memo_generation, __ATOMIC_ACQUIRE);
    struct communicator *c = communicator_find(HANDLE(comm));
    if (!c && is_communicator(comm)) {
        /* Made by a function that is not interposed, or before we were: members, but no key. */
        struct communicator_answer answer;
        if (ask_communicator(comm, &answer))
            c = communicator_add(HANDLE(comm), NULL, 0, &answer);
    }
    if (c)
        communicator_use(thread, HANDLE(comm), c, generation);
    return c;
}

static inline struct communicator *communicator_of(struct recorder_thread *thread, MPI_Comm comm)
{
    if (__builtin_expect(thread->communicator_handle == HANDLE(comm) && thread->communicator &&
                             thread->communicator_generation == memo_generation,
                         1))
        return thread->communicator;
    return communicator_fetch(thread, comm);
}

static inline int32_t communicator_id(struct recorder_thread *thread, MPI_Comm comm)
{
    const struct communicator *c = communicator_of(thread, comm);
    return c ? (int32_t)c->facts.id : -1;
}

static int64_t communicator_peers(struct recorder_thread *thread, MPI_Comm comm)
{
    const struct communicator *c = communicator_of(thread, comm);
    return c ? (int64_t)c->peers : -1;
}

static int64_t communicator_size(struct recorder_thread *thread, MPI_Comm comm)
{
    const struct communicator *c = communicator_of(thread, comm);
    return c ? (int64_t)c->facts.size : -1;
}

/* counts[my rank], which MPI_IN_PLACE makes the size of the own part. */
static int64_t own_count(struct recorder_thread *thread, const void *counts, size_t width,
                         MPI_Comm comm)
{
    const struct communicator *c = communicator_of(thread, comm);
    return c && counts && c->facts.kind == COMMUNICATOR_INTRA
               ? count_at(counts, width, c->facts.rank)
               : -1;
}

static bool is_root(struct recorder_thread *thread, int root, MPI_Comm comm)
{
    const struct communicator *c = communicator_of(thread, comm);
    if (root == ABI_ROOT)
        return true;
    return c && c->facts.kind == COMMUNICATOR_INTRA && (int)c->facts.rank == root;
}

/* Destinations of a neighbourhood collective. */
static int ask_neighbors(MPI_Comm comm, int rank)
{
    int topology, n = -1, in, weighted;
    if (ask.Topo_test(comm, &topology) != MPI_SUCCESS)
        return -1;
    switch (topology) {
    case ABI_CART:
        return ask.Cartdim_get(comm, &n) == MPI_SUCCESS ? 2 * n : -1;
    case ABI_GRAPH:
        return ask.Graph_neighbors_count(comm, rank, &n) == MPI_SUCCESS ? n : -1;
    case ABI_DIST_GRAPH:
        return ask.Dist_graph_neighbors_count(comm, &in, &n, &weighted) == MPI_SUCCESS ? n : -1;
    default:
        return -1;
    }
}

static int64_t neighbors(struct recorder_thread *thread, MPI_Comm comm)
{
    struct communicator *c = communicator_of(thread, comm);
    if (!c)
        return -1;
    int32_t known = __atomic_load_n(&c->neighbors, __ATOMIC_RELAXED);
    if (known < 0) { /* other threads would find the same */
        known = ask_neighbors(comm, (int)c->facts.rank);
        __atomic_store_n(&c->neighbors, known, __ATOMIC_RELAXED);
    }
    return known;
}

/* The id of the communicator that a window or file was made on. */
static int32_t owner_id(struct recorder_thread *thread, uint64_t handle)
{
    uint32_t generation = __atomic_load_n(&memo_generation, __ATOMIC_ACQUIRE);
    if (thread->communicator_handle != handle || !thread->communicator ||
        thread->communicator_generation != generation) {
        struct communicator *c = communicator_find(handle);
        if (!c)
            return -1;
        communicator_use(thread, handle, c, generation);
    }
    return (int32_t)thread->communicator->facts.id;
}

#define COMMUNICATOR(comm) communicator_id(call.thread, comm)
#define OWNER(handle) owner_id(call.thread, handle)
#define PEERS(comm) communicator_peers(call.thread, comm)
#define OWN_SIZE(comm) communicator_size(call.thread, comm)
#define OWN(counts, comm) own_count(call.thread, counts, sizeof *(counts), comm)
#define IS_ROOT(root, comm) is_root(call.thread, root, comm)
#define NEIGHBORS(comm) neighbors(call.thread, comm)

/* A duplicate that is not complete yet (MPI_Comm_idup) must not be asked: it has its parent's
 * group. */
static void copy_answer(const struct communicator *parent, struct communicator_answer *answer)
{
    const struct trace_communicator *facts = &parent->facts;
    *answer = (struct communicator_answer){
        .kind = facts->kind, .rank = facts->rank, .size = facts->size, .peers = parent->peers};
    answer->foreign = parent->foreign;
    answer->remote_hash = parent->remote_hash;
    answer->remote_first = parent->remote_first;
    answer->run_room = facts->run_count * sizeof *facts->runs;
    answer->runs = answer->run_room ? pages_take(answer->run_room) : NULL;
    if (!answer->runs)
        return;
    memcpy(answer->runs, facts->runs, answer->run_room);
    answer->run_count = facts->run_count;
}

/* After a collective creation on comm, successful or not, here or only on other members. */
static void communicator_made(struct call *call, int result, MPI_Comm comm, const MPI_Comm *made,
                              bool clone)
{
    struct communicator *parent = communicator_of(call->thread, comm);
    uint32_t creation = communicator_count_creation(parent);
    struct communicator_answer answer;

    if (result != MPI_SUCCESS || *made == COMM_NULL)
        return;
    if (clone && parent) {
        copy_answer(parent, &answer);
        answer.fortran_handle = fortran_handle(*made);
    } else if (!ask_communicator(*made, &answer)) {
        return;
    }
    struct communicator *c = communicator_add(HANDLE(*made), parent, creation, &answer);
    if (c)
        recorder_define_communicator(call->thread, c);
}

/* Tags of both kinds as what makes keys differ; never 0, which is no tag. */
static inline uint64_t tag_hash_number(int tag)
{
    return (uint64_t)(uint32_t)tag | UINT64_C(1) << 32;
}

static inline uint64_t tag_hash_text(const char *tag)
{
    return communicator_hash(tag, strlen(tag)) | UINT64_C(1) << 33;
}

#define TAG_HASH(tag) _Generic((tag), int: tag_hash_number, const char *: tag_hash_text)(tag)

/* After a creation that is collective over the new communicator alone. tag_hash 0: there is nothing
 * that all members know. comm: of which they are members; COMM_NULL: of none. */
static inline void communicator_joined(struct call *call, int result, const MPI_Comm *made,
                                       uint64_t tag_hash, MPI_Comm comm)
{
    struct communicator_answer answer;
    if (result != MPI_SUCCESS || *made == COMM_NULL || !ask_communicator(*made, &answer))
        return;
    /* The local communicators of an intercommunicator's two sides are two parents, hence none. */
    const struct communicator *parent = answer.kind == COMMUNICATOR_INTRA && comm != COMM_NULL
                                            ? communicator_of(call->thread, comm)
                                            : NULL;
    struct communicator *c = communicator_add_joined(HANDLE(*made), parent, tag_hash, &answer);
    if (c)
        recorder_define_communicator(call->thread, c);
}

/* After a window or file was made on comm. */
static inline void communicator_owns(struct call *call, MPI_Comm comm, uint64_t handle)
{
    const struct communicator *c = communicator_of(call->thread, comm);
    if (c)
        communicator_add_owned(handle, c);
}

/* The communicator to those who spawned this world, each time it is asked for. */
static inline void communicator_parent(struct call *call, int result, const MPI_Comm *made)
{
    struct communicator_answer answer;
    if (result != MPI_SUCCESS || *made == COMM_NULL || communicator_find(HANDLE(*made)) ||
        !ask_communicator(*made, &answer))
        return;
    struct communicator *c = communicator_add_parent(HANDLE(*made), &answer);
    if (c)
        recorder_define_communicator(call->thread, c);
}

static inline void communicator_named(struct call *call, int result, MPI_Comm comm,
                                      const char *name)
{
    const struct communicator *c = communicator_of(call->thread, comm);
    if (result == MPI_SUCCESS && c && name)
        trace_stream_name(&call->thread->stream, c->facts.id, name);
}

/* --- outcomes --------------------------------------------------------------------------------- */

/* What a receive that names no source or no tag got. */
static void resolve(struct recorder_thread *thread, const MPI_Status *status, int index)
{
    const struct trace_message message = {.peer = translated(status->MPI_SOURCE),
                                          .tag = status->MPI_TAG,
                                          .bytes = status_bytes(status),
                                          .index = index};
    trace_stream_resolve(&thread->stream, &message);
}

/* The same for one that may have been cancelled: nothing came to it then. */
static void resolve_request(struct recorder_thread *thread, const MPI_Status *status, int index)
{
    int cancelled;
    if (ask.Test_cancelled(status, &cancelled) == MPI_SUCCESS && !cancelled)
        resolve(thread, status, index);
}

/* The call returned an error. */
static __attribute__((noinline, cold)) void fail(struct recorder_thread *thread, int result)
{
    int class;
    if (ask.Error_class(result, &class) != MPI_SUCCESS)
        class = result;
    trace_stream_failed(&thread->stream, class);
}

/* Both for a call that goes the short way, before its event is written. */
static __attribute__((noinline, cold)) void fail_again(int result)
{
    if (recorder_thread)
        fail(recorder_thread, result);
}

static __attribute__((noinline)) void resolve_again(const MPI_Status *status)
{
    if (recorder_thread)
        resolve(recorder_thread, status, -1);
}

/* --- requests --------------------------------------------------------------------------------- */

#define RESOLVES(function, resolves) resolves,
/* Whether the request of a function, by its number, may be a receive that a status tells more of. */
static const unsigned char started_resolves[FUNCTION_COUNT] = {MPI_FUNCTIONS_RESOLVE(RESOLVES)};
#undef RESOLVES

/* Such a request was started: completions have to look. */
static bool resolving;

static unsigned char origin_resolution(const struct request_origin *origin)
{
    return origin->operation == 0 || origin->operation > OPERATION_COUNT
               ? RESOLVE_NEVER
               : started_resolves[(origin->operation - 1) / 2];
}

static bool origin_resolves(const struct request_origin *origin)
{
    switch (origin_resolution(origin)) {
    case RESOLVE_WILDCARD:
        return origin->peer == PEER_NONE || origin->tag == -1;
    case RESOLVE_ALWAYS:
        return true;
    default:
        return false;
    }
}

/* The id of this call as the origin of a request. */
static uint32_t origin_of(const struct trace_signature *signature)
{
    struct request_origin origin = {.bytes = signature->bytes,
                                    .peer = signature->peer,
                                    .tag = signature->tag,
                                    .communicator = signature->communicator,
                                    .operation = signature->operation + 1};
    if (origin_resolves(&origin))
        __atomic_store_n(&resolving, true, __ATOMIC_RELAXED);
    return request_origin_id(&origin);
}

static inline void call_started(int result, const MPI_Request *request, uint32_t origin)
{
    if (result == MPI_SUCCESS && *request != REQUEST_NULL)
        request_started(HANDLE(*request), request, origin);
}

static void label_origin(struct trace_signature *signature, const struct request_origin *origin)
{
    signature->bytes = origin->bytes;
    signature->peer = origin->peer;
    signature->tag = origin->tag;
    signature->communicator = origin->communicator;
    signature->origin = origin->operation;
}

enum { COMPLETION_FEW = 32 };

/* The requests of a completing call as they were before it: completion sets handles to null. */
struct completion {
    const MPI_Request *array;
    int count;
    uint64_t *handles;
    const MPI_Status *statuses; /* where the call tells of the finished ones; NULL: nobody asks */
    size_t room;                /* bytes of scratch behind handles, where they did not fit few */
    uint64_t few[COMPLETION_FEW];
    MPI_Status few_statuses[COMPLETION_FEW];
};

/* Whether one of the requests is a receive that only its status tells all of. */
static bool completion_resolves(const struct completion *completion)
{
    if (!__atomic_load_n(&resolving, __ATOMIC_RELAXED))
        return false;
    for (int i = 0; i < completion->count; i++) {
        if (completion->handles[i] != HANDLE(REQUEST_NULL) &&
            origin_resolves(request_origin(
                request_look(completion->handles[i], &completion->array[i]))))
            return true;
    }
    return false;
}

static void completion_begin(struct completion *completion, const struct call *call,
                             struct trace_signature *signature, int count, const MPI_Request *array)
{
    completion->array = array;
    completion->count = array && count > 0 ? count : 0;
    completion->room = 0;
    completion->handles = completion->few;
    completion->statuses = NULL;
    /* A start of nothing sends nothing, which whoever counts sends has to know. */
    bool starts_none =
        completion->count == 0 && signature->operation == OPERATION(FUNCTION_MPI_Startall);
    signature->origin = starts_none ? ORIGIN_NONE : ORIGIN_UNKNOWN;
    if (completion->count > COMPLETION_FEW) {
        completion->room =
            (size_t)completion->count * (sizeof *completion->handles + sizeof(MPI_Status));
        completion->handles = call_scratch_take(call, completion->room);
        if (!completion->handles) {
            completion->count = 0;
            completion->room = 0;
        }
    }
    for (int i = 0; i < completion->count; i++)
        completion->handles[i] = HANDLE(array[i]);
    if (completion->count == 1 && array[0] != REQUEST_NULL)
        label_origin(signature, request_origin(request_look(completion->handles[0], array)));
}

/* Shows the requests beside the call that is to complete them, which has begun. */
static inline void completion_show(const struct completion *completion, const struct call *call)
{
    call_show_requests(call, completion->array,
                       (size_t)completion->count * sizeof *completion->array);
}

/* The statuses to call with: the program's own, or ours where it wants none and we do. */
static MPI_Status *completion_statuses(struct completion *completion, MPI_Status *statuses)
{
    if (!completion_resolves(completion))
        return statuses;
    if (statuses == STATUS_IGNORE) /* the same value as MPI_STATUSES_IGNORE, in all families */
        statuses = completion->room
                       ? (MPI_Status *)(void *)(completion->handles + completion->count)
                       : completion->few_statuses;
    completion->statuses = statuses;
    return statuses;
}

/* What several requests have in common; bytes are added up. */
static void add_origin(struct trace_signature *signature, const struct request_origin *origin,
                       bool first)
{
    if (first) {
        label_origin(signature, origin);
        return;
    }
    if (signature->bytes < 0 || origin->bytes < 0 ||
        __builtin_add_overflow(signature->bytes, origin->bytes, &signature->bytes))
        signature->bytes = -1;
    if (signature->peer != origin->peer)
        signature->peer = PEER_NONE;
    if (signature->tag != origin->tag)
        signature->tag = -1;
    if (signature->communicator != origin->communicator)
        signature->communicator = -1;
    if (signature->origin != origin->operation)
        signature->origin = ORIGIN_MIXED;
}

/* The origin of a request that finished, or NULL if there is none at this index. */
static const struct request_origin *completion_one(const struct completion *completion, int index)
{
    if (index < 0 || index >= completion->count ||
        completion->handles[index] == HANDLE(REQUEST_NULL))
        return NULL;
    /* A handle that the call left in its place is persistent, or was only looked at. */
    bool stays = completion->array[index] != REQUEST_NULL;
    return request_origin((stays ? request_look : request_finished)(
        completion->handles[index], &completion->array[index]));
}

/* Forgets the requests that finished and labels the call with what they have in common. done: how
 * many finished, at indices or else from the first on; -1: the call failed, and those whose handle
 * became null did. Returns how many receives were among them. */
static int completion_forget(struct completion *completion, const struct call *call,
                              struct trace_signature *signature, int done, const int *indices)
{
    bool first = true, known = done >= 0;
    int candidates = known ? done : completion->count, received = 0;
    for (int i = 0; i < candidates && i < completion->count; i++) {
        int index = known && indices ? indices[i] : i;
        if (!known && completion->array[index] != REQUEST_NULL)
            continue;
        const struct request_origin *origin = completion_one(completion, index);
        if (!origin)
            continue;
        add_origin(signature, origin, first);
        first = false;
        received += origin_resolution(origin) != RESOLVE_NEVER;
        if (known && completion->statuses && origin_resolves(origin))
            resolve_request(call->thread, &completion->statuses[i], completion->count > 1 ? index : -1);
    }
    if (completion->room)
        call_scratch_give(call, completion->handles, completion->room);
    return received;
}

/* What several requests have in common does not tell how many messages go where. */
static void tell_started(const struct completion *completion, const struct call *call,
                         const struct trace_signature *signature)
{
    if (signature->communicator < 0)
        return;
    for (int i = 0; i < completion->count; i++) {
        const MPI_Request *request = &completion->array[i];
        const struct request_origin *origin =
            request_origin(request_look(HANDLE(*request), request));
        const struct trace_message message = {
            .peer = origin->peer, .tag = origin->tag, .bytes = origin->bytes, .index = i};
        switch (origin->operation ? (origin->operation - 1) / 2 : FUNCTION_COUNT) {
        case FUNCTION_MPI_Send_init:
        case FUNCTION_MPI_Bsend_init:
        case FUNCTION_MPI_Ssend_init:
        case FUNCTION_MPI_Rsend_init:
        case FUNCTION_MPI_Send_init_c:
        case FUNCTION_MPI_Bsend_init_c:
        case FUNCTION_MPI_Ssend_init_c:
        case FUNCTION_MPI_Rsend_init_c:
            trace_stream_started(&call->thread->stream, true, &message);
            break;
        case FUNCTION_MPI_Recv_init:
        case FUNCTION_MPI_Recv_init_c:
            trace_stream_started(&call->thread->stream, false, &message);
            break;
        default: /* others are in no order with these */
            break;
        }
    }
}

/* The same, and records it. polls: the call does not wait. */
static void completion_end(struct completion *completion, struct call *call,
                           struct trace_signature *signature, int result, int done,
                           const int *indices, bool polls)
{
    bool wanted = !polls || recorder_wants(signature->operation / 2);
    if (!wanted)
        completion->statuses = NULL;
    int received = completion_forget(completion, call, signature, done, indices);
    if (polls && done == 0) {
        call_record_poll(call, signature);
        return;
    }
    if (!wanted) {
        call_drop(call);
        return;
    }
    if (result != MPI_SUCCESS)
        fail(call->thread, result);
    if (done > 0 && indices)
        trace_stream_completion(&call->thread->stream, indices, (size_t)done);
    if (signature->operation == OPERATION(FUNCTION_MPI_Startall))
        tell_started(completion, call, signature);
    if (completion->count != 1 && done != 0 && signature->origin != ORIGIN_NONE) {
        signature->received = received;
        call_relabel(call, signature);
    }
    call_record(call);
}

/* --- the way in and out ----------------------------------------------------------------------- */

static struct trace_signature bare_signature(enum mpi_function function)
{
    return (struct trace_signature){.operation = OPERATION(function),
                                    .bytes = -1,
                                    .peer = PEER_NONE,
                                    .root = PEER_NONE,
                                    .tag = -1,
                                    .communicator = -1};
}

/* Begins a call of one of these functions, which is told of even if the user does not want it.
 * Returns true if it is to be recorded. */
static bool begin(struct call *call, enum mpi_function function)
{
    struct trace_signature signature = bare_signature(function);
    if (dispatch_records(function)) {
        call_begin(call, &signature);
        return true;
    }
    call->start = clock_ticks();
    return false;
}

static void end(struct call *call, bool recorded, int result)
{
    if (!recorded) {
        call_leave(call);
        return;
    }
    if (result != MPI_SUCCESS)
        fail(call->thread, result);
    call_record(call);
}

static bool add_world(void)
{
    sessions.have_world = true;
    return add_predefined(COMM_WORLD, COMMUNICATOR_WORLD) &&
           add_predefined(COMM_SELF, COMMUNICATOR_SELF);
}

static void define_world(struct recorder_thread *thread)
{
    recorder_define_communicator(thread, communicator_find(HANDLE(COMM_WORLD)));
    recorder_define_communicator(thread, communicator_find(HANDLE(COMM_SELF)));
}

static void open_recorder(struct recorder_world *world, enum mpi_function function,
                          const struct trace_sync *before)
{
    world->family = FAMILY;
    world->record_init = dispatch_records(function);
    world->each_poll = dispatch_selection()->each_poll;
    world->kinds = dispatch_selection()->kinds;
    world->paused = dispatch_is_paused();
    recorder_open(world, function, before);
}

/* After MPI_Init or MPI_Init_thread. */
static void opened(int result, enum mpi_function function, const struct trace_sync *before)
{
    int rank, size, level = -1;
    if (result != MPI_SUCCESS || ask.Comm_rank(COMM_WORLD, &rank) != MPI_SUCCESS ||
        ask.Comm_size(COMM_WORLD, &size) != MPI_SUCCESS || !add_world()) {
        recorder_cancel();
        return;
    }
    ask.Query_thread(&level);
    open_recorder(&(struct recorder_world){.rank = (uint32_t)rank,
                                           .size = (uint32_t)size,
                                           .thread_level = ABI_THREAD_LEVEL(level),
                                           .many_threads = level == ABI_THREAD_MULTIPLE},
                  function, before);
    if (recorder_thread)
        define_world(recorder_thread);
}

/* The same where a session was there before: it is a call like others. */
static void opened_late(struct call *call, bool recorded, int result)
{
    if (result == MPI_SUCCESS && add_world())
        define_world(call->thread);
    end(call, recorded, result);
}

static int special_MPI_Init(int *argc, char ***argv, int (*next)(int *, char ***),
                            const void *caller, bool pmpi)
{
    struct trace_sync before;
    struct call call;
    if (recorder_prepare(&before)) {
        int result = next(argc, argv);
        opened(result, FUNCTION_MPI_Init, &before);
        return result;
    }
    if (!call_enter(&call, caller, pmpi))
        return next(argc, argv);
    bool recorded = begin(&call, FUNCTION_MPI_Init);
    int result = next(argc, argv);
    call_stop(&call);
    opened_late(&call, recorded, result);
    return result;
}

static int special_MPI_Init_thread(int *argc, char ***argv, int required, int *provided,
                                   int (*next)(int *, char ***, int, int *), const void *caller,
                                   bool pmpi)
{
    struct trace_sync before;
    struct call call;
    if (recorder_prepare(&before)) {
        int result = next(argc, argv, required, provided);
        opened(result, FUNCTION_MPI_Init_thread, &before);
        return result;
    }
    if (!call_enter(&call, caller, pmpi))
        return next(argc, argv, required, provided);
    bool recorded = begin(&call, FUNCTION_MPI_Init_thread);
    int result = next(argc, argv, required, provided);
    call_stop(&call);
    opened_late(&call, recorded, result);
    return result;
}

static void session_began(int result, const MPI_Session *session)
{
    if (result != MPI_SUCCESS)
        return;
    sessions.newest = *session;
    sessions.newest_lives = true;
    __atomic_add_fetch(&sessions.count, 1, __ATOMIC_RELEASE);
    recorder_sessions_over(0);
}

/* A program that knows sessions alone has no world to ask: the launcher's word counts. */
static int special_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session,
                                    int (*next)(MPI_Info, MPI_Errhandler, MPI_Session *),
                                    const void *caller, bool pmpi)
{
    struct trace_sync before;
    struct call call;
    if (recorder_prepare(&before)) {
        struct recorder_world world = {.thread_level = -1, .many_threads = true};
        int result = next(info, errhandler, session);
        session_began(result, session);
        identity_launched(&world.rank, &world.size);
        if (result == MPI_SUCCESS)
            open_recorder(&world, FUNCTION_MPI_Session_init, &before);
        else
            recorder_cancel();
        return result;
    }
    if (!call_enter(&call, caller, pmpi))
        return next(info, errhandler, session);
    request_use_locks(); /* it may bring threads that MPI_Init had not */
    bool recorded = begin(&call, FUNCTION_MPI_Session_init);
    int result = next(info, errhandler, session);
    call_stop(&call);
    session_began(result, session);
    end(&call, recorded, result);
    return result;
}

static int special_MPI_Session_finalize(MPI_Session *session, int (*next)(MPI_Session *),
                                        const void *caller, bool pmpi)
{
    struct call call;
    if (!call_enter(&call, caller, pmpi))
        return next(session);
    bool recorded = begin(&call, FUNCTION_MPI_Session_finalize);
    bool newest = session && *session == sessions.newest;
    int result = next(session);
    call_stop(&call);
    uint64_t start = call.start;
    end(&call, recorded, result);
    if (result != MPI_SUCCESS)
        return result;
    if (newest)
        sessions.newest_lives = false;
    if (__atomic_sub_fetch(&sessions.count, 1, __ATOMIC_ACQ_REL) == 0 && !sessions.have_world)
        recorder_sessions_over(start);
    return result;
}

/* A wait that its thread has not made before, or that tells more than its time. */
static __attribute__((noinline)) int new_wait(MPI_Request *request, MPI_Status *status,
                                              uint64_t handle, uint32_t origin,
                                              int (*next)(MPI_Request *, MPI_Status *),
                                              struct call *call)
{
    struct trace_signature signature = bare_signature(FUNCTION_MPI_Wait);
    const uint64_t word[] = {memo_function(FUNCTION_MPI_Wait), origin};
    bool resolves = origin_resolves(request_origin(origin));
    MPI_Status own_status;

    label_origin(&signature, request_origin(origin));
    call_begin(call, &signature);
    if (!resolves)
        call_remember(call, word, 2, 0);
    else if (status == STATUS_IGNORE)
        status = &own_status;
    int result = next(request, status);
    call_stop(call);
    if (handle && *request != REQUEST_NULL) /* it is persistent */
        request_started(handle, request, origin);
    if (result != MPI_SUCCESS)
        fail(call->thread, result);
    else if (resolves)
        resolve_request(call->thread, status, -1);
    call_record(call);
    return result;
}

/* By far the most frequent completion: it takes the request out at once, since the call does not
 * come back without having completed it, and goes by the origin's id. The processor looks for the
 * request while it waits for its counter and is in the call. */
static int special_MPI_Wait(MPI_Request *request, MPI_Status *status,
                            int (*next)(MPI_Request *, MPI_Status *), const void *caller, bool pmpi)
{
    struct call call;
    bool nested = !recorder_thread || recorder_thread->frame;
    if (__builtin_expect(nested, 0) && !call_enter(&call, caller, pmpi))
        return next(request, status);
    uint64_t start = clock_ticks();
    uint64_t handle = request && *request != REQUEST_NULL ? HANDLE(*request) : 0;
    uint32_t origin = handle ? request_finished(handle, request) : REQUEST_ORIGIN_UNKNOWN;
    const uint64_t word[] = {memo_function(FUNCTION_MPI_Wait), origin};
    const struct memo *memo = nested ? NULL : recorder_repeat(word, 2);
    if (__builtin_expect(!memo, 0)) {
        if (!nested && !call_enter(&call, caller, pmpi))
            return next(request, status);
        return new_wait(request, status, handle, origin, next, &call);
    }
    call_repeat_since(&call, memo->signature, start);
    int result = next(request, status);
    uint64_t end = clock_counter();
    if (__builtin_expect(result != MPI_SUCCESS, 0))
        fail_again(result);
    call_repeated(start, end);
    if (__builtin_expect(handle && *request != REQUEST_NULL, 0)) /* it is persistent */
        request_started(handle, request, origin);
    return result;
}

/* What MPI_Test has to know of a request that only its status tells all of. */
static inline bool test_resolves(uint32_t origin)
{
    return __atomic_load_n(&resolving, __ATOMIC_RELAXED) && origin_resolves(request_origin(origin));
}

/* After one that did not find nothing. Returns true if it is to be recorded. */
static __attribute__((noinline)) bool test_found(struct recorder_thread *thread, int result,
                                                 MPI_Request *request, const MPI_Status *status,
                                                 uint64_t handle, uint32_t origin)
{
    if (handle && *request == REQUEST_NULL)
        request_finished(handle, request);
    if (!recorder_wants(FUNCTION_MPI_Test))
        return false;
    if (result != MPI_SUCCESS)
        fail(thread, result);
    else if (test_resolves(origin))
        resolve_request(thread, status, -1);
    return true;
}

/* A test that its thread has not made before. */
static __attribute__((noinline)) int new_test(MPI_Request *request, int *flag, MPI_Status *status,
                                              uint64_t handle, uint32_t origin,
                                              int (*next)(MPI_Request *, int *, MPI_Status *),
                                              struct call *call)
{
    struct trace_signature signature = bare_signature(FUNCTION_MPI_Test);
    const uint64_t word[] = {memo_function(FUNCTION_MPI_Test), origin};
    label_origin(&signature, request_origin(origin));
    call_begin(call, &signature);
    int result = next(request, flag, status);
    call_stop(call);
    if (result == MPI_SUCCESS && !*flag) {
        uint32_t found = call->signature;
        call_record_poll(call, &signature);
        call_remember(call, word, 2, found);
        return result;
    }
    if (test_found(call->thread, result, request, status, handle, origin))
        call_record(call);
    else
        call_drop(call);
    return result;
}

/* The most frequent poll, by the same way: its memo knows the signatures of both outcomes. */
static int special_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status,
                            int (*next)(MPI_Request *, int *, MPI_Status *), const void *caller,
                            bool pmpi)
{
    struct call call;
    MPI_Status own_status;
    bool nested = !recorder_thread || recorder_thread->frame;
    if (__builtin_expect(nested, 0) && !call_enter(&call, caller, pmpi))
        return next(request, flag, status);
    uint64_t start = clock_ticks();
    uint64_t handle = request && *request != REQUEST_NULL ? HANDLE(*request) : 0;
    uint32_t origin = handle ? request_look(handle, request) : REQUEST_ORIGIN_UNKNOWN;
    if (status == STATUS_IGNORE && test_resolves(origin))
        status = &own_status;
    const uint64_t word[] = {memo_function(FUNCTION_MPI_Test), origin};
    const struct memo *memo = nested ? NULL : recorder_repeat(word, 2);
    if (__builtin_expect(!memo, 0)) {
        if (!nested && !call_enter(&call, caller, pmpi))
            return next(request, flag, status);
        return new_test(request, flag, status, handle, origin, next, &call);
    }
    uint32_t nothing = memo->signature, found = memo->origin;
    call_repeat_poll_since(&call, nothing, start);
    int result = next(request, flag, status);
    uint64_t end = clock_counter();
    struct recorder_thread *thread = call_repeated_poll(end);
    if (!thread)
        return result;
    if (result == MPI_SUCCESS && !*flag) {
        recorder_poll(thread, nothing, NULL, start, end);
        return result;
    }
    if (test_found(thread, result, request, status, handle, origin))
        recorder_event(thread, found, start, end);
    return result;
}

static int special_MPI_Finalize(int (*next)(void), const void *caller, bool pmpi)
{
    struct call call;
    if (!call_enter(&call, caller, pmpi))
        return next();
    likwid_regions_end();
    bool recorded = begin(&call, FUNCTION_MPI_Finalize);
    recorder_finalising(call.start);
    int result = next();
    call_stop(&call);
    end(&call, recorded, result);
    recorder_close();
    return result;
}

/* It does not come back, so its event is written before: of no duration. */
static int special_MPI_Abort(MPI_Comm comm, int errorcode, int (*next)(MPI_Comm, int),
                             const void *caller, bool pmpi)
{
    struct trace_signature signature = bare_signature(FUNCTION_MPI_Abort);
    struct call call;
    if (!call_enter(&call, caller, pmpi))
        return next(comm, errorcode);
    struct recorder_thread *thread = call.thread;
    if (dispatch_records(FUNCTION_MPI_Abort)) {
        signature.communicator = COMMUNICATOR(comm);
        call_begin(&call, &signature);
        call_stop(&call);
        call_record(&call);
    } else {
        call_leave(&call);
    }
    recorder_flush(thread);
    likwid_regions_end();
    return next(comm, errorcode);
}

#include "preload/mpi_wrappers.h"
