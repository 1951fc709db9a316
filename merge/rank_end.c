/* SPDX-License-Identifier: BSD-3-Clause */
/* How a rank ended, as its parent saw it. */
#define _GNU_SOURCE
#include "merge/rank_end.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "schema/trace_format.h"

/* The signals that end a process. Those that a program brings upon itself tell why by their name;
 * the others somebody sent, and a wait status does not tell who. */
static const struct {
    int number;
    const char *name;
    bool is_sent;
} signals[] = {
    {SIGHUP, "SIGHUP", true},       {SIGINT, "SIGINT", true},   {SIGQUIT, "SIGQUIT", true},
    {SIGILL, "SIGILL", false},      {SIGTRAP, "SIGTRAP", false}, {SIGABRT, "SIGABRT", false},
    {SIGBUS, "SIGBUS", false},      {SIGFPE, "SIGFPE", false},  {SIGKILL, "SIGKILL", true},
    {SIGUSR1, "SIGUSR1", true},     {SIGSEGV, "SIGSEGV", false}, {SIGUSR2, "SIGUSR2", true},
    {SIGPIPE, "SIGPIPE", false},    {SIGALRM, "SIGALRM", false}, {SIGTERM, "SIGTERM", true},
    {SIGXCPU, "SIGXCPU", true},     {SIGXFSZ, "SIGXFSZ", false}, {SIGVTALRM, "SIGVTALRM", false},
    {SIGPROF, "SIGPROF", false},    {SIGIO, "SIGIO", true},     {SIGPWR, "SIGPWR", true},
    {SIGSYS, "SIGSYS", false},
};

static const char *const causes[] = {
    [JOB_END_UNKNOWN] = "cause unknown",
    [JOB_END_CANCELLED] = "job cancelled",
    [JOB_END_TIME_LIMIT] = "time limit reached",
    [JOB_END_NODE_FAILURE] = "a node of the job failed",
    [JOB_END_PREEMPTED] = "job preempted",
    [JOB_END_DEADLINE] = "job's deadline reached",
};

/* The name of the signal, or NULL; *is_sent: somebody sent it. */
static const char *look_up(int number, bool *is_sent)
{
    *is_sent = true;
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        if (signals[i].number != number)
            continue;
        *is_sent = signals[i].is_sent;
        return signals[i].name;
    }
    return NULL;
}

void rank_end_explain(struct rank_end *end, const struct job_end *job)
{
    bool is_sent;
    if (end->of == END_UNSEEN || !WIFSIGNALED(end->status))
        return;
    look_up(WTERMSIG(end->status), &is_sent);
    if (is_sent && end->realtime_ns >= job->realtime_ns)
        end->cause = job->cause;
}

void rank_end_place(struct rank_end *end, int64_t offset_ns, int64_t epoch_ns, int64_t last_ns)
{
    if (end->of == END_UNSEEN)
        return;
    bool overflow = end->has_rank_clock
                        ? __builtin_add_overflow(end->monotonic_ns, offset_ns, &end->ns)
                        : __builtin_sub_overflow(end->realtime_ns, epoch_ns, &end->ns);
    if (overflow || end->ns < last_ns)
        end->ns = last_ns;
}

bool rank_end_is_normal(const struct rank_end *end, uint32_t phase)
{
    return end->of != END_UNSEEN && end->status == 0 && phase == PHASE_CLOSED;
}

static void signal_text(const struct rank_end *end, char *text, size_t size)
{
    bool is_sent;
    int number = WTERMSIG(end->status);
    const char *name = look_up(number, &is_sent);
    snprintf(text, size, "signal %d%s%s%s%s%s%s", number, name ? " (" : "", name ? name : "",
             name ? ")" : "", WCOREDUMP(end->status) ? ", core dumped" : "", is_sent ? ", " : "",
             is_sent ? causes[end->cause] : "");
}

/* Where the rank was with MPI, which its own exit status does not tell. */
static const char *phase_text(uint32_t phase)
{
    switch (phase) {
    case PHASE_CLOSED:
        return "";
    case PHASE_FINALISED:
        return " in MPI_Finalize";
    default:
        return " without MPI_Finalize";
    }
}

static void status_text(const struct rank_end *end, uint32_t phase, char *text, size_t size)
{
    if (WIFSIGNALED(end->status))
        signal_text(end, text, size);
    else if (WIFEXITED(end->status))
        snprintf(text, size, "exit status %d%s", WEXITSTATUS(end->status),
                 end->of == END_OF_RANK ? phase_text(phase) : "");
    else
        snprintf(text, size, "wait status %" PRId32, end->status);
}

static const char *subject(const struct rank_end *end)
{
    switch (end->of) {
    case END_OF_TASK:
        return "its task ended with ";
    case END_OF_LAUNCHER:
        return "its launcher ended with ";
    default:
        return "";
    }
}

static void compose(const struct rank_end *end, uint32_t phase, const char *before, char *text)
{
    char status[RANK_END_TEXT / 2];
    status_text(end, phase, status, sizeof(status));
    snprintf(text, RANK_END_TEXT, "%s%s", before, status);
}

void rank_end_text(const struct rank_end *end, uint32_t phase, char text[static RANK_END_TEXT])
{
    if (end->of == END_UNSEEN)
        strcpy(text, "unknown: no exit record");
    else if (rank_end_is_normal(end, phase))
        strcpy(text, "normal");
    else
        compose(end, phase, subject(end), text);
}

void rank_end_clause(const struct rank_end *end, uint32_t phase, char text[static RANK_END_TEXT])
{
    if (end->of == END_OF_RANK)
        compose(end, phase, WIFSIGNALED(end->status) ? "killed by " : "ended with ", text);
    else
        rank_end_text(end, phase, text);
}
