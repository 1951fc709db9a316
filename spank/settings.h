/* SPDX-License-Identifier: BSD-3-Clause */
/* The administrator's arguments: KEY=VALUE words behind the plugin's path in plugstack.conf. */
#ifndef SCOPE_SETTINGS_H
#define SCOPE_SETTINGS_H

#include <limits.h>

struct settings {
    char preload[PATH_MAX];    /* the library that goes into the tasks */
    char merge_tool[PATH_MAX]; /* sp-merge */
};

/* Called with one message for each word that was not taken. */
typedef void settings_complain(const char *message);

/* Fills settings with the built-in paths, then with preload=PATH and merge-tool=PATH. A word that
 * is neither, or whose path is not absolute or too long, is reported and has no effect. */
void settings_read(struct settings *settings, int argc, char *argv[], settings_complain *complain);

#endif
