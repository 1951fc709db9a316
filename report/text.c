/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as text, for people. */
#define _GNU_SOURCE
#include "report/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/ends.h"
#include "report/line.h"
#include "report/short_name.h"
#include "report/table.h"

enum { WIDTH_MIN = 40, WIDTH_MAX = 10000, CELL = TABLE_CELL };

static size_t terminal_width(void)
{
    struct winsize size;
    bool is_known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    return is_known ? size.ws_col : 0;
}

struct text_layout text_layout(size_t top)
{
    const char *columns = getenv("COLUMNS");
    long wanted = columns ? strtol(columns, NULL, 10) : 0;
    size_t width = wanted > 0 ? (size_t)wanted : terminal_width();
    if (width > 0)
        width = width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
    return (struct text_layout){.width = width, .top = top};
}

/* --- cells -------------------------------------------------------------------------------------
 */

/* 1234567 as "1,234,567", whatever the locale. */
static const char *print_count(uint64_t number, char cell[static CELL])
{
    char *p = cell + CELL - 1;
    *p = '\0';
    for (int digits = 0; digits == 0 || number > 0; digits++, number /= 10) {
        if (digits > 0 && digits % 3 == 0)
            *--p = ',';
        *--p = (char)('0' + number % 10);
    }
    return p;
}

/* A time in the unit that fits it, three or four digits. */
static const char *print_time(double ns, char cell[static CELL])
{
    double size = ns < 0 ? -ns : ns;
    if (size < 999.5)
        snprintf(cell, CELL, "%.0f ns", ns);
    else if (size < 999.5e3)
        snprintf(cell, CELL, "%.2f us", ns * 1e-3);
    else if (size < 999.5e6)
        snprintf(cell, CELL, "%.2f ms", ns * 1e-6);
    else if (size < 1e15)
        snprintf(cell, CELL, "%.3f s", ns * 1e-9);
    else
        snprintf(cell, CELL, "%.3g s", ns * 1e-9);
    return cell;
}

static const char *print_share(double share, char cell[static CELL])
{
    if (share < 0)
        snprintf(cell, CELL, "-");
    else
        snprintf(cell, CELL, share < 1e3 ? "%.2f %%" : "%.3g %%", 100.0 * share);
    return cell;
}

/* --- the head ----------------------------------------------------------------------------------
 */

enum { TITLE = 12, SENTENCE = 1024, FUNCTIONS_SHOWN = 8, OUTSTANDING_SHOWN = 8 };

/* Adds to a sentence; what does not fit is cut. */
static void add(char sentence[static SENTENCE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(char sentence[static SENTENCE], const char *format, ...)
{
    size_t length = strlen(sentence);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence + length, SENTENCE - length, format, arguments);
    va_end(arguments);
}

static void print_sentence(FILE *out, const char *title, const char *sentence,
                           const struct text_layout *layout)
{
    fprintf(out, "%-*s", TITLE, title);
    line_wrap(out, sentence, TITLE, TITLE, layout->width);
    fputc('\n', out);
}

static void print_attribute(FILE *out, const struct profile *profile, const char *title,
                            const char *name, const struct text_layout *layout)
{
    const struct profile_attribute *attribute = profile_attribute(profile, name);
    if (!attribute || attribute->text[0] == '\0')
        return;
    fprintf(out, "%-*s", TITLE, title);
    line_cut(out, attribute->text, layout->width ? layout->width - TITLE : 0);
    fputc('\n', out);
}

/* What of the run is not in the file. */
static void print_health(FILE *out, const struct profile *profile, const struct text_layout *layout)
{
    static const struct {
        const char *name, *text;
    } states[] = {
        {"scope_profile_ranks_cut_off", "cut off"},
        {"scope_profile_ranks_stopped", "stopped for lack of room"},
        {"scope_profile_ranks_damaged", "damaged"},
        {"scope_profile_ranks_unreadable", "unreadable"},
        {"scope_profile_ranks_missing", "missing"},
    };
    char sentence[SENTENCE] = "";
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        const struct profile_attribute *state = profile_attribute(profile, states[i].name);
        if (state && state->is_number && state->number > 0)
            add(sentence, "%s%" PRId64 " %s", *sentence ? ", " : "ranks: ", state->number,
                states[i].text);
    }
    if (*sentence)
        print_sentence(out, "Losses", sentence, layout);
}

/* A line for each rank that had requests outstanding where it ended, while they are few. */
static void print_outstanding(FILE *out, const struct summary *summary,
                              const struct text_layout *layout)
{
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < summary->end_count; i++) {
        const struct profile_end *end = summary->ends[i];
        char *sentence;
        if (!end->outstanding[0])
            continue;
        if (shown == OUTSTANDING_SHOWN) {
            left++;
            continue;
        }
        bool is_in = end->in_flight[0] != '\0';
        int length = asprintf(&sentence, "rank %" PRIu32 ": %s%s%soutstanding: %s", end->rank,
                              is_in ? "in " : "", end->in_flight, is_in ? "; " : "",
                              end->outstanding);
        if (length < 0)
            return;
        print_sentence(out, shown++ ? "" : "Requests", sentence, layout);
        free(sentence);
    }
    if (left > 0)
        fprintf(out, "%-*sand %zu more ranks\n", TITLE, "", left);
}

static void print_ends(FILE *out, const struct summary *summary, const struct text_layout *layout)
{
    char sentence[RANK_GROUPS_SENTENCE];
    if (ends_sentence(summary->ends, summary->end_count, sentence))
        print_sentence(out, "Ends", sentence, layout);
    print_outstanding(out, summary, layout);
}

static void print_size(FILE *out, const struct profile *profile, const struct summary *summary,
                       const struct text_layout *layout)
{
    char cell[CELL], sentence[SENTENCE] = "";
    add(sentence, "%s", print_count(profile->ranks, cell));
    const struct profile_attribute *nodes = profile_attribute(profile, "num_nodes");
    if (nodes && nodes->is_number)
        add(sentence, " on %" PRId64 " %s", nodes->number, nodes->number == 1 ? "node" : "nodes");
    add(sentence, ", %s MPI calls", print_count(summary->mpi_calls, cell));
    if (summary->session > 0)
        add(sentence, ", %s of the time in MPI",
            print_share(summary_share(summary->mpi, summary->session), cell));
    print_sentence(out, "Ranks", sentence, layout);
}

static void add_more(char sentence[static SENTENCE], const struct functions *functions)
{
    char cell[CELL];
    if (functions->count > FUNCTIONS_SHOWN)
        add(sentence, ", %s more", print_count(functions->count - FUNCTIONS_SHOWN, cell));
}

/* Calls that were counted beside the events: what happened to them, and what that means for the
 * regions. */
static void print_counts(FILE *out, const char *title, const struct functions *functions,
                         const char *what, const char *regions, const struct text_layout *layout)
{
    char cell[CELL], sentence[SENTENCE] = "";
    if (functions->total == 0)
        return;
    add(sentence, "%s %s %s", print_count(functions->total, cell),
        functions->total == 1 ? "call" : "calls", what);
    add(sentence, ", which took %s:", print_time(functions->time, cell));
    for (size_t i = 0; i < functions->count && i < FUNCTIONS_SHOWN; i++) {
        const struct function *function = &functions->list[i];
        add(sentence, "%s %s %s", i ? "," : "", print_count(function->count, cell), function->name);
        add(sentence, " (%s)", print_time(function->time, cell));
    }
    add_more(sentence, functions);
    add(sentence, "; %s", regions);
    print_sentence(out, title, sentence, layout);
}

static void print_failed(FILE *out, const struct functions *failed,
                         const struct text_layout *layout)
{
    char cell[CELL], sentence[SENTENCE] = "";
    if (failed->total == 0)
        return;
    add(sentence, "%s MPI %s:", print_count(failed->total, cell),
        failed->total == 1 ? "call" : "calls");
    for (size_t i = 0; i < failed->count && i < FUNCTIONS_SHOWN; i++) {
        const struct function *function = &failed->list[i];
        add(sentence, "%s %s %s", i ? "," : "", print_count(function->count, cell), function->name);
        if (function->error_class == PROFILE_FAILED_LEFT)
            add(sentence, " (did not return)");
        else if (function->error_class != PROFILE_FAILED_OTHER)
            add(sentence, " (error class %" PRId32 ")", function->error_class);
    }
    add_more(sentence, failed);
    print_sentence(out, "Failed", sentence, layout);
}

static void print_pauses(FILE *out, const struct summary *summary, const struct text_layout *layout)
{
    char cell[CELL], sentence[SENTENCE] = "";
    if (summary->pauses == 0)
        return;
    add(sentence, "%s in which calls were not recorded", print_time(summary->paused, cell));
    add(sentence, ": %s %s", print_count(summary->pauses, cell),
        summary->pauses == 1 ? "pause" : "pauses");
    add(sentence, " of %s %s", print_count(summary->paused_ranks, cell),
        summary->paused_ranks == 1 ? "rank" : "ranks");
    print_sentence(out, "Paused", sentence, layout);
}

static void print_head(FILE *out, const char *path, const struct profile *profile,
                       const struct summary *summary, const struct text_layout *layout)
{
    line_wrap(out, path, 0, 0, layout->width);
    fputc('\n', out);
    print_attribute(out, profile, "Command", "command_line", layout);
    print_attribute(out, profile, "Job", "scope_profile_job", layout);
    print_attribute(out, profile, "Time", "timestamp", layout);
    print_attribute(out, profile, "MPI", "mpi_library_version", layout);
    print_health(out, profile, layout);
    print_ends(out, summary, layout);
    print_size(out, profile, summary, layout);
    print_counts(out, "Polls", &summary->polls, "found nothing yet",
                 "among the regions below, polls in a row are one call", layout);
    print_counts(out, "Unrecorded", &summary->unrecorded, "found no room in the traces",
                 "the regions below are without them", layout);
    print_failed(out, &summary->failed, layout);
    print_pauses(out, summary, layout);
}

/* --- ranks -------------------------------------------------------------------------------------
 */

enum { RANK_NUMBER, RANK_CALLS, RANK_SESSION, RANK_MPI, RANK_SHARE, RANK_COLUMNS };

static const char *rank_cell(const void *data, size_t row, size_t column,
                             char text[static TABLE_CELL])
{
    const struct summary_rank *rank = &((const struct summary *)data)->ranks[row];
    switch (column) {
    case RANK_NUMBER:
        snprintf(text, TABLE_CELL, "%" PRIu32, rank->rank);
        return text;
    case RANK_CALLS:
        return print_count(rank->mpi_calls, text);
    case RANK_SESSION:
        return rank->session > 0 ? print_time(rank->session, text) : "-";
    case RANK_MPI:
        return print_time(rank->mpi, text);
    default:
        return print_share(summary_share(rank->mpi, rank->session), text);
    }
}

static void print_ranks(FILE *out, const struct summary *summary, const struct text_layout *layout)
{
    static const char *const titles[RANK_COLUMNS] = {"rank", "MPI calls", "session", "in MPI",
                                                     "share"};
    static const size_t expendable[] = {RANK_SESSION, RANK_CALLS};
    struct table table = {.titles = titles,
                          .column_count = RANK_COLUMNS,
                          .row_count = summary->rank_count,
                          .cell = rank_cell,
                          .data = summary};
    table_measure(&table);
    table_fit(&table, expendable, sizeof(expendable) / sizeof(*expendable), layout->width);
    fputc('\n', out);
    table_print_titles(out, &table);
    fputc('\n', out);
    for (size_t row = 0; row < table.row_count; row++) {
        table_print_row(out, &table, row);
        fputc('\n', out);
    }
}

/* --- regions -----------------------------------------------------------------------------------
 */

enum {
    REGION_CALLS,
    REGION_RANKS,
    REGION_TOTAL,
    REGION_MEAN,
    REGION_MAXIMUM,
    REGION_SHARE,
    REGION_COLUMNS
};

static const char *region_cell(const void *data, size_t row, size_t column,
                               char text[static TABLE_CELL])
{
    const struct summary *summary = data;
    const struct summary_region *region = &summary->regions[row];
    switch (column) {
    case REGION_CALLS:
        return print_count(region->calls, text);
    case REGION_RANKS:
        return print_count(region->ranks, text);
    case REGION_TOTAL:
        return print_time(region->total, text);
    case REGION_MEAN:
        return print_time(region->total / (double)region->calls, text);
    case REGION_MAXIMUM:
        return print_time((double)region->maximum, text);
    default:
        if (region->is_outside && !region->is_inside)
            return "-";
        return print_share(summary_share(region->total, summary->session), text);
    }
}

/* Where the names of the regions go. */
struct placement {
    bool is_short, is_below;
};

static size_t longest_name(const struct summary *summary, size_t count, bool is_short)
{
    char text[SHORT_NAME_SIZE];
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = summary->regions[i].name;
        size_t columns = line_columns(is_short ? short_name(name, text) : name);
        longest = columns > longest ? columns : longest;
    }
    return longest;
}

/* Names stand beside their numbers if the numbers that matter leave room for them, else below. */
static struct placement place_names(struct table *table, const struct summary *summary,
                                    size_t width)
{
    enum { NAME_MIN = 32 }; /* fewer columns, and most names of MPI regions would take two lines */
    static const size_t expendable[] = {REGION_MAXIMUM, REGION_MEAN, REGION_RANKS, REGION_SHARE};
    size_t all = table_width(table) + TABLE_GAP;
    if (width == 0 || all + longest_name(summary, table->row_count, false) <= width)
        return (struct placement){.is_short = false};
    size_t longest = longest_name(summary, table->row_count, true);
    size_t others = width > longest + TABLE_GAP ? width - longest - TABLE_GAP : 1;
    table_fit(table, expendable, 2, others);
    if (table_width(table) + TABLE_GAP + (longest < NAME_MIN ? longest : NAME_MIN) <= width)
        return (struct placement){.is_short = true};
    table_measure(table);
    table_fit(table, expendable, sizeof(expendable) / sizeof(*expendable), width);
    return (struct placement){.is_short = true, .is_below = true};
}

/* Prints a name behind, or below, what is on the line, and ends the line. */
static void print_name(FILE *out, const char *name, const struct table *table,
                       struct placement placement, size_t width)
{
    enum { INDENT = 8 };
    size_t column = placement.is_below ? INDENT : table_width(table) + TABLE_GAP;
    fprintf(out, "%s%*s", placement.is_below ? "\n" : "", placement.is_below ? INDENT : TABLE_GAP,
            "");
    line_wrap(out, name, column, column, width);
    fputc('\n', out);
}

static void print_regions(FILE *out, const struct summary *summary,
                          const struct text_layout *layout)
{
    static const char *const titles[REGION_COLUMNS] = {"calls", "ranks", "total",
                                                       "mean",  "max",   "share"};
    char text[SHORT_NAME_SIZE];
    size_t count = summary->region_count;
    if (layout->top > 0 && layout->top < count)
        count = layout->top;
    struct table table = {.titles = titles,
                          .column_count = REGION_COLUMNS,
                          .row_count = count,
                          .cell = region_cell,
                          .data = summary};
    table_measure(&table);
    struct placement placement = place_names(&table, summary, layout->width);
    fputc('\n', out);
    table_print_titles(out, &table);
    print_name(out, "region", &table, placement, layout->width);
    for (size_t row = 0; row < count; row++) {
        const char *name = summary->regions[row].name;
        table_print_row(out, &table, row);
        print_name(out, placement.is_short ? short_name(name, text) : name, &table, placement,
                   layout->width);
    }
    if (count < summary->region_count)
        fprintf(out, "... %zu more regions\n", summary->region_count - count);
}

void text_print(FILE *out, const char *path, const struct profile *profile,
                const struct summary *summary, const struct text_layout *layout)
{
    print_head(out, path, profile, summary, layout);
    print_ranks(out, summary, layout);
    print_regions(out, summary, layout);
}
