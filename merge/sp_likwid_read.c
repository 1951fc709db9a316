/* SPDX-License-Identifier: BSD-3-Clause */
/* sp-likwid-read: has liblikwid read a marker file, and prints what it says (likwid_answer.h).
 *
 * The only program here that is built from likwid.h, and under the GPL 3 therefore. liblikwid makes
 * itself ready to count for that: counters are set to zero. It may end the process, crash or hang;
 * what it says on stdout itself goes to stderr.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <likwid.h>

#include "schema/likwid_answer.h"
#include "schema/likwid_record.h"

enum { CPUS_MAX = 4096, EXIT_USAGE = 64 };

static FILE *answer;

static _Noreturn void give_up(const char *format, ...)
{
    va_list arguments;
    fputs(LIKWID_RECORD_REASON "=", answer);
    va_start(arguments, format);
    vfprintf(answer, format, arguments);
    va_end(arguments);
    fputs("\n" LIKWID_RECORD_END "\n", answer);
    fflush(answer);
    _exit(1);
}

static void open_answer(void)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    answer = fd < 0 ? NULL : fdopen(fd, "w");
    if (!answer || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        _exit(1);
    fputs(LIKWID_RECORD_FIRST "\n", answer);
    fflush(answer); /* liblikwid forks: what is buffered would be written twice */
}

/* liblikwid looks for its access daemon in PATH, which a login does not always have it in: it is
 * installed in PREFIX/sbin, where the library is in PREFIX/lib or PREFIX/lib/TRIPLET. */
static void find_daemon(void)
{
    char library[PATH_MAX], place[PATH_MAX + sizeof "/sbin/likwid-accessD"], *path;
    const char *before = getenv("PATH");
    Dl_info info;
    if (!dladdr((void *)perfmon_init, &info) || !realpath(info.dli_fname, library))
        return;
    for (char *slash; (slash = strrchr(library, '/'));) {
        *slash = '\0';
        snprintf(place, sizeof place, "%s/sbin/likwid-accessD", library);
        if (access(place, X_OK) < 0)
            continue;
        *strrchr(place, '/') = '\0';
        if (asprintf(&path, "%s%s%s", before ? before : "", before ? ":" : "", place) > 0)
            setenv("PATH", path, 1);
        return;
    }
}

static size_t read_cpus(const char *text, int cpus[static CPUS_MAX])
{
    size_t count = 0;
    char *end;
    for (;; text = end + 1) {
        errno = 0;
        long cpu = strtol(text, &end, 10);
        if (end == text || errno != 0 || cpu < 0 || cpu > INT_MAX || count == CPUS_MAX)
            return 0;
        cpus[count++] = (int)cpu;
        if (*end != ',')
            return *end ? 0 : count;
    }
}

/* What is measured on one type of processor means nothing on another. */
static void check_processor(const char *type)
{
    char own[64];
    if (topology_init() < 0)
        give_up("LIKWID does not know this host's processor");
    CpuInfo_t info = get_cpuInfo();
    snprintf(own, sizeof own, "%" PRIu32 "/%" PRIu32 "/%" PRIu32, info->family, info->model,
             info->stepping);
    if (strcmp(own, type) != 0)
        give_up("the ranks' processor is of type %s, this one of type %s", type, own);
    fprintf(answer, LIKWID_RECORD_TYPE "=%s\n", own);
    fflush(answer);
}

static void make_ready(const int *cpus, size_t count, char *events)
{
    char *rest = NULL;
    setenv("LIKWID_FORCE", LIKWID_RECORD_FORCE, 1);
    numa_init();
    affinity_init();
    timer_init();
    HPMmode(ACCESSMODE_DAEMON);
    if (perfmon_init((int)count, cpus) < 0)
        give_up("LIKWID cannot read the counters");
    for (char *set = strtok_r(events, "|", &rest); set; set = strtok_r(NULL, "|", &rest)) {
        if (perfmon_addEventSet(set) < 0)
            give_up("LIKWID does not take %s", set);
    }
}

static const char *told(const char *name)
{
    return name ? name : "";
}

static void print_names(void)
{
    fprintf(answer, LIKWID_RECORD_CLOCK "=%" PRIu64 "\n", timer_getCycleClock());
    for (int i = 0; i < perfmon_getNumberOfGroups(); i++) {
        fprintf(answer, LIKWID_RECORD_GROUP "=%s\n", told(perfmon_getGroupName(i)));
        for (int j = 0; j < perfmon_getNumberOfEvents(i); j++)
            fprintf(answer, LIKWID_RECORD_EVENT "=%s %s\n", told(perfmon_getCounterName(i, j)),
                    told(perfmon_getEventName(i, j)));
        for (int j = 0; j < perfmon_getNumberOfMetrics(i); j++)
            fprintf(answer, LIKWID_RECORD_METRIC "=%s\n", told(perfmon_getMetricName(i, j)));
    }
    fputs(LIKWID_RECORD_END "\n", answer);
}

static void print_values(void)
{
    for (int i = 0; i < perfmon_getNumberOfRegions(); i++) {
        int group = perfmon_getGroupOfRegion(i);
        for (int j = 0; j < perfmon_getThreadsOfRegion(i); j++) {
            fprintf(answer, "%d %d", i, j);
            for (int k = 0; k < perfmon_getEventsOfRegion(i); k++)
                fprintf(answer, " %.17g", perfmon_getResultOfRegionThread(i, k, j));
            for (int k = 0; k < perfmon_getNumberOfMetrics(group); k++)
                fprintf(answer, " %.17g", perfmon_getMetricOfRegionThread(i, k, j));
            fputc('\n', answer);
        }
    }
    fputs(LIKWID_ANSWER_END "\n", answer);
}

int main(int argc, char *argv[])
{
    static int cpus[CPUS_MAX];
    /* In the epilog this runs outside of the job's limits: no other process is to take it over. */
    prctl(PR_SET_DUMPABLE, 0);
    size_t count = argc == 5 ? read_cpus(argv[3], cpus) : 0;
    if (count == 0) {
        fputs("usage: sp-likwid-read TYPE EVENTS CPUS FILE\n", stderr);
        return EXIT_USAGE;
    }
    open_answer();
    find_daemon();
    check_processor(argv[1]);
    make_ready(cpus, count, argv[2]);
    if (perfmon_readMarkerFile(argv[4]) < 0)
        give_up("LIKWID cannot read the marker file");
    print_names();
    print_values();
    fflush(answer);
    _exit(ferror(answer) ? 1 : 0); /* without liblikwid's own end, which writes to the counters */
}
