/* SPDX-License-Identifier: BSD-3-Clause */
/* A liblikwid.so.5 that is good when it is tried, and then does in the process that counts what the
 * file ~/likwid-does says: exit, crash, hang, stop (answering), print. It counts nothing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char does[32];

static void misbehave(const char *when)
{
    if (strcmp(does, when) != 0)
        return;
    puts("LIKWID says something on standard output");
    fputs("and something on standard error\n", stderr);
    if (strcmp(does, "exit") == 0)
        exit(3);
    if (strcmp(does, "crash") == 0)
        abort();
    while (strcmp(does, "hang") == 0 || strcmp(does, "stop") == 0)
        pause();
}

void likwid_markerInit(void);
void likwid_markerInit(void)
{
    char path[4096], name[64] = "";
    FILE *file = fopen("/proc/self/comm", "r");
    if (!file || !fgets(name, sizeof name, file) || strncmp(name, "sp-likwid-count", 15) != 0)
        return;
    fclose(file);
    snprintf(path, sizeof path, "%s/likwid-does", getenv("HOME"));
    file = fopen(path, "r");
    if (!file || fscanf(file, "%31s", does) != 1)
        return;
    fclose(file);
    misbehave("exit");
    misbehave("crash");
    misbehave("hang");
    misbehave("print");
}

void likwid_markerThreadInit(void);
void likwid_markerThreadInit(void)
{
}

void likwid_markerNextGroup(void);
void likwid_markerNextGroup(void)
{
}

int likwid_markerStartRegion(const char *tag);
int likwid_markerStartRegion(const char *tag)
{
    (void)tag;
    misbehave("stop");
    return 0;
}

int likwid_markerStopRegion(const char *tag);
int likwid_markerStopRegion(const char *tag)
{
    (void)tag;
    return 0;
}

void likwid_markerGetRegion(const char *tag, int *events, double *values, double *time, int *count);
void likwid_markerGetRegion(const char *tag, int *events, double *values, double *time, int *count)
{
    (void)tag;
    *events = *count = 1;
    *values = *time = 1;
}

void likwid_markerClose(void);
void likwid_markerClose(void)
{
    FILE *file = fopen(getenv("LIKWID_FILEPATH"), "w");
    if (!file)
        return;
    fputs("1 1 1\n0:app-0\n0 0 0 1 1.0 1 1.0 \n", file);
    fclose(file);
}

#define ANSWER(type, name, parameters, value)                                                      \
    type name parameters;                                                                          \
    type name parameters                                                                           \
    {                                                                                              \
        return value;                                                                              \
    }
ANSWER(int, perfmon_getNumberOfGroups, (void), 1)
ANSWER(int, perfmon_getIdOfActiveGroup, (void), 0)
ANSWER(int, perfmon_getNumberOfEvents, (int group), group + 1)
ANSWER(int, perfmon_getNumberOfMetrics, (int group), group)
ANSWER(const char *, perfmon_getGroupName, (int group), group ? "" : "STANDIN")
ANSWER(const char *, perfmon_getEventName, (int group, int event), group + event ? "" : "EVENT")
ANSWER(const char *, perfmon_getCounterName, (int group, int event), group + event ? "" : "PMC0")
ANSWER(const char *, perfmon_getMetricName, (int group, int metric), group + metric ? "" : "X")
ANSWER(uint64_t, timer_getCpuClock, (void), 1000000000)
