/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a run directory of any size: what a ring of ranks on several hosts might have recorded.
 *
 * Each rank sends to the next one and receives from the one before, in turn with a collective of
 * all. Messages have REGIONS different tags. A rank's events are EVENTS, whose times are the same
 * for all: truth is known, and host clocks are wrong by as much as is asked for.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/job_record.h"
#include "schema/trace_writer.h"

#define REALTIME INT64_C(1764500000000000000)

enum { GAP_NS = 700, CALL_NS = 1300, LATENCY_NS = 900 }; /* of a call, outside and inside */
enum {
    KEY_EVENTS = 256,
    KEY_REGIONS,
    KEY_HOSTS,
    KEY_OFFSET,
    KEY_DRIFT,
    KEY_STEP,
    KEY_MISSING,
    KEY_CUT,
    KEY_ALIKE,
    KEY_COMMUNICATORS,
    KEY_NOISE,
    KEY_WHAT,
};

static struct {
    const char *directory, *what;
    uint32_t ranks, regions, hosts, missing, cut, communicators;
    uint64_t events, noise_ns;
    double offset_ns, drift_ppm, step_ns;
    bool alike;
} plan = {.ranks = 4, .regions = 10, .hosts = 2, .events = 1000};

static const struct argp_option options[] = {
    {"ranks", 'n', "N", 0, "Ranks (4)", 0},
    {"events", KEY_EVENTS, "N", 0, "Events of each rank (1000)", 0},
    {"regions", KEY_REGIONS, "N", 0, "Different tags of messages (10)", 0},
    {"hosts", KEY_HOSTS, "N", 0, "Hosts (2), each with the same number of ranks", 0},
    {"alike", KEY_ALIKE, NULL, 0, "Instead of messages, reductions of REGIONS different sizes", 0},
    {"communicators", KEY_COMMUNICATORS, "N", 0, "Communicators that nobody uses", 0},
    {"noise", KEY_NOISE, "NS", 0, "Times between and in calls are up to NS longer, at random", 0},
    {"what", KEY_WHAT, "WHAT", 0, "What asked for the profile", 0},
    {"offset", KEY_OFFSET, "NS", 0, "Host i's real-time clock is ahead by i * NS", 0},
    {"drift", KEY_DRIFT, "PPM", 0, "Host i's clocks are faster by i * PPM", 0},
    {"step", KEY_STEP, "NS", 0, "Real-time clocks but the first jump by NS in the middle", 0},
    {"missing", KEY_MISSING, "N", 0, "The last N ranks have no trace", 0},
    {"cut", KEY_CUT, "N", 0, "The first N ranks were killed", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    double value = argument ? strtod(argument, NULL) : 0;
    switch (key) {
    case 'n':
        plan.ranks = (uint32_t)value;
        return 0;
    case KEY_EVENTS:
        plan.events = (uint64_t)value;
        return 0;
    case KEY_REGIONS:
        plan.regions = (uint32_t)value;
        return 0;
    case KEY_HOSTS:
        plan.hosts = (uint32_t)value;
        return 0;
    case KEY_ALIKE:
        plan.alike = true;
        return 0;
    case KEY_COMMUNICATORS:
        plan.communicators = (uint32_t)value;
        return 0;
    case KEY_NOISE:
        plan.noise_ns = (uint64_t)value;
        return 0;
    case KEY_WHAT:
        plan.what = argument;
        return 0;
    case KEY_OFFSET:
        plan.offset_ns = value;
        return 0;
    case KEY_DRIFT:
        plan.drift_ppm = value;
        return 0;
    case KEY_STEP:
        plan.step_ns = value;
        return 0;
    case KEY_MISSING:
        plan.missing = (uint32_t)value;
        return 0;
    case KEY_CUT:
        plan.cut = (uint32_t)value;
        return 0;
    case ARGP_KEY_ARG:
        plan.directory = argument;
        return 0;
    case ARGP_KEY_END:
        if (!plan.directory || !plan.ranks || !plan.regions || !plan.hosts)
            argp_error(state, "a directory, please, and numbers that are not 0");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- clocks ------------------------------------------------------------------------------------
 */

static uint32_t host;
static int64_t now; /* the truth, ns */

/* The host's CLOCK_MONOTONIC, which is the ticks of its traces as well. */
static int64_t monotonic(int64_t time)
{
    return INT64_C(1000000000) * (host + 1) +
           (int64_t)((double)time * (1 + 1e-6 * plan.drift_ppm * host));
}

static void read_clocks(struct trace_sync *sync)
{
    int64_t middle = (int64_t)plan.events * (GAP_NS + CALL_NS) / 2;
    sync->monotonic_ns = monotonic(now);
    sync->ticks = (uint64_t)sync->monotonic_ns;
    sync->realtime_ns = REALTIME + monotonic(now) - monotonic(0) + (int64_t)(plan.offset_ns * host);
    if (host > 0 && now > middle)
        sync->realtime_ns += (int64_t)plan.step_ns;
}

/* --- one rank ----------------------------------------------------------------------------------
 */

enum { SEND, RECV, ALLREDUCE, OPERATIONS };

struct maker {
    struct trace_writer writer;
    struct trace_stream stream;
    uint32_t operations[OPERATIONS];
    uint32_t *sends, *receives; /* signatures by tag */
    uint32_t *reductions;       /* by size */
};

static void die(const char *what)
{
    fprintf(stderr, "make_run: %s\n", what);
    exit(1);
}

static void define(struct maker *maker, uint32_t rank)
{
    static const char *const names[] = {"send", "recv", "allreduce"};
    struct trace_rank_run all = {.first = 0, .count = plan.ranks, .stride = 1};
    struct trace_communicator world = {
        .rank = rank, .size = plan.ranks, .parent = -1, .run_count = 1, .runs = &all};
    struct trace_signature signature = {.bytes = 8, .peer = -1, .root = -1, .tag = -1};
    trace_stream_communicator(&maker->stream, &world);
    for (uint32_t i = 0; i < plan.communicators; i++) {
        world.id = 2 + i;
        world.key = 1000 + i;
        world.parent = 0;
        trace_stream_communicator(&maker->stream, &world);
    }
    for (int i = 0; i < OPERATIONS; i++)
        maker->operations[i] = trace_stream_operation(
            &maker->stream, i == ALLREDUCE ? KIND_COLLECTIVE : KIND_POINT_TO_POINT, names[i]);
    for (uint32_t size = 0; size < (plan.alike ? plan.regions : 1); size++) {
        signature.operation = maker->operations[ALLREDUCE];
        signature.bytes = 8 * (size + 1);
        maker->reductions[size] = trace_stream_signature(&maker->stream, &signature);
    }
    signature.bytes = 8;
    for (uint32_t tag = 0; tag < (plan.alike ? 0 : plan.regions); tag++) {
        signature.tag = (int32_t)tag;
        signature.operation = maker->operations[SEND];
        signature.peer = (int32_t)((rank + 1) % plan.ranks);
        maker->sends[tag] = trace_stream_signature(&maker->stream, &signature);
        signature.operation = maker->operations[RECV];
        signature.peer = (int32_t)((rank + plan.ranks - 1) % plan.ranks);
        maker->receives[tag] = trace_stream_signature(&maker->stream, &signature);
    }
}

static void begin_rank(struct maker *maker, int dirfd, uint32_t rank)
{
    struct error err;
    char name[64];
    struct trace_header header = {.rank = rank,
                                  .world_size = plan.ranks,
                                  .pid = 1000 + (int32_t)rank,
                                  .node_id = (int32_t)host,
                                  .clock_source = CLOCK_SOURCE_MONOTONIC};
    now = 0;
    read_clocks(&header.first_sync);
    snprintf(header.job, sizeof(header.job), "17.0");
    snprintf(header.world, sizeof(header.world), "made-up");
    snprintf(header.host, sizeof(header.host), "node%u", host);
    snprintf(header.node, sizeof(header.node), "node%u", host);
    snprintf(header.host_key, sizeof(header.host_key), "boot-node%u", host);
    snprintf(header.mpi_version, sizeof(header.mpi_version), "Made-up MPI 1.0");
    snprintf(name, sizeof(name), "rank-%06u" TRACE_SUFFIX, rank);
    if (trace_writer_create(&maker->writer, dirfd, name, &header, UINT64_C(1) << 40, read_clocks,
                            &err) < 0)
        die(err.text);
    trace_writer_initialised(&maker->writer, (uint64_t)monotonic(now));
    trace_stream_open(&maker->stream, &maker->writer, (uint64_t)monotonic(now));
    define(maker, rank);
}

/* The same for each run, and whatever the compressor it tells it nothing. */
static int64_t noise(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return plan.noise_ns ? (int64_t)((*state >> 33) % plan.noise_ns) : 0;
}

/* In each step two calls: a message to the next rank and one from the previous one; every eighth
 * call is an allreduce. */
static void make_rank(struct maker *maker, int dirfd, uint32_t rank)
{
    host = (uint32_t)((uint64_t)rank * plan.hosts / plan.ranks);
    uint64_t state = rank;
    begin_rank(maker, dirfd, rank);
    for (uint64_t i = 0; i < plan.events; i++) {
        bool is_send = i % 2 == 0;
        uint32_t tag = (uint32_t)(i / 2 % plan.regions);
        uint32_t signature = plan.alike   ? maker->reductions[i % plan.regions]
                             : i % 8 == 7 ? maker->reductions[0]
                             : is_send    ? maker->sends[tag]
                                          : maker->receives[tag];
        int64_t start = now + GAP_NS + noise(&state);
        int64_t end = start + (is_send ? LATENCY_NS : CALL_NS) + noise(&state);
        now = end;
        if (!trace_stream_event(&maker->stream, signature, (uint64_t)monotonic(start),
                                (uint64_t)monotonic(end)))
            die("no room for the traces");
        if (i % 100000 == 99999)
            trace_stream_sync(&maker->stream);
    }
    if (rank >= plan.cut)
        trace_writer_finalised(&maker->writer, (uint64_t)monotonic(now));
    trace_stream_close(&maker->stream);
    if (rank >= plan.cut)
        trace_writer_close(&maker->writer);
    else
        trace_writer_abandon(&maker->writer);
}

int main(int argc, char **argv)
{
    static const struct argp parser = {
        .options = options, .parser = parse, .args_doc = "DIRECTORY", .doc = "Makes up a run."};
    struct maker maker;
    argp_parse(&parser, argc, argv, 0, NULL, NULL);
    maker.sends = calloc(plan.regions, sizeof(*maker.sends));
    maker.receives = calloc(plan.regions, sizeof(*maker.receives));
    maker.reductions = calloc(plan.regions, sizeof(*maker.reductions));
    if (!maker.sends || !maker.receives || !maker.reductions)
        die("out of memory");
    if (mkdir(plan.directory, 0777) < 0)
        die(strerror(errno));
    int run = open(plan.directory, O_RDONLY | O_DIRECTORY);
    if (run < 0 || mkdirat(run, "made-up-0", 0777) < 0)
        die(strerror(errno));
    char buffer[4096];
    struct job_record_text job = {.buffer = buffer, .size = sizeof(buffer)};
    job_record_begin(&job);
    job_record_add(&job, "job", "17.0");
    job_record_add(&job, "what", plan.what);
    job_record_publish(&job, run, NULL);
    int world = openat(run, "made-up-0", O_RDONLY | O_DIRECTORY);
    for (uint32_t rank = 0; rank + plan.missing < plan.ranks; rank++)
        make_rank(&maker, world, rank);
    free(maker.sends);
    free(maker.receives);
    free(maker.reductions);
    return 0;
}
