/* SPDX-License-Identifier: BSD-3-Clause */
/* killer KILLS SEED DIRECTORY VICTIM: kills VICTIM at random instants, KILLS times while it runs,
 * and besides one time in eight before it has come out of MPI_Init. After each its trace is to hold
 * what it has done, and nothing else: every call that its log says has returned, none that the log
 * does not say was begun.
 *
 * Prints what was found, and is silent else but for a line at the end. Exit status 0: all was well.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "schema/run_environment.h"
#include "schema/trace_reader.h"
#include "tests/kill/sequence.h"

enum { RUN_SIZE = 512, START_MAX_US = 20000000, LATER_US = 30000 };

static const char *const names[] = {"init_thread", "send", "barrier", "iprobe", "isend", "wait"};

static struct {
    unsigned long before_mpi, in_init, later, in_call; /* where kills have hit */
    uint64_t calls;
} hits;
static uint64_t seed;

static void die(const char *what)
{
    perror(what);
    exit(99);
}

static uint32_t random_below(uint32_t limit)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)((seed >> 16) % limit);
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* --- the victim ------------------------------------------------------------------------------- */

static pid_t start(const char *victim, const char *run, const char *threads, const char *batch,
                   int log[static 2])
{
    if (pipe2(log, O_CLOEXEC | O_NONBLOCK) < 0)
        die("pipe");
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child > 0) {
        close(log[1]);
        return child;
    }
    const char *preload = getenv("KILLER_PRELOAD");
    int fd = dup2(log[1], LOG_FD); /* the copy is not closed by exec */
    if (fd < 0 || fcntl(fd, F_SETFL, 0) < 0 || setenv(RUN_ENV_RUN, run, 1) < 0 || !preload ||
        setenv("LD_PRELOAD", preload, 1) < 0)
        _exit(3);
    execl(victim, victim, threads, batch, NULL);
    _exit(3);
}

/* Takes some of what the log holds; false if that is nothing. */
static bool take(int log, struct progress *reached)
{
    struct progress entries[1024];
    ssize_t size = read(log, entries, sizeof entries);
    if (size > 0 && size % (ssize_t)sizeof *entries != 0)
        die("a log entry that was cut"); /* a pipe does not cut them */
    for (ssize_t i = 0; i < size / (ssize_t)sizeof *entries; i++)
        reached[entries[i].thread] = entries[i];
    return size > 0;
}

/* Reads the log until the instant comes, or the victim is out of MPI_Init. */
static void follow(int64_t instant, int log, struct progress *reached, bool only_init)
{
    int64_t left;
    while ((left = instant - now_us()) > 0 && !(only_init && reached[0].returned > 0)) {
        const struct timespec wait = {left / 1000000, left % 1000000 * 1000};
        struct pollfd readable = {.fd = log, .events = POLLIN};
        if (ppoll(&readable, 1, &wait, NULL) > 0)
            take(log, reached);
        if (readable.revents & POLLHUP)
            break;
    }
}

/* Kills the victim at a random instant, and takes all that it has logged. */
static void kill_some_time(pid_t child, int log, struct progress *reached)
{
    static int64_t longest_start = 1000; /* us */
    int64_t begin = now_us();
    int status;
    if (random_below(8) == 0) {
        follow(begin + random_below((uint32_t)longest_start), log, reached, false);
    } else {
        follow(begin + START_MAX_US, log, reached, true);
        if (now_us() - begin > longest_start)
            longest_start = now_us() - begin;
        follow(now_us() + random_below(LATER_US), log, reached, false);
    }
    kill(child, SIGKILL);
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        die("the victim has ended by itself");
    while (take(log, reached))
        ;
}

/* --- its trace -------------------------------------------------------------------------------- */

/* The only trace below the run directory; false if there is none. */
static bool find_trace(const char *run, char *path, size_t size)
{
    struct dirent *entry;
    bool found = false;
    DIR *directory = opendir(run);
    while (directory && (entry = readdir(directory)))
        if (entry->d_name[0] != '.' && entry->d_type == DT_DIR) {
            snprintf(path, size, "%s/%s/rank-000000" TRACE_SUFFIX, run, entry->d_name);
            found = access(path, F_OK) == 0;
        }
    if (directory)
        closedir(directory);
    return found;
}

/* A stream's calls so far; whose it is its first send tells, and until then nobody. */
struct chain {
    bool known;
    uint32_t thread, count;
    enum sequence_call calls[64]; /* the first ones, to be checked once it is known */
};

static bool is_next(const struct chain *chain, enum sequence_call call, uint32_t index)
{
    return sequence_call(chain->thread, index) == call;
}

static bool learn_thread(struct chain *chain, const struct trace_signature *signature)
{
    chain->known = true;
    chain->thread = (uint32_t)signature->tag / TAGS;
    if (chain->thread >= THREADS_MAX)
        return false;
    for (uint32_t i = 0; i < chain->count; i++)
        if (!is_next(chain, chain->calls[i], i))
            return false;
    return true;
}

/* One more call of a stream: false if the thread did not make it. */
static bool add_call(struct chain *chain, const struct trace_operation *operation,
                     const struct trace_signature *signature)
{
    uint32_t call = 0;
    while (call < sizeof names / sizeof *names && strcmp(names[call], operation->name) != 0)
        call++;
    bool sends = call == CALL_SEND || call == CALL_ISEND;
    if (!chain->known && sends && !learn_thread(chain, signature))
        return false;
    if (!chain->known && call == CALL_INIT) {
        chain->known = true;
        chain->thread = 0;
    }
    if (!chain->known) {
        if (chain->count == sizeof chain->calls / sizeof *chain->calls)
            return false;
        chain->calls[chain->count++] = (enum sequence_call)call;
        return true;
    }
    uint32_t index = chain->count++;
    return is_next(chain, (enum sequence_call)call, index) &&
           (!sends || (signature->tag == sequence_tag(chain->thread, index) &&
                       signature->bytes == 4 * sequence_ints(index) && signature->peer == -2));
}

static bool add_record(struct trace_reader *reader, const struct trace_record *record,
                       struct chain *chain)
{
    uint64_t count = 1;
    uint32_t id = record->event.signature;
    if (record->type == RECORD_POLLS) {
        id = record->polls.first;
        count = 0;
        for (size_t i = 0; i < record->polls.count; i++)
            count += record->polls.polled[i].count;
    } else if (record->type != RECORD_EVENT) {
        return true;
    }
    const struct trace_signature *signature = trace_reader_signature(reader, record->stream, id);
    const struct trace_operation *operation =
        signature ? trace_reader_operation(reader, record->stream, signature->operation) : NULL;
    if (!operation)
        return false;
    while (count-- > 0)
        if (!add_call(chain, operation, signature))
            return false;
    return true;
}

/* Reads the trace into chains; false with err, or if a call was not made. */
static bool read_trace(const char *path, struct chain *chains, struct error *err)
{
    struct trace_reader *reader;
    struct trace_record record;
    int status;
    if (trace_reader_open(&reader, AT_FDCWD, path, err) < 0)
        return false;
    while ((status = trace_reader_next(reader, &record, err)) > 0) {
        if (record.stream >= THREADS_MAX || !add_record(reader, &record, &chains[record.stream])) {
            error_set(err, "stream %u, call %u: the program did not make it", record.stream,
                      record.stream < THREADS_MAX ? chains[record.stream].count : 0);
            break;
        }
    }
    trace_reader_close(reader);
    return status == 0;
}

/* Whether every thread's calls are those of its log. */
static bool agree(const struct chain *chains, const struct progress *reached, struct error *err)
{
    uint32_t counts[THREADS_MAX] = {0};
    for (int i = 0; i < THREADS_MAX; i++)
        if (chains[i].known)
            counts[chains[i].thread] += chains[i].count;
    for (int i = 0; i < THREADS_MAX; i++) {
        /* Calls before the first send are few. */
        bool unknown = counts[i] == 0 && i > 0;
        uint32_t least = unknown && reached[i].returned < 16 ? 0 : reached[i].returned;
        if (counts[i] < least || counts[i] > reached[i].begun) {
            error_set(err, "thread %d: %u calls in the trace, %u have returned, %u were begun", i,
                      counts[i], reached[i].returned, reached[i].begun);
            return false;
        }
        hits.calls += counts[i];
        hits.in_call += counts[i] < reached[i].begun;
    }
    return true;
}

static bool is_good(const char *run, const struct progress *reached, struct error *err)
{
    static struct chain chains[THREADS_MAX];
    char path[RUN_SIZE + 300];
    memset(chains, 0, sizeof chains);
    hits.before_mpi += reached[0].begun == 0;
    hits.in_init += reached[0].begun == 1 && reached[0].returned == 0;
    hits.later += reached[0].returned > 0;
    bool found = find_trace(run, path, sizeof path);
    if (reached[0].returned == 0) { /* the trace may be there, even begun, or not */
        struct stat status;
        return !found || stat(path, &status) < 0 || !read_trace(path, chains, err) ||
               agree(chains, reached, err);
    }
    if (!found)
        error_set(err, "there is no trace");
    return found && read_trace(path, chains, err) && agree(chains, reached, err);
}

static void remove_run(const char *run)
{
    char command[RUN_SIZE + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", run);
    if (system(command) != 0)
        die(command);
}

int main(int argc, char **argv)
{
    static const char *const threads[] = {"1", "1", "3"}, *const batches[] = {"1", "64", "1000"};
    unsigned bad = 0, kills = argc == 5 ? (unsigned)atoi(argv[1]) : 0;
    if (kills == 0) {
        fprintf(stderr, "usage: killer KILLS SEED DIRECTORY VICTIM\n");
        return 64;
    }
    seed = strtoull(argv[2], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    /* A victim that does not come out of MPI_Init is not waited for without end. */
    unsigned rounds_max = 2 * kills + 20;
    for (unsigned i = 0; hits.later < kills && i < rounds_max && bad < 5; i++) {
        struct progress reached[THREADS_MAX] = {{0}};
        struct error err = {""};
        char run[RUN_SIZE];
        int log[2];
        snprintf(run, sizeof run, "%s/run-%u", argv[3], i);
        const char *thread_count = threads[random_below(3)], *batch = batches[random_below(3)];
        pid_t child = start(argv[4], run, thread_count, batch, log);
        kill_some_time(child, log[0], reached);
        close(log[0]);
        if (!is_good(run, reached, &err)) {
            printf("# kill %u, %s threads, batches of %s: %s\n", i, thread_count, batch,
                   err.text);
            bad++;
            continue; /* it is left to be looked at */
        }
        remove_run(run);
    }
    printf("# %lu kills before MPI_Init, %lu in it, %lu later, %lu threads in a batch; %" PRIu64
           " calls\n",
           hits.before_mpi, hits.in_init, hits.later, hits.in_call, hits.calls);
    return bad > 0 || hits.later < kills;
}
