/* SPDX-License-Identifier: BSD-3-Clause */
/* The formulas of LIKWID's metrics, out of the text files of its groups. */
#define _GNU_SOURCE
#include "spank/likwid_formulas.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024 };

static void release(char *formulas[LIKWID_FORMULAS_MAX])
{
    for (size_t i = 0; i < LIKWID_FORMULAS_MAX; i++) {
        free(formulas[i]);
        formulas[i] = NULL;
    }
}

static char *trim(char *line)
{
    line += strspn(line, " \t");
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r\n", line[length - 1]))
        line[--length] = '\0';
    return line;
}

/* "PMC0  RETIRED_INSTRUCTIONS" is event number i. */
static bool is_event(const struct likwid_names *names, size_t i, char *line)
{
    size_t length = strcspn(line, " \t");
    const char *event = line + length + strspn(line + length, " \t");
    return i < names->event_count && strlen(names->counters[i]) == length &&
           strncmp(line, names->counters[i], length) == 0 && strcmp(event, names->events[i]) == 0;
}

/* "Clock [MHz]  1.E-06*(FIXC1/FIXC2)/inverseClock" is metric number i: a formula has no blanks. */
static char *metric_formula(const struct likwid_names *names, size_t i, char *line)
{
    char *blank = strrchr(line, ' '), *tab = strrchr(line, '\t');
    char *before = blank > tab ? blank : tab;
    if (!before || i >= names->metric_count)
        return NULL;
    char *formula = strdup(before + 1);
    *before = '\0';
    if (formula && strcmp(trim(line), names->metrics[i]) == 0)
        return formula;
    free(formula);
    return NULL;
}

/* Whether all of the file is what names says. */
static bool read_group(FILE *file, const struct likwid_names *names,
                       char *formulas[LIKWID_FORMULAS_MAX])
{
    char buffer[LINE_SIZE];
    enum { OTHER, EVENTS, METRICS } part = OTHER;
    size_t events = 0, metrics = 0;
    while (fgets(buffer, sizeof buffer, file)) {
        char *line = trim(buffer);
        if (strcmp(line, "LONG") == 0)
            break;
        if (strcmp(line, "EVENTSET") == 0 || strcmp(line, "METRICS") == 0)
            part = *line == 'E' ? EVENTS : METRICS;
        else if (*line && part == EVENTS && !is_event(names, events++, line))
            return false;
        else if (*line && part == METRICS &&
                 !(formulas[metrics] = metric_formula(names, metrics, line)))
            return false;
        else if (*line && part == METRICS)
            metrics++;
    }
    return events == names->event_count && metrics == names->metric_count;
}

static bool read_file(const char *directory, const char *architecture,
                      const struct likwid_names *names, char *formulas[LIKWID_FORMULAS_MAX])
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s/%s.txt", directory, architecture, names->group) >=
        (int)sizeof path)
        return false;
    FILE *file = fopen(path, "re");
    bool is_it = file && read_group(file, names, formulas);
    if (file)
        fclose(file);
    if (!is_it)
        release(formulas);
    return is_it;
}

int likwid_formulas_find(const char *directory, const struct likwid_names *names,
                         char *formulas[LIKWID_FORMULAS_MAX])
{
    struct dirent *entry;
    bool is_found = false, is_clear = true;
    DIR *architectures = opendir(directory);
    memset(formulas, 0, LIKWID_FORMULAS_MAX * sizeof *formulas);
    if (names->metric_count >= LIKWID_FORMULAS_MAX)
        is_clear = false;
    while (architectures && is_clear && (entry = readdir(architectures))) {
        char *others[LIKWID_FORMULAS_MAX] = {NULL};
        if (entry->d_name[0] == '.' || !read_file(directory, entry->d_name, names, others))
            continue;
        for (size_t i = 0; is_found && i < names->metric_count; i++)
            is_clear = is_clear && strcmp(formulas[i], others[i]) == 0;
        if (is_found)
            release(others);
        else
            memcpy(formulas, others, sizeof others);
        is_found = true;
    }
    if (architectures)
        closedir(architectures);
    if (is_found && is_clear)
        return 0;
    release(formulas);
    return -1;
}
