/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics as LIKWID itself computes them: sp-likwid-read is asked, in a process of its own. */
#define _GNU_SOURCE
#include "merge/likwid_read.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "merge/fenced_tool.h"
#include "merge/running_steps.h"
#include "schema/likwid_answer.h"
#include "schema/likwid_record.h"
#include "schema/processor.h"

enum {
    CPUS_MAX = 4096,
    ROW_MAX = 1000,            /* bytes of values that liblikwid reads from a row */
    VALUE_SIZE = 16,           /* " -1.234567e+123" */
    ANSWER_VALUE = 26,         /* with all digits */
    QUESTION_BYTES = 32 << 20, /* of a marker file that is made for it */
    LEAST_MS = 2000,           /* liblikwid takes a second or so to begin */
};

/* Ranks that are one question, and the CPUs of the first of them. */
struct question {
    const char *type, *events, *threads;
    int32_t cpus[CPUS_MAX];
    size_t cpu_count;
    struct likwid_rank **ranks;
    size_t rank_count, region_count;
    size_t answer_values;
};

/* --- what speaks against it ----------------------------------------------------------------------
 */

/* Whether there is a tool, beside this program or where it is installed; its path. */
static int find_tool(char path[static PATH_MAX])
{
    static const char *const places[] = {"sp-likwid-read",
                                         "../libexec/scope-profile/sp-likwid-read"};
    char directory[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
    directory[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(directory, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (snprintf(path, PATH_MAX, "%s/%s", directory, places[i]) < PATH_MAX &&
            access(path, X_OK) == 0)
            return 0;
    }
    return -1;
}

/* What is the same for all ranks. */
static void look(struct likwid_reader *reader)
{
    char path[PATH_MAX], step[RUNNING_STEP_SIZE];
    struct stat info;
    if (reader->has_looked)
        return;
    reader->has_looked = true;
    if (reader->left_ms <= 0)
        error_set(&reader->given_up, "that was not wanted");
    else if (find_tool(path) < 0)
        error_set(&reader->given_up, "sp-likwid-read is not installed here");
    else if (fstat(reader->run, &info) < 0 || info.st_uid != geteuid())
        error_set(&reader->given_up, "the run is another user's");
    else if (running_steps_find(reader->over, step))
        error_set(&reader->given_up, "step %s runs on this host, whose counters it would reset",
                  step);
}

/* The CPUs of a rank, in its order. Returns how many; 0: they are not told, or too many. */
static size_t read_cpus(const char *text, int32_t cpus[static CPUS_MAX])
{
    size_t count = 0;
    char *end;
    for (;; text = end + 1) {
        errno = 0;
        long cpu = strtol(text, &end, 10);
        if (end == text || errno != 0 || cpu < 0 || cpu > INT32_MAX || count == CPUS_MAX)
            return 0;
        cpus[count++] = (int32_t)cpu;
        if (*end != ',')
            return *end ? 0 : count;
    }
}

static const struct likwid_thread *find_thread(const struct likwid_region *region, int32_t cpu,
                                               size_t *number)
{
    for (size_t i = 0; i < region->thread_count; i++) {
        if (region->threads[i].cpu == cpu) {
            *number = i;
            return &region->threads[i];
        }
    }
    return NULL;
}

/* liblikwid has one row for each of a rank's CPUs. */
static int check_region(const struct likwid_rank *rank, const struct likwid_region *region,
                        const int32_t *cpus, size_t cpu_count, struct error *why)
{
    size_t found = 0, number;
    if (!likwid_rank_group(rank, region))
        return error_set(why, "its marker file has other events than its record");
    if (region->event_count * VALUE_SIZE > ROW_MAX)
        return error_set(why, "it has more events than LIKWID reads back");
    for (size_t i = 0; i < cpu_count; i++)
        found += find_thread(region, cpus[i], &number) != NULL;
    if (found != region->thread_count)
        return error_set(why, "it has threads on others than its own CPUs, or several on one");
    return 0;
}

static int check_rank(const struct likwid_rank *rank, int32_t cpus[static CPUS_MAX],
                      size_t *cpu_count, struct error *why)
{
    const char *threads = likwid_record_variable(&rank->record, "LIKWID_THREADS");
    char model[PROCESSOR_MODEL_SIZE];
    *cpu_count = threads ? read_cpus(threads, cpus) : 0;
    processor_model(model);
    if (*cpu_count == 0 || !rank->record.type || !rank->record.clock ||
        !likwid_record_variable(&rank->record, "LIKWID_EVENTS"))
        return error_set(why, "its record does not tell all that is needed");
    if (strcmp(rank->record.processor ? rank->record.processor : "", model) != 0)
        return error_set(why, "its processor is not this host's");
    for (size_t i = 0; i < rank->marker.region_count; i++) {
        if (check_region(rank, &rank->marker.regions[i], cpus, *cpu_count, why) < 0)
            return -1;
    }
    return 0;
}

/* What formulas know of the host is the same here. */
static int check_constants(const struct likwid_record *record, struct error *why)
{
    for (size_t i = 0; i < record->constant_count; i++) {
        bool is_nodes = strcmp(record->constants[i], "num_numadomains") == 0;
        bool is_sockets = strcmp(record->constants[i], "num_sockets") == 0;
        size_t here = is_nodes ? processor_count_numa_nodes() : processor_count_sockets();
        if ((is_nodes || is_sockets) && strtoul(record->constant_values[i], NULL, 10) != here)
            return error_set(why, "its host has other sockets or memories than this one");
    }
    return 0;
}

/* The socket of each CPU, numbered as they come. Returns 0, or -1: some are not told. */
static int number_sockets(const struct likwid_record *record, const int32_t *cpus, size_t count,
                          bool is_here, int32_t sockets[static CPUS_MAX])
{
    static int32_t seen[CPUS_MAX];
    int32_t seen_count = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t socket = is_here ? processor_socket((unsigned)cpus[i])
                                 : likwid_record_socket(record, cpus[i]);
        if (socket < 0)
            return -1;
        int32_t number = 0;
        while (number < seen_count && seen[number] != socket)
            number++;
        if (number == seen_count)
            seen[seen_count++] = socket;
        sockets[i] = number;
    }
    return 0;
}

/* --- which ranks are one question ----------------------------------------------------------------
 */

/* What ranks of a question have in common, as a text to be freed. NULL: why, or memory is out. */
static char *make_key(const struct likwid_rank *rank, const int32_t *cpus, size_t count,
                      struct error *why)
{
    static int32_t there[CPUS_MAX], here[CPUS_MAX];
    size_t size = 0;
    char *key = NULL;
    if (check_constants(&rank->record, why) < 0)
        return NULL;
    if (number_sockets(&rank->record, cpus, count, false, there) < 0 ||
        number_sockets(&rank->record, cpus, count, true, here) < 0 ||
        memcmp(there, here, count * sizeof(*here)) != 0) {
        error_set(why, "its CPUs are on other sockets than those of this host");
        return NULL;
    }
    FILE *stream = open_memstream(&key, &size);
    if (!stream)
        return NULL;
    fprintf(stream, "%s\n%s\n", rank->record.type,
            likwid_record_variable(&rank->record, "LIKWID_EVENTS"));
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%" PRId32 " ", there[i]);
    if (fclose(stream) == 0)
        return key;
    free(key);
    return NULL;
}

/* Bytes of the rank's part of the marker file, about. */
static size_t question_bytes(const struct likwid_rank *rank, size_t cpu_count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < rank->marker.region_count; i++)
        bytes += cpu_count * (64 + rank->marker.regions[i].event_count * VALUE_SIZE);
    return bytes;
}

/* --- the marker file -----------------------------------------------------------------------------
 */

static void write_row(FILE *file, const struct question *question, size_t number,
                      const struct likwid_region *region, size_t position, const int32_t *cpus)
{
    size_t at = 0;
    const struct likwid_thread *thread = find_thread(region, cpus[position], &at);
    fprintf(file, "%zu %" PRId32 " %" PRId32 " %" PRId64 " %.17g %zu ", number, region->group,
            question->cpus[position],
            thread && thread->calls < INT_MAX ? thread->calls
            : thread                          ? INT_MAX
                                              : 0,
            thread ? thread->seconds : 0, region->event_count);
    for (size_t i = 0; i < region->event_count; i++)
        fprintf(file, "%.6e ", thread ? region->values[at * region->event_count + i] : 0);
    fputc('\n', file);
}

static void write_question(FILE *file, const struct question *question)
{
    static int32_t cpus[CPUS_MAX];
    size_t number = 0;
    fprintf(file, "%zu %zu %zu\n", question->cpu_count, question->region_count,
            question->ranks[0]->record.group_count);
    for (size_t i = 0; i < question->rank_count; i++) {
        const struct likwid_marker *marker = &question->ranks[i]->marker;
        for (size_t j = 0; j < marker->region_count; j++, number++)
            fprintf(file, "%zu:%zu-%" PRId32 "\n", number, number, marker->regions[j].group);
    }
    number = 0;
    for (size_t i = 0; i < question->rank_count; i++) {
        const struct likwid_rank *rank = question->ranks[i];
        read_cpus(likwid_record_variable(&rank->record, "LIKWID_THREADS"), cpus);
        for (size_t j = 0; j < rank->marker.region_count; j++, number++) {
            for (size_t k = 0; k < question->cpu_count; k++)
                write_row(file, question, number, &rank->marker.regions[j], k, cpus);
        }
    }
}

/* In memory, for a descriptor; -1 with errno. */
static int make_marker_file(const struct question *question)
{
    int fd = memfd_create("markers", MFD_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(dup(fd), "w");
    if (file) {
        write_question(file, question);
        if (fclose(file) == 0)
            return fd;
    }
    int reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return -1;
}

/* --- the answer ----------------------------------------------------------------------------------
 */

/* Where the answer is read, and what it is compared with. */
struct answer {
    const char *at;
    size_t line; /* of the numbers, from 1 on */
};

static bool takes_number(struct answer *answer, char before, double *value)
{
    char *end;
    if (before && *answer->at++ != before)
        return false;
    if (*answer->at == ' ' || *answer->at == '\n')
        return false;
    *value = strtod(answer->at, &end);
    bool is_good = end != answer->at;
    answer->at = end;
    return is_good;
}

/* The same event sets, with the same names, are counted on the same counters. */
static bool has_same_names(const struct likwid_record *left, const struct likwid_record *right)
{
    if (left->group_count != right->group_count || left->event_count != right->event_count ||
        left->metric_count != right->metric_count)
        return false;
    for (size_t i = 0; i < left->group_count; i++) {
        if (left->groups[i].event_count != right->groups[i].event_count ||
            left->groups[i].metric_count != right->groups[i].metric_count ||
            strcmp(left->groups[i].name, right->groups[i].name) != 0)
            return false;
    }
    for (size_t i = 0; i < left->event_count; i++) {
        if (strcmp(left->events[i], right->events[i]) != 0 ||
            strcmp(left->counters[i], right->counters[i]) != 0)
            return false;
    }
    for (size_t i = 0; i < left->metric_count; i++) {
        if (strcmp(left->metrics[i], right->metrics[i]) != 0)
            return false;
    }
    return true;
}

/* One line: the values that were asked about come back, and then the metrics, which are kept. */
static bool take_row(struct answer *answer, size_t number, size_t position,
                     const struct likwid_region *region, const int32_t *cpus, size_t metric_count)
{
    double value;
    size_t at = 0;
    const struct likwid_thread *thread = find_thread(region, cpus[position], &at);
    answer->line++;
    if (!takes_number(answer, 0, &value) || value != (double)number ||
        !takes_number(answer, ' ', &value) || value != (double)position)
        return false;
    for (size_t i = 0; i < region->event_count; i++) {
        double sent = thread ? region->values[at * region->event_count + i] : 0;
        if (!takes_number(answer, ' ', &value) ||
            (value != sent && !(isnan(value) && isnan(sent))))
            return false;
    }
    for (size_t i = 0; i < metric_count; i++) {
        if (!takes_number(answer, ' ', &value))
            return false;
        if (thread)
            region->metrics[at * metric_count + i] = value;
    }
    return *answer->at++ == '\n';
}

/* Returns 1 if all of the numbers are there, 0 if not, or -1 if memory is out. */
static int take_numbers(struct answer *answer, const struct question *question)
{
    static int32_t cpus[CPUS_MAX];
    static const char last[] = LIKWID_ANSWER_END "\n";
    size_t number = 0;
    for (size_t i = 0; i < question->rank_count; i++) {
        struct likwid_rank *rank = question->ranks[i];
        read_cpus(likwid_record_variable(&rank->record, "LIKWID_THREADS"), cpus);
        for (size_t j = 0; j < rank->marker.region_count; j++, number++) {
            struct likwid_region *region = &rank->marker.regions[j];
            region->metric_count = likwid_rank_group(rank, region)->metric_count;
            region->metrics = calloc(region->thread_count * region->metric_count + 1,
                                     sizeof(*region->metrics));
            if (!region->metrics)
                return -1;
            for (size_t k = 0; k < question->cpu_count; k++) {
                if (!take_row(answer, number, k, region, cpus, region->metric_count))
                    return 0;
            }
        }
    }
    answer->line++;
    return strcmp(answer->at, last) == 0;
}

static void forget_metrics(const struct question *question)
{
    for (size_t i = 0; i < question->rank_count; i++) {
        struct likwid_marker *marker = &question->ranks[i]->marker;
        for (size_t j = 0; j < marker->region_count; j++) {
            free(marker->regions[j].metrics);
            marker->regions[j].metrics = NULL;
            marker->regions[j].metric_count = 0;
        }
    }
}

/* What LIKWID measures of one clock differs, on a busy host by a tenth; a host of the same model
 * may have another one all the same. */
static bool is_same_clock(const char *there, const char *here)
{
    double ratio = here ? strtod(here, NULL) / strtod(there, NULL) : 0;
    return ratio > 0.8 && ratio < 1.25;
}

/* Returns 0; 1 and why: it is not as it has to be; or -1: memory is out. */
static int check_names(const struct question *question, const struct likwid_record *record,
                       struct error *why)
{
    const struct likwid_record *asked = &question->ranks[0]->record;
    if (record->reason)
        error_set(why, "%s", record->reason);
    else if (!record->type || strcmp(record->type, question->type) != 0)
        error_set(why, "what was computed is for processors of type %s, the ranks' is %s",
                  record->type ? record->type : "unknown", question->type);
    else if (!is_same_clock(asked->clock, record->clock))
        error_set(why, "its processor has another clock than this host's");
    else if (!has_same_names(asked, record))
        error_set(why, "LIKWID has other names here for the events and metrics");
    else
        return 0;
    return 1;
}

static int take_answer(const struct question *question, const struct fenced_tool *tool,
                       struct error *why)
{
    static const char head_end[] = "\n" LIKWID_RECORD_END "\n";
    struct likwid_record record;
    struct error problem;
    const char *end = tool->text ? strstr(tool->text, head_end) : NULL;
    if (!end || strlen(tool->text) != tool->length) {
        error_set(why, "its answer is cut off");
        return 1;
    }
    end += strlen(head_end);
    if (likwid_record_parse(&record, tool->text, (size_t)(end - tool->text), &problem) < 0) {
        error_set(why, "its answer %s", problem.text);
        return 1;
    }
    int status = check_names(question, &record, why);
    likwid_record_release(&record);
    if (status != 0)
        return status;
    struct answer answer = {.at = end};
    int found = take_numbers(&answer, question);
    if (found > 0)
        return 0;
    forget_metrics(question);
    error_set(why, "line %zu of the numbers it answers is not as it has to be", answer.line);
    return found < 0 ? -1 : 1;
}

/* --- one question --------------------------------------------------------------------------------
 */

/* How it ended, if it was not as it should. */
static void tell_end(const struct fenced_tool *tool, struct error *why)
{
    const char *said = tool->said;
    if (tool->is_too_slow)
        error_set(why, "it did not come back within %" PRId64 " s", (tool->took_ms + 500) / 1000);
    else if (tool->is_too_long)
        error_set(why, "its answer is too long");
    else if (WIFSIGNALED(tool->status))
        error_set(why, "it crashed with signal %d", WTERMSIG(tool->status));
    else
        error_set(why, "it ended with exit status %d", WEXITSTATUS(tool->status));
    if (*said) {
        size_t length = strlen(why->text);
        snprintf(why->text + length, sizeof why->text - length, " (%s)", said);
    }
}

/* Returns 0; 1 and why: there is no answer, or none that could be used; or -1: memory is out. */
static int run_tool(struct likwid_reader *reader, const struct question *question, int markers,
                    struct error *why)
{
    static const char *const variables[] = {"PATH", "HOME", "LD_LIBRARY_PATH", NULL};
    char path[PATH_MAX];
    if (find_tool(path) < 0) {
        error_set(why, "sp-likwid-read is no longer there");
        return 1;
    }
    const char *const arguments[] = {path,           question->type, question->events,
                                     question->threads, "/proc/self/fd/3", NULL};
    struct fenced_tool tool = {
        .arguments = arguments,
        .variables = variables,
        .input = markers,
        .limit_ms = reader->left_ms,
        .most = LIKWID_RECORD_SIZE + question->answer_values * ANSWER_VALUE,
    };
    if (fenced_tool_run(&tool) < 0) {
        error_set(why, "sp-likwid-read cannot be started: %s", strerror(errno));
        return 1;
    }
    reader->left_ms -= tool.took_ms;
    int status = tool.is_too_slow || tool.is_too_long ? 1 : take_answer(question, &tool, why);
    if (status == 1 && (tool.is_too_slow || tool.is_too_long || tool.status != 0) &&
        !(tool.text && strstr(tool.text, "\n" LIKWID_RECORD_REASON "=")))
        tell_end(&tool, why);
    free(tool.text);
    return status;
}

/* Asks one question. Returns -1 if memory is out. */
static int ask(struct likwid_reader *reader, struct question *question)
{
    struct error why = {""};
    int markers = make_marker_file(question);
    int status = 1;
    if (markers < 0) {
        error_set(&why, "no marker file for it: %s", strerror(errno));
    } else {
        status = run_tool(reader, question, markers, &why);
        close(markers);
    }
    for (size_t i = 0; i < question->rank_count; i++) {
        if (status == 0)
            question->ranks[i]->source = "full_api";
        question->ranks[i]->not_read = why;
    }
    if (status > 0) {
        reader->given_up = why;
        if (reader->failure.text[0] == '\0')
            reader->failure = why;
    }
    return status < 0 ? -1 : 0;
}

/* --- all of them ---------------------------------------------------------------------------------
 */

/* The ranks from first on with the same key that fit one question; each leaves the list of keys. */
static int ask_together(struct likwid_reader *reader, struct likwid_rank *ranks, char **keys,
                        size_t first, size_t count)
{
    static struct question question;
    size_t bytes = 0;
    char *key = keys[first];
    const struct likwid_record *record = &ranks[first].record;
    question = (struct question){
        .type = record->type,
        .events = likwid_record_variable(record, "LIKWID_EVENTS"),
        .threads = likwid_record_variable(record, "LIKWID_THREADS"),
        .ranks = calloc(count - first, sizeof(*question.ranks)),
    };
    question.cpu_count = read_cpus(question.threads, question.cpus);
    if (!question.ranks)
        return -1;
    for (size_t i = first; i < count; i++) {
        struct likwid_rank *rank = &ranks[i];
        if (!keys[i] || strcmp(keys[i], key) != 0 || !has_same_names(&rank->record, record))
            continue;
        size_t more = question_bytes(rank, question.cpu_count);
        if (bytes > 0 && bytes + more > QUESTION_BYTES)
            break;
        bytes += more;
        question.ranks[question.rank_count++] = rank;
        question.region_count += rank->marker.region_count;
        for (size_t j = 0; j < rank->marker.region_count; j++) {
            const struct likwid_region *region = &rank->marker.regions[j];
            question.answer_values += question.cpu_count *
                                      (2 + region->event_count +
                                       likwid_rank_group(rank, region)->metric_count);
        }
        if (i != first) {
            free(keys[i]);
            keys[i] = NULL;
        }
    }
    keys[first] = NULL;
    int status = bytes > QUESTION_BYTES ? 0 : ask(reader, &question);
    if (bytes > QUESTION_BYTES)
        error_set(&question.ranks[0]->not_read, "it has too many threads in too many regions");
    free(question.ranks);
    free(key);
    return status;
}

/* Looks which ranks can be asked about. Returns -1 if memory is out. */
static int make_keys(const struct likwid_reader *reader, struct likwid_rank *ranks, char **keys,
                     size_t count)
{
    static int32_t cpus[CPUS_MAX];
    for (size_t i = 0; i < count; i++) {
        struct error *why = &ranks[i].not_read;
        size_t cpu_count;
        *why = reader->given_up;
        if (strcmp(ranks[i].source, "marker_file") != 0)
            error_set(why, "the rank wrote no marker file");
        if (why->text[0] || ranks[i].marker.region_count == 0 ||
            check_rank(&ranks[i], cpus, &cpu_count, why) < 0)
            continue;
        keys[i] = make_key(&ranks[i], cpus, cpu_count, why);
        if (!keys[i] && why->text[0] == '\0')
            return -1;
    }
    return 0;
}

int likwid_reader_ask(struct likwid_reader *reader, struct likwid_rank *ranks, size_t count)
{
    char **keys = calloc(count + 1, sizeof(*keys));
    if (!keys)
        return -1;
    look(reader);
    int status = make_keys(reader, ranks, keys, count);
    for (size_t i = 0; status == 0 && i < count; i++) {
        if (!keys[i])
            continue;
        if (reader->given_up.text[0] == '\0' && reader->left_ms < LEAST_MS)
            error_set(&reader->given_up, "there is no time left for it");
        if (reader->given_up.text[0])
            ranks[i].not_read = reader->given_up;
        else
            status = ask_together(reader, ranks, keys, i, count);
    }
    for (size_t i = 0; i < count; i++)
        free(keys[i]);
    free(keys);
    return status;
}
