/* SPDX-License-Identifier: BSD-3-Clause */
/* The administrator's arguments: KEY=VALUE words behind the plugin's path in plugstack.conf. */
#ifndef SCOPE_SETTINGS_H
#define SCOPE_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "schema/options.h"
#include "schema/step_record.h"

enum { SETTINGS_LIST_MAX = 4096 };

struct settings {
    char preload[PATH_MAX];       /* the library that goes into the tasks */
    char merge_tool[PATH_MAX];    /* sp-merge */
    char registry[PATH_MAX];      /* the directory of registry.h */
    struct epilog_terms epilog;
    char spool[PATH_MAX];         /* root's directory for traces on the node; "": none */
    uint64_t spool_size;          /* bytes of a step on the node there; 0: not limited */
    uint32_t spool_timeout;       /* seconds to copy them to the run directory */
    char what[OPTIONS_TEXT_MAX];  /* WHAT for steps whose user says nothing; "": nothing */
    char words[OPTIONS_TEXT_MAX]; /* of WHAT, for those that it does not have: ",out=DIR,..." */
    char qmpi_tools[SETTINGS_LIST_MAX]; /* see tools.h */
    char deny_partition[SETTINGS_LIST_MAX]; /* names, separated by commas; "": none */
    char likwid_tool[PATH_MAX];             /* sp-likwid-try */
    bool likwid;                            /* users may ask for counters */
    char allow_user[SETTINGS_LIST_MAX];     /* names or numbers; "": all */
};

/* Called with one message for each word that was not taken. */
typedef void settings_complain(const char *message);

/* Fills settings with the built-in paths, then with what the words say. A word that is unknown, or
 * has a value that cannot be, is reported and has no effect. */
void settings_read(struct settings *settings, int argc, char *argv[], settings_complain *complain);

/* Whether the list has the name. */
bool settings_list_has(const char *list, const char *name);

/* Adds to what[OPTIONS_TEXT_MAX] the administrator's words that it does not have, as far as there
 * is room. */
void settings_complete(const struct settings *settings, char what[static OPTIONS_TEXT_MAX]);

#endif
