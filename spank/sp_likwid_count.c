/* SPDX-License-Identifier: BSD-3-Clause */
/* sp-likwid-count: counts for a rank whose program has no LIKWID markers of its own.
 *
 * A rank starts it and tells it what to do (schema/likwid_count.h). A child does the work, with
 * liblikwid in it; whatever becomes of the child, it has no effect on the rank but the reason why
 * nothing is counted. The markers are LIKWID's, so that what they leave is what a program with
 * markers of its own leaves: also where the rank is killed, for its death ends the regions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "schema/descriptors.h"
#include "schema/likwid_count.h"

/* How long a child may work on when its rank has gone, and look for what it leaves. */
enum { LIMIT_MS = 5000, LOOK_MS = 20, SOCKET_FLOOR = 16 };

static void reply(int rank, bool is_failed, const char *reason)
{
    struct likwid_count_reply reply = {.is_failed = is_failed};
    snprintf(reply.reason, sizeof reply.reason, "%s", reason);
    (void)send(rank, &reply, sizeof reply, MSG_NOSIGNAL);
}

/* --- in the child --------------------------------------------------------------------------------
 */

static struct {
    void (*init)(void), (*thread_init)(void), (*next_group)(void), (*close)(void);
    int (*start)(const char *tag), (*stop)(const char *tag);
    void (*get)(const char *tag, int *events, double *values, double *time, int *count);
    int (*group_count)(void), (*group)(void);
} likwid;

static struct {
    int *list;
    bool *is_in_mpi;
    size_t count;
} cpus;

static _Noreturn void give_up(int rank, const char *reason)
{
    reply(rank, true, reason);
    _exit(1);
}

static void find(int rank, void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    if (!address)
        give_up(rank, "this liblikwid lacks a function");
    memcpy(function, &address, sizeof address);
}

static void load(int rank)
{
    void *library = dlopen("liblikwid.so.5", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        library = dlopen("liblikwid.so", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        give_up(rank, "LIKWID is not there");
    find(rank, library, "likwid_markerInit", &likwid.init);
    find(rank, library, "likwid_markerThreadInit", &likwid.thread_init);
    find(rank, library, "likwid_markerStartRegion", &likwid.start);
    find(rank, library, "likwid_markerStopRegion", &likwid.stop);
    find(rank, library, "likwid_markerGetRegion", &likwid.get);
    find(rank, library, "likwid_markerNextGroup", &likwid.next_group);
    find(rank, library, "likwid_markerClose", &likwid.close);
    find(rank, library, "perfmon_getNumberOfGroups", &likwid.group_count);
    find(rank, library, "perfmon_getIdOfActiveGroup", &likwid.group);
}

/* "0,1,7", of which the first are the ones that there is memory for. */
static void read_cpus(const char *text)
{
    size_t room = strlen(text) / 2 + 1;
    cpus.list = calloc(room, sizeof *cpus.list);
    cpus.is_in_mpi = calloc(room, sizeof *cpus.is_in_mpi);
    while (cpus.list && cpus.is_in_mpi && *text && cpus.count < room) {
        char *end;
        cpus.list[cpus.count++] = (int)strtol(text, &end, 10);
        text = *end == ',' ? end + 1 : end + strlen(end);
    }
}

/* A region counts where its thread is. */
static bool move(int cpu)
{
    size_t size = CPU_ALLOC_SIZE(cpu + 1);
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    if (!set)
        return false;
    CPU_ZERO_S(size, set);
    CPU_SET_S((size_t)cpu, size, set);
    int status = sched_setaffinity(0, size, set);
    CPU_FREE(set);
    return status == 0;
}

static void start_all(void)
{
    for (size_t i = 0; i < cpus.count; i++) {
        if (move(cpus.list[i]))
            likwid.start(LIKWID_COUNT_APP);
    }
}

static void stop_all(bool is_last)
{
    for (size_t i = 0; i < cpus.count; i++) {
        if (!move(cpus.list[i]))
            continue;
        if (cpus.is_in_mpi[i] && is_last)
            likwid.stop(LIKWID_COUNT_MPI);
        likwid.stop(LIKWID_COUNT_APP);
    }
}

static void tell(int rank, const char *tag, int cpu)
{
    struct likwid_count_result result = {.cpu = cpu, .group = likwid.group()};
    int events = LIKWID_COUNT_EVENTS;
    snprintf(result.tag, sizeof result.tag, "%s", tag);
    likwid.get(tag, &events, result.values, &result.seconds, &result.calls);
    result.event_count = events;
    if (result.calls > 0)
        (void)send(rank, &result, sizeof result, MSG_NOSIGNAL);
}

static void tell_all(int rank, bool has_mpi)
{
    for (size_t i = 0; i < cpus.count && i < LIKWID_COUNT_CPUS; i++) {
        if (!move(cpus.list[i]))
            continue;
        tell(rank, LIKWID_COUNT_APP, cpus.list[i]);
        if (has_mpi)
            tell(rank, LIKWID_COUNT_MPI, cpus.list[i]);
    }
}

/* Events of several sets take turns. */
static void look(int rank, bool has_mpi)
{
    stop_all(false);
    tell_all(rank, has_mpi);
    if (likwid.group_count() > 1)
        likwid.next_group();
    start_all();
}

static void count_mpi(int cpu, bool enters)
{
    for (size_t i = 0; i < cpus.count; i++) {
        if (cpus.list[i] != cpu || cpus.is_in_mpi[i] == enters || !move(cpu))
            continue;
        if (enters)
            likwid.start(LIKWID_COUNT_MPI);
        else
            likwid.stop(LIKWID_COUNT_MPI);
        cpus.is_in_mpi[i] = enters;
    }
}

/* Returns false if nothing more is to be done. */
static bool serve(int rank, const struct likwid_count_request *request)
{
    static bool has_mpi, has_begun;
    switch (request->verb) {
    case LIKWID_COUNT_BEGIN:
        setenv("LIKWID_FILEPATH", request->path, 1);
        start_all();
        has_begun = true;
        break;
    case LIKWID_COUNT_ENTER:
    case LIKWID_COUNT_LEAVE:
        has_mpi = true;
        count_mpi(request->cpu, request->verb == LIKWID_COUNT_ENTER);
        break;
    case LIKWID_COUNT_LOOK:
        look(rank, has_mpi);
        break;
    default: /* LIKWID_COUNT_CLOSE, or the rank has gone */
        if (has_begun) {
            stop_all(true);
            tell_all(rank, has_mpi);
            likwid.close();
        }
        reply(rank, false, "");
        return false;
    }
    reply(rank, false, "");
    return true;
}

/* Not blocked: liblikwid starts others, and waits for them. */
static void ignore_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++) {
        if (number != SIGCHLD)
            signal(number, SIG_IGN);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void be_child(int rank)
{
    static struct likwid_count_request request;
    const char *threads = getenv("LIKWID_THREADS");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0}); /* nobody asked for a core file of this process */
    setpgid(0, 0);
    if (threads)
        read_cpus(threads);
    if (cpus.count == 0 || !move(cpus.list[0]))
        give_up(rank, "the rank's CPUs are not those of the task");
    load(rank);
    likwid.init();
    likwid.thread_init();
    if (likwid.group_count() < 1)
        give_up(rank, "LIKWID does not take the events any more");
    reply(rank, false, "");
    for (;;) {
        ssize_t got = recv(rank, &request, sizeof request - 1, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < (ssize_t)offsetof(struct likwid_count_request, path))
            request.verb = LIKWID_COUNT_CLOSE;
        else
            ((char *)&request)[got] = '\0';
        if (!serve(rank, &request))
            _exit(0);
    }
}

/* --- in the parent -------------------------------------------------------------------------------
 */

static void tell_death(int rank, int status)
{
    char reason[LIKWID_COUNT_REASON];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    if (WIFSIGNALED(status))
        snprintf(reason, sizeof reason, "LIKWID crashed with signal %d", WTERMSIG(status));
    else
        snprintf(reason, sizeof reason, "LIKWID ended the process with exit status %d",
                 WEXITSTATUS(status));
    reply(rank, true, reason);
}

/* Until the child has ended, or had its time after the rank has gone. */
static void await_child(pid_t child, int children, int rank, int *status)
{
    struct pollfd fds[] = {{.fd = children, .events = POLLIN}, {.fd = rank}};
    int limit = -1;
    while (waitpid(child, status, WNOHANG) == 0) {
        struct signalfd_siginfo info;
        int ready = poll(fds, 2, limit);
        if (ready == 0)
            break;
        if (fds[0].revents & POLLIN)
            (void)!read(children, &info, sizeof info);
        if (fds[1].revents) {
            fds[1].fd = -1;
            limit = LIMIT_MS;
        }
    }
    kill(-child, SIGKILL);
}

int main(void)
{
    descriptors_close_from(STDERR_FILENO + 1); /* what the rank has open is none of ours */
    int status = 0, rank = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, SOCKET_FLOOR);
    int null = open("/dev/null", O_RDWR);
    sigset_t all, child_ends;
    if (rank < 0 || null < 0)
        return 1;
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    sigfillset(&all); /* who ends the rank, or asks it something, does not mean this process */
    sigprocmask(SIG_SETMASK, &all, NULL);
    int children = signalfd(-1, &child_ends, SFD_CLOEXEC | SFD_NONBLOCK);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fork();
    if (child == 0) {
        ignore_signals();
        be_child(rank);
    }
    if (child > 0)
        await_child(child, children, rank, &status);
    tell_death(rank, child > 0 ? status : 1 << 8);
    /* The access daemon ends with its client, and is ours to wait for. */
    for (int i = 0; i < LIMIT_MS / LOOK_MS && waitpid(-1, NULL, WNOHANG) >= 0; i++)
        poll(NULL, 0, LOOK_MS);
    return 0;
}
