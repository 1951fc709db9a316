/* SPDX-License-Identifier: BSD-3-Clause */
/* sp-likwid-try: finds out whether LIKWID can read the counters, before a rank is given to it.
 *
 * liblikwid ends the process that calls it, crashes or hangs when it does not like the processor,
 * the events, the access daemon or what others do with the counters. So a child does first what the
 * rank will do, with the same CPUs and events, and the names that liblikwid has for them are kept.
 * Prints lines of likwid_record.h: what will be measured, or why nothing can.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "schema/likwid_record.h"
#include "schema/processor.h"
#include "spank/likwid_formulas.h"

enum { LIMIT_MS = 20000, LOOK_MS = 20, DAEMON_MS = 400 };
enum { EVENTS_MAX = 512, EXIT_USAGE = 64 };

/* What liblikwid calls them; of version 5. */
static struct {
    void (*init)(void), (*thread_init)(void), (*next_group)(void), (*close)(void);
    int (*start)(const char *tag), (*stop)(const char *tag);
    void (*get)(const char *tag, int *events, double *values, double *time, int *count);
    int (*group_count)(void), (*event_count)(int group), (*metric_count)(int group);
    char *(*group_name)(int group), *(*event_name)(int group, int event);
    char *(*counter_name)(int group, int event), *(*metric_name)(int group, int metric);
    uint64_t (*clock)(void);
    const uint32_t *(*processor)(void); /* NULL: this one does not tell */
} likwid;

/* --- in the child --------------------------------------------------------------------------------
 */

static FILE *record; /* of the lines */
static char library_path[PATH_MAX];

static _Noreturn void give_up(const char *format, ...)
{
    va_list arguments;
    fprintf(record, LIKWID_RECORD_REASON "=");
    va_start(arguments, format);
    vfprintf(record, format, arguments);
    va_end(arguments);
    fputc('\n', record);
    fflush(record);
    _exit(1);
}

static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    if (!address)
        give_up("this liblikwid has no %s", name);
    memcpy(function, &address, sizeof address);
}

static void load(void)
{
    void *library = dlopen("liblikwid.so.5", RTLD_NOW | RTLD_GLOBAL);
    Dl_info info;
    if (!library)
        library = dlopen("liblikwid.so", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        give_up("LIKWID is not there (%s)", dlerror());
    find(library, "likwid_markerInit", &likwid.init);
    find(library, "likwid_markerThreadInit", &likwid.thread_init);
    find(library, "likwid_markerStartRegion", &likwid.start);
    find(library, "likwid_markerStopRegion", &likwid.stop);
    find(library, "likwid_markerGetRegion", &likwid.get);
    find(library, "likwid_markerNextGroup", &likwid.next_group);
    find(library, "likwid_markerClose", &likwid.close);
    find(library, "perfmon_getNumberOfGroups", &likwid.group_count);
    find(library, "perfmon_getNumberOfEvents", &likwid.event_count);
    find(library, "perfmon_getNumberOfMetrics", &likwid.metric_count);
    find(library, "perfmon_getGroupName", &likwid.group_name);
    find(library, "perfmon_getEventName", &likwid.event_name);
    find(library, "perfmon_getCounterName", &likwid.counter_name);
    find(library, "perfmon_getMetricName", &likwid.metric_name);
    find(library, "timer_getCpuClock", &likwid.clock);
    void *processor = dlsym(library, "get_cpuInfo");
    memcpy(&likwid.processor, &processor, sizeof processor);
    if (dladdr((void *)likwid.init, &info) && realpath(info.dli_fname, library_path))
        fprintf(record, LIKWID_RECORD_LIBRARY "=%s\n", library_path);
}

/* On the first CPU, which has to be the same at the start and at the stop of a region. */
static void stay(const char *cpus)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)strtoul(cpus, NULL, 10), &set);
    sched_setaffinity(0, sizeof set, &set); /* it is in any case among those that we may use */
}

/* The marker API of a program that is started by likwid-perfctr -m. */
static void set_environment(const char *events, const char *cpus)
{
    setenv("LIKWID_MODE", LIKWID_RECORD_MODE, 1);
    setenv("LIKWID_FORCE", LIKWID_RECORD_FORCE, 1);
    setenv("LIKWID_EVENTS", events, 1);
    setenv("LIKWID_THREADS", cpus, 1);
    setenv("LIKWID_FILEPATH", LIKWID_RECORD_NOWHERE, 1);
}

/* A region in which something is done. Events that LIKWID knows not, or not on that counter, are no
 * number then; counters that all stay at zero do not count. */
static void measure(int group)
{
    static const char tag[] = "scope-profile";
    double values[EVENTS_MAX] = {0}, seconds = 0;
    int events = EVENTS_MAX, count = 0;
    bool counts = false;
    if (likwid.start(tag) < 0)
        give_up("LIKWID cannot start to count");
    for (volatile int i = 0; i < 100000; i++)
        continue;
    if (likwid.stop(tag) < 0)
        give_up("LIKWID cannot stop to count");
    likwid.get(tag, &events, values, &seconds, &count);
    for (int i = 0; i < events && i < EVENTS_MAX; i++) {
        if (isnan(values[i]))
            give_up("%s cannot be counted on %s", likwid.event_name(group, i),
                    likwid.counter_name(group, i));
        counts = counts || values[i] > 0;
    }
    if (count != 1 || !counts)
        give_up("the counters stay at zero");
}

/* Formulas of memory groups ask for these, machine-wide. */
static void name_constants(void)
{
    size_t nodes = processor_count_numa_nodes(), sockets = processor_count_sockets();
    if (nodes > 0)
        fprintf(record, LIKWID_RECORD_CONSTANT "=num_numadomains %zu\n", nodes);
    if (sockets > 0)
        fprintf(record, LIKWID_RECORD_CONSTANT "=num_sockets %zu\n", sockets);
}

/* What is counted once for a socket is told by the first of its CPUs. */
static void name_sockets(const char *cpus)
{
    char *end;
    for (const char *at = cpus; *at; at = end + (*end == ',')) {
        unsigned long cpu = strtoul(at, &end, 10);
        int socket = processor_socket((unsigned)cpu);
        if (end == at)
            break;
        if (socket >= 0)
            fprintf(record, LIKWID_RECORD_SOCKET "=%lu %d\n", cpu, socket);
    }
}

static int count_sets(const char *events)
{
    int sets = 1;
    for (; *events; events++)
        sets += *events == '|';
    return sets;
}

static void name_processor(void)
{
    char model[PROCESSOR_MODEL_SIZE];
    const uint32_t *info = likwid.processor ? likwid.processor() : NULL;
    processor_model(model);
    if (model[0])
        fprintf(record, LIKWID_RECORD_PROCESSOR "=%s\n", model);
    if (info) /* family, model and stepping come first in every version */
        fprintf(record, LIKWID_RECORD_TYPE "=%" PRIu32 "/%" PRIu32 "/%" PRIu32 "\n", info[0],
                info[1], info[2]);
}

/* Where the groups of the liblikwid that we have opened are, if it is where it was installed:
 * PREFIX/share/likwid/perfgroups, below PREFIX/lib or PREFIX/lib/TRIPLET. */
static void find_formulas(const struct likwid_names *names, char *formulas[LIKWID_FORMULAS_MAX])
{
    char directory[PATH_MAX + sizeof "/share/likwid/perfgroups"];
    strcpy(directory, library_path);
    for (char *slash; (slash = strrchr(directory, '/'));) {
        strcpy(slash, "/share/likwid/perfgroups");
        if (access(directory, R_OK) == 0) {
            likwid_formulas_find(directory, names, formulas);
            return;
        }
        *slash = '\0';
    }
}

static void name_group(int group)
{
    static const char *events[EVENTS_MAX], *counters[EVENTS_MAX], *metrics[EVENTS_MAX];
    char *formulas[LIKWID_FORMULAS_MAX] = {NULL};
    struct likwid_names names = {.group = likwid.group_name(group),
                                 .event_count = (size_t)likwid.event_count(group),
                                 .metric_count = (size_t)likwid.metric_count(group),
                                 .events = events,
                                 .counters = counters,
                                 .metrics = metrics};
    if (names.event_count > EVENTS_MAX || names.metric_count > EVENTS_MAX)
        give_up("LIKWID has more events than can be told");
    for (size_t i = 0; i < names.event_count; i++) {
        events[i] = likwid.event_name(group, (int)i);
        counters[i] = likwid.counter_name(group, (int)i);
    }
    for (size_t i = 0; i < names.metric_count; i++)
        metrics[i] = likwid.metric_name(group, (int)i);
    find_formulas(&names, formulas);
    fprintf(record, LIKWID_RECORD_GROUP "=%s\n", names.group);
    for (size_t i = 0; i < names.event_count; i++)
        fprintf(record, LIKWID_RECORD_EVENT "=%s %s\n", counters[i], events[i]);
    for (size_t i = 0; i < names.metric_count; i++) {
        fprintf(record, LIKWID_RECORD_METRIC "=%s\n", metrics[i]);
        if (i < LIKWID_FORMULAS_MAX && formulas[i])
            fprintf(record, LIKWID_RECORD_FORMULA "=%s\n", formulas[i]);
    }
}

static _Noreturn void be_child(int record_fd, int messages, const char *events, const char *cpus)
{
    int null = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0}); /* nobody asked for a core file of this process */
    setpgid(0, 0);
    dup2(null, STDIN_FILENO);
    dup2(messages, STDOUT_FILENO);
    dup2(messages, STDERR_FILENO);
    record = fdopen(record_fd, "w");
    if (!record)
        _exit(1);
    setvbuf(record, NULL, _IOLBF, 0); /* liblikwid forks: what is buffered would be written twice */
    stay(cpus);
    set_environment(events, cpus);
    load();
    likwid.init();
    likwid.thread_init();
    int groups = likwid.group_count();
    if (groups != count_sets(events))
        give_up("LIKWID does not take %s", events);
    for (int group = 0; group < groups; group++) {
        measure(group);
        likwid.next_group();
    }
    name_processor();
    fprintf(record, LIKWID_RECORD_CLOCK "=%" PRIu64 "\n", likwid.clock());
    name_constants();
    name_sockets(cpus);
    for (int group = 0; group < groups; group++)
        name_group(group);
    likwid.close();
    /* Only now: closing has to come back, too. */
    fprintf(record, LIKWID_RECORD_END "\n");
    fflush(record);
    _exit(0);
}

/* --- in the parent -------------------------------------------------------------------------------
 */

struct text {
    char bytes[LIKWID_RECORD_SIZE - LIKWID_RECORD_ROOM];
    size_t length;
    bool is_cut;
};

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* What is there to be read; what is too long is dropped, so that the writer never waits. */
static void drain(int fd, struct text *text)
{
    char dropped[4096];
    for (;;) {
        size_t room = sizeof text->bytes - 1 - text->length;
        ssize_t got = room > 0 ? read(fd, text->bytes + text->length, room)
                               : read(fd, dropped, sizeof dropped);
        if (got <= 0)
            break;
        if (room > 0)
            text->length += (size_t)got;
        else
            text->is_cut = true;
    }
    text->bytes[text->length] = '\0';
}

/* Waits until the child has ended, and ends whatever it has started. Returns false if it had to be
 * killed. */
static bool await_child(pid_t child, int record_fd, int messages, struct text *lines,
                        struct text *said, int *status)
{
    int64_t deadline = now_ms() + LIMIT_MS;
    bool has_ended = false;
    do {
        poll(NULL, 0, LOOK_MS);
        has_ended = waitpid(child, status, WNOHANG) != 0;
        drain(record_fd, lines);
        drain(messages, said);
    } while (!has_ended && now_ms() < deadline);
    kill(-child, SIGKILL);
    if (!has_ended)
        waitpid(child, status, 0);
    /* The access daemon ends with its client, and is ours to wait for. */
    for (int i = 0; i < DAEMON_MS / LOOK_MS && waitpid(-1, NULL, WNOHANG) >= 0; i++)
        poll(NULL, 0, LOOK_MS);
    return has_ended;
}

/* The first line of what LIKWID said that tells something, or "". */
static const char *first_line(struct text *said)
{
    static const char place[] = "ERROR - ["; /* in its source, and what errno means */
    char *line = said->bytes + strspn(said->bytes, " \t\r\n");
    while (strncmp(line, place, strlen(place)) == 0) {
        line += strcspn(line, "\r\n");
        line += strspn(line, " \t\r\n");
    }
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

static void print_death(bool has_ended, int status)
{
    fputs(LIKWID_RECORD_REASON "=", stdout);
    if (!has_ended)
        printf("LIKWID did not come back within %d s", LIMIT_MS / 1000);
    else if (WIFSIGNALED(status))
        printf("LIKWID crashed with signal %d", WTERMSIG(status));
    else
        printf("LIKWID ended the process with exit status %d", WEXITSTATUS(status));
}

int main(int argc, char *argv[])
{
    static struct text lines, said;
    int record_pipe[2], message_pipe[2], status = 0;
    if (argc != 3) {
        fputs("usage: sp-likwid-try EVENTS CPUS\n", stderr);
        return EXIT_USAGE;
    }
    if (pipe2(record_pipe, O_CLOEXEC | O_NONBLOCK) < 0 ||
        pipe2(message_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        return 1;
    fcntl(record_pipe[1], F_SETFL, 0);
    fcntl(message_pipe[1], F_SETFL, 0);
    fputs(LIKWID_RECORD_FIRST "\n", stdout);
    fflush(stdout);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fork();
    if (child == 0)
        be_child(record_pipe[1], message_pipe[1], argv[1], argv[2]);
    close(record_pipe[1]);
    close(message_pipe[1]);
    bool has_ended = child > 0 && await_child(child, record_pipe[0], message_pipe[0], &lines, &said,
                                              &status);
    if (lines.is_cut) {
        puts(LIKWID_RECORD_REASON "=the names of so many events and metrics cannot be kept: ask "
                                  "for fewer groups");
        return fflush(stdout) != 0;
    }
    bool is_good = strstr(lines.bytes, LIKWID_RECORD_END "\n");
    bool is_told = is_good || strstr(lines.bytes, LIKWID_RECORD_REASON "=");
    fwrite(lines.bytes, 1, lines.length - (is_told && !is_good), stdout);
    if (!is_told)
        print_death(has_ended, status);
    const char *line = is_good ? "" : first_line(&said);
    printf("%s%s%s%s", *line ? " (" : "", line, *line ? ")" : "", is_good ? "" : "\n");
    return ferror(stdout) || fflush(stdout) != 0 ? 1 : 0;
}
