/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a rank trace: what writer and reader agree on (schema/README.md tells the rules). */
#ifndef SCOPE_TRACE_FORMAT_H
#define SCOPE_TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_MAGIC "SPTRACE\n" /* the first eight bytes, written last */
#define TRACE_SUFFIX ".sptrace"

enum {
    TRACE_MAJOR = 3, /* a reader refuses another major version */
    TRACE_MINOR = 2, /* and skips what a newer minor version adds */
    TRACE_BYTE_ORDER = 0x01020304,

    TRACE_PAGE = 4096,
    TRACE_ALIGN = 64 * 1024, /* the largest page of any machine: what is mapped begins at such */
    TRACE_SLOTS = 64,
    TRACE_WINDOW_MIN = 64 * 1024,
    TRACE_WINDOW_MAX = 4 * 1024 * 1024, /* that a reader takes; writers stay below */
    TRACE_WINDOW_MAGIC = 0x57505352, /* "RSPW" */
    TRACE_AREA_MAGIC = 0x41505352,   /* "RSPA" */
    TRACE_AREA_LARGEST = 256 * 1024, /* that writers take */
    TRACE_STATISTICS_SIZE = 256 * 1024,
    TRACE_COUNTED_OPERATIONS = 512,
};

/* Where the fixed parts lie. Windows and areas follow one another from TRACE_WINDOW_OFFSET on. */
enum {
    TRACE_HEADER_OFFSET = 0,
    TRACE_STATE_OFFSET = TRACE_PAGE,
    TRACE_SLOT_OFFSET = 2 * TRACE_PAGE,
    TRACE_STATISTICS_OFFSET = 3 * TRACE_PAGE,
    TRACE_FIXED_SIZE = TRACE_STATISTICS_OFFSET + TRACE_STATISTICS_SIZE,
    TRACE_WINDOW_OFFSET = (TRACE_FIXED_SIZE + TRACE_ALIGN - 1) / TRACE_ALIGN * TRACE_ALIGN,
};

enum trace_clock { CLOCK_SOURCE_MONOTONIC = 0, CLOCK_SOURCE_TSC = 1, CLOCK_SOURCE_CNTVCT = 2 };

enum trace_family {
    FAMILY_UNKNOWN = 0,
    FAMILY_OPENMPI = 1,
    FAMILY_MPICH = 2,
    FAMILY_STANDARD = 3, /* the standard binary interface of MPI 5.0 */
};

/* Why a trace stopped taking events. */
enum trace_stop {
    STOP_NONE = 0,
    STOP_LIMIT = 1,     /* the size allowed per trace */
    STOP_NO_SPACE = 2,  /* ENOSPC, EDQUOT */
    STOP_FILE_SIZE = 3, /* RLIMIT_FSIZE */
    STOP_NO_MEMORY = 4,
    STOP_IO = 5 /* any other error of the file system */
};

enum trace_phase {
    PHASE_OPENED = 1,      /* the header is there */
    PHASE_INITIALISED = 2, /* MPI_Init came back: init_end is valid */
    PHASE_FINALISED = 3,   /* MPI_Finalize was called: finalize_start is valid */
    PHASE_CLOSED = 4,      /* MPI_Finalize came back and everything is written */
};

enum trace_flag {
    TRACE_BUFFERED = 1, /* windows are written when they are full, not mapped: newer events than those
                           in the file may be in the rank's memory */
};

/* One instant on three clocks. Ticks are those of the trace's clock, shifted as the header says. */
struct trace_sync {
    uint64_t ticks;
    int64_t monotonic_ns;
    int64_t realtime_ns;
};

/* Page 0. Strings end in a zero byte; an empty string or -1 means unknown. */
struct trace_header {
    char magic[8];
    uint32_t byte_order;
    uint16_t major;
    uint16_t minor;
    uint32_t header_size; /* sizeof (struct trace_header) of the writer */
    uint32_t state_offset;
    uint32_t slot_offset;
    uint32_t slot_count;
    uint32_t statistics_offset;
    uint32_t window_offset;
    uint32_t flags; /* enum trace_flag */
    uint32_t rank;
    uint32_t world_size;
    uint32_t world_sequence; /* the how-manieth MPI program of its task */
    int32_t local_rank;
    int32_t node_id;
    int32_t restart; /* times the job was requeued */
    int32_t pid;
    uint32_t family;       /* enum trace_family */
    int32_t thread_level;  /* 0 single, 1 funneled, 2 serialized, 3 multiple */
    uint32_t clock_source; /* enum trace_clock */
    uint32_t clock_shift;  /* ticks are the clock's value >> clock_shift */
    struct trace_sync first_sync;
    char job[64];       /* "17.0", or "HOST-PID" without Slurm */
    char world[128];    /* the launcher's name for this MPI_COMM_WORLD */
    char node[64];      /* Slurm's name of the node */
    char host[64];      /* gethostname() */
    char host_key[192]; /* boot id, time namespace, host name: who shares it shares a clock */
    char mpi_version[256];
};

/* Page 1, changing. Words are written whole, phase and stopped after what they announce. */
struct trace_state {
    uint32_t phase;          /* enum trace_phase */
    uint32_t stopped;        /* enum trace_stop */
    uint64_t init_end;       /* ticks */
    uint64_t finalize_start; /* ticks */
    uint32_t sync_sequence;  /* odd while last_sync changes */
    uint32_t hides_requests; /* 1: some requests in flight may be in no area */
    struct trace_sync last_sync;
    uint64_t closed_size; /* bytes of the file when it was closed: fewer now, and it was cut off */
};

/* One cache line per thread: the call in flight. */
struct trace_slot {
    uint32_t stream;    /* number of the stream + 1; 0: never used */
    uint32_t signature; /* id + 1 of the call in flight; 0: outside MPI */
    uint64_t start;     /* ticks: when it began, stored before signature; while signature is 0, since
                           when it is; 0: never in a call */
    uint64_t dropped;   /* events of this stream that found no room */
    uint64_t array;       /* address of the requests that a call completes, */
    uint64_t array_size;  /* its bytes, */
    uint64_t array_start; /* and the start of that call: of another one they mean nothing */
    char reserved[16];
};

/* Calls that were made when the trace took no more events, by what they were. Whatever is behind the
 * counts is not there yet. */
struct trace_statistics {
    uint32_t operation_count; /* written after the operation it counts in */
    uint32_t counted_count;   /* likewise */
    char reserved[56];
    struct trace_counted_operation {
        uint32_t kind; /* enum mpi_kind */
        char name[60]; /* ends in a zero byte */
    } operations[TRACE_COUNTED_OPERATIONS];
    struct trace_counted {
        uint64_t count;
        uint64_t ticks;     /* in these calls */
        int64_t bytes;      /* these as in a signature, */
        uint32_t operation; /* but operation and origin - 1 are places in operations */
        uint32_t origin;
        int32_t peer, root, tag, communicator;
    } counted[(TRACE_STATISTICS_SIZE - 64 - TRACE_COUNTED_OPERATIONS * 64) / 48];
};

/* At the start of every window; records follow. */
struct trace_window {
    uint32_t size;     /* bytes of the window, header included; written before any later window */
    uint32_t magic;    /* written when the rest of this header is valid */
    uint32_t stream;   /* dense numbers from 0; 0 is the thread that called MPI_Init */
    uint32_t sequence; /* of this window in its stream, from 0 */
    uint64_t first_ticks; /* the previous event's end for the first record */
    struct trace_sync sync;
    int32_t thread_id; /* gettid() */
    uint32_t used;     /* bytes up to the last record's end, once the window is full; else 0 */
};

/* At the start of every area: memory of the process that lies in the file, so that it can be looked
 * at. Between windows, with the same size and magic in the same places; entries follow. */
struct trace_area {
    uint32_t size;  /* bytes of the area, header included; written before anything later */
    uint32_t magic; /* written when the rest of this header is valid */
    uint32_t kind;  /* enum trace_area_kind; a reader skips those it does not know */
    uint32_t entry_size; /* bytes; what is known of an entry is at its beginning */
    uint32_t entry_count;
    uint32_t first; /* number of the first entry, where entries have numbers */
    char reserved[40];
};

enum trace_area_kind {
    AREA_REQUESTS = 1, /* struct trace_request, in any order */
    AREA_ORIGINS = 2,  /* struct trace_request_origin, by number; 0 is the unknown one */
    AREA_COUNTERS = 3, /* struct trace_counters with its values behind it, in any order */
};

/* A request that the program has and MPI has not given back yet. Changes at any time, member by
 * member. */
struct trace_request {
    uint32_t handle_low, address_low; /* the handle, and where the program keeps it: 48 bits each */
    uint16_t handle_high, address_high;
    uint32_t origin; /* TRACE_REQUEST_*; 0: free */
};

enum {
    TRACE_REQUEST_ORIGIN = (1 << 20) - 1, /* number of the origin */
    TRACE_REQUEST_IN_FLIGHT = 1 << 24,
    TRACE_REQUEST_SHARED = 1 << 25, /* others had the handle while it did: no request that still has
                                       anything to do shares its handle */
};

/* The call that started a request. Complete before any request refers to it, and final. */
struct trace_request_origin {
    int64_t bytes; /* these as in a signature */
    int32_t peer, tag, communicator;
    uint32_t kind; /* enum mpi_kind */
    char name[40]; /* ends in a zero byte */
};

/* What LIKWID has counted in a region on one CPU so far. Its values, doubles, fill the entry. */
struct trace_counters {
    uint32_t sequence;    /* odd while anything else changes; 0: free */
    uint32_t event_count; /* of the values that there are */
    int32_t cpu;
    int32_t group; /* number of the event set */
    int64_t calls;
    double seconds;
    char tag[96]; /* ends in a zero byte */
};

/* A record is a varint tag and its payload. A zero byte where a tag would begin ends the window.
 * Tags below TRACE_TAG_EVENT are control records: tag, varint length of the payload, payload; a
 * reader skips those it does not know. All others are events of signature (tag - TRACE_TAG_EVENT):
 * varint gap (ticks since the previous event's end in this stream), varint duration (ticks).
 */
enum trace_tag {
    TRACE_TAG_OPERATION = 1,    /* varint kind, name: the rest of the payload; ids count from 0 */
    TRACE_TAG_SIGNATURE = 2,    /* operation, origin + 1; zigzag bytes, peer, root, tag, comm */
    TRACE_TAG_COMMUNICATOR = 3, /* see struct trace_communicator */
    TRACE_TAG_BACK = 4, /* varint n: the previous event's end counts as n ticks earlier (the end
                           of an enclosing call is written after the calls it encloses) */
    TRACE_TAG_RESOLVE = 5,      /* struct trace_message: what a wildcard receive got that the next
                                   event finished */
    TRACE_TAG_SYNC = 6, /* ticks (8 bytes), monotonic (8), realtime (8) */
    TRACE_TAG_COMPLETION = 7, /* varint indices of the requests that the next event finished */
    TRACE_TAG_NAME = 8,       /* varint communicator id, its name: the rest of the payload */
    TRACE_TAG_POLLS = 9,      /* struct trace_polls, changing: the event before it, a poll that found
                                 nothing, was the first of a run */
    TRACE_TAG_POLLED = 10,    /* struct trace_polled, changing: the polls of one signature in the run
                                 before it; the first is counted in */
    TRACE_TAG_FAILED = 11,    /* varint error class: the call of the next event returned an error, or
                                 was left without returning: TRACE_FAILED_LEFT */
    TRACE_TAG_PAUSE = 12,     /* varint 1 paused, 0 resumed; varint ticks */
    TRACE_TAG_SENDING = 13,   /* struct trace_message: a persistent send that the next event started,
                                 perhaps with others; all of them are told, or none */
    TRACE_TAG_RECEIVING = 14, /* the same of a persistent receive */
    TRACE_TAG_EVENT = 16
};

enum { TRACE_FAILED_LEFT = 0 }; /* by longjmp or an exception; 0 is the class of success */

enum {
    TRACE_RECORD_MAX = 3 * 9 + 16
};                            /* room an event needs, headroom of the last varint included */
enum { TRACE_NAME_MAX = 64 }; /* bytes of an operation's name */

/* A message that one of several requests stands for. In the trace: zigzag peer, tag, bytes; varint
 * index, left out where there is none. */
struct trace_message {
    int64_t peer; /* the rank at the other side */
    int64_t tag, bytes;
    int64_t index; /* of the request in the event's array; -1: it has none */
};

/* The payloads of TRACE_TAG_POLLS and TRACE_TAG_POLLED as they lie in the trace, unaligned. They are
 * the only ones that change after they were committed, each member by one store, and a reader makes
 * sense of any mixture of old and new ones. A run is a TRACE_TAG_POLLS with the TRACE_TAG_POLLED
 * directly behind it, directly behind the event of its first poll: they are one event, from that
 * one's start to `end`, of `signature`. The next event's gap counts from `end`. */
struct trace_polls {
    uint64_t end;       /* ticks: of the latest poll */
    uint32_t signature; /* id of what the polls have in common: fields that differ are -1 */
} __attribute__((packed));

struct trace_polled {
    uint64_t count;
    uint64_t busy;      /* ticks spent in these polls */
    uint32_t signature; /* id */
} __attribute__((packed));

/* What a call was: two calls with equal fields share a signature. */
struct trace_signature {
    uint32_t operation; /* id of the operation in the stream */
    uint32_t origin;    /* id + 1 of the operation that made the request waited for; 0: no request;
                           ORIGIN_UNKNOWN, ORIGIN_MIXED */
    int64_t bytes;      /* -1: cannot be known */
    int32_t peer;       /* rank in the communicator; PEER_* */
    union {
        int32_t root;
        int32_t received; /* of a call with an origin: how many receives there were among the
                             requests that it finished or started; -1: as many as it had requests
                             at all, which was one */
        int32_t source; /* of one that sends and receives: PEER_*; PEER_NONE also where the tag is
                           another one */
    };
    int32_t tag;
    int32_t communicator; /* id in the process: 0 MPI_COMM_WORLD, 1 MPI_COMM_SELF, -1 unknown */
};

enum { ORIGIN_NONE = 0, ORIGIN_UNKNOWN = UINT32_MAX, ORIGIN_MIXED = UINT32_MAX - 1 };
enum { PEER_NONE = -1 /* also any source, any tag */, PEER_PROC_NULL = -2, PEER_ROOT = -3 };

enum trace_communicator_kind { COMMUNICATOR_INTRA = 0, COMMUNICATOR_INTER = 1 };

/* A communicator as one rank sees it. Ranks that share a key share the communicator. */
struct trace_communicator {
    uint32_t id;        /* in the process, from 0, never reused */
    uint32_t kind;      /* enum trace_communicator_kind */
    int32_t parent;     /* id, -1 unknown or none */
    uint32_t rank;      /* of this process in it */
    uint32_t size;      /* members of the local group */
    uint64_t key;       /* equal on all members; 0: not known to be */
    uint64_t handle;    /* the Fortran handle (MPI_Comm_c2f) */
    uint32_t run_count; /* the members' world ranks as runs: first, count, stride */
    const struct trace_rank_run *runs;
};

struct trace_rank_run {
    uint32_t first;
    uint32_t count;
    int32_t stride;
};

_Static_assert(sizeof(struct trace_header) <= TRACE_PAGE, "the header fits its page");
_Static_assert(sizeof(struct trace_state) <= TRACE_PAGE, "the state fits its page");
_Static_assert(sizeof(struct trace_slot) == 64, "a slot is one cache line");
_Static_assert(TRACE_SLOTS * sizeof(struct trace_slot) <= TRACE_PAGE, "the slots fit their page");
_Static_assert(sizeof(struct trace_counted) == 48, "no padding in what is counted");
_Static_assert(sizeof(struct trace_statistics) <= TRACE_STATISTICS_SIZE, "statistics fit their area");
_Static_assert(sizeof(struct trace_window) == 56, "no padding in the window header");
_Static_assert(sizeof(struct trace_area) == 64, "no padding in the area header");
_Static_assert(sizeof(struct trace_counters) == 128, "no padding in counters");
_Static_assert(sizeof(struct trace_request) == 16, "no padding in a request");
_Static_assert(sizeof(struct trace_request_origin) == 64, "no padding in an origin");

#endif
