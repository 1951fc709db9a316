/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as text, for people. */
#include "report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NAME_WIDTH_MIN = 16, WIDTH_MIN = 40, WIDTH_MAX = 10000, CELL = 32 };

struct text_layout text_layout(size_t top)
{
    struct text_layout layout = {.top = top};
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return layout;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width > 0)
        layout.width = width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : (int)width;
    return layout;
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

/* Prints text from the file, without what a terminal would take for a command; at most width
 * bytes, "..." at the end if that is not all. width 0: all. */
static void print_safe(FILE *out, const char *text, size_t width)
{
    size_t length = strlen(text), shown = length;
    bool is_cut = width > 0 && length > width;
    if (is_cut) {
        shown = width - 3;
        while (shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80)
            shown--; /* not in the middle of a character */
    }
    for (size_t i = 0; i < shown; i++)
        fputc((unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i], out);
    if (is_cut)
        fputs("...", out);
}

/* --- parts -------------------------------------------------------------------------------------
 */

static void print_attribute(FILE *out, const struct profile *profile, const char *title,
                            const char *name, const struct text_layout *layout)
{
    enum { TITLE = 12 };
    const struct profile_attribute *attribute = profile_attribute(profile, name);
    if (!attribute || attribute->text[0] == '\0')
        return;
    fprintf(out, "%-*s", TITLE, title);
    print_safe(out, attribute->text, layout->width ? (size_t)layout->width - TITLE : 0);
    fputc('\n', out);
}

/* What of the run is not in the file. */
static void print_health(FILE *out, const struct profile *profile)
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
    const char *before = "Losses      ranks: ";
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        const struct profile_attribute *state = profile_attribute(profile, states[i].name);
        if (!state || !state->is_number || state->number <= 0)
            continue;
        fprintf(out, "%s%" PRId64 " %s", before, state->number, states[i].text);
        before = ", ";
    }
    if (strcmp(before, ", ") == 0)
        fputc('\n', out);
}

static void print_head(FILE *out, const char *path, const struct profile *profile,
                       const struct summary *summary, const struct text_layout *layout)
{
    char calls[CELL], ranks[CELL], share[CELL];
    print_safe(out, path, 0);
    fputc('\n', out);
    print_attribute(out, profile, "Command", "command_line", layout);
    print_attribute(out, profile, "Job", "scope_profile_job", layout);
    print_attribute(out, profile, "Time", "timestamp", layout);
    print_attribute(out, profile, "MPI", "mpi_library_version", layout);
    print_health(out, profile);
    fprintf(out, "Ranks       %s", print_count(profile->ranks, ranks));
    const struct profile_attribute *nodes = profile_attribute(profile, "num_nodes");
    if (nodes && nodes->is_number)
        fprintf(out, " on %" PRId64 " %s", nodes->number, nodes->number == 1 ? "node" : "nodes");
    fprintf(out, ", %s MPI calls", print_count(summary->mpi_calls, calls));
    if (summary->session > 0)
        fprintf(out, ", %s of the time in MPI",
                print_share(summary_share(summary->mpi, summary->session), share));
    fputc('\n', out);
}

static void print_ranks(FILE *out, const struct summary *summary)
{
    char calls[CELL], session[CELL], mpi[CELL], share[CELL];
    fprintf(out, "\n%8s %14s %12s %12s %10s\n", "rank", "MPI calls", "session", "in MPI", "share");
    for (size_t i = 0; i < summary->rank_count; i++) {
        const struct summary_rank *rank = &summary->ranks[i];
        fprintf(out, "%8" PRIu32 " %14s %12s %12s %10s\n", rank->rank,
                print_count(rank->mpi_calls, calls),
                rank->session > 0 ? print_time(rank->session, session) : "-",
                print_time(rank->mpi, mpi),
                print_share(summary_share(rank->mpi, rank->session), share));
    }
}

static void print_regions(FILE *out, const struct summary *summary,
                          const struct text_layout *layout)
{
    char calls[CELL], ranks[CELL], total[CELL], mean[CELL], maximum[CELL], share[CELL];
    size_t count = summary->region_count;
    if (layout->top > 0 && layout->top < count)
        count = layout->top;
    int used = fprintf(out, "\n%12s %7s %11s %10s %10s %9s  ", "calls", "ranks", "total", "mean",
                       "max", "share");
    fputs("region\n", out);
    size_t width = 0;
    if (layout->width > 0) /* the first character of the heading was the line before */
        width = layout->width - (used - 1) > NAME_WIDTH_MIN ? (size_t)(layout->width - (used - 1))
                                                            : NAME_WIDTH_MIN;
    for (size_t i = 0; i < count; i++) {
        const struct summary_region *region = &summary->regions[i];
        fprintf(out, "%12s %7s %11s %10s %10s %9s  ", print_count(region->calls, calls),
                print_count(region->ranks, ranks), print_time(region->total, total),
                print_time(region->total / (double)region->calls, mean),
                print_time((double)region->maximum, maximum),
                print_share(summary_share(region->total, summary->session), share));
        print_safe(out, region->name, width);
        fputc('\n', out);
    }
    if (count < summary->region_count)
        fprintf(out, "%12s %zu more regions\n", "...", summary->region_count - count);
}

void text_print(FILE *out, const char *path, const struct profile *profile,
                const struct summary *summary, const struct text_layout *layout)
{
    print_head(out, path, profile, summary, layout);
    print_ranks(out, summary);
    print_regions(out, summary, layout);
}
