/* SPDX-License-Identifier: BSD-3-Clause */
/* The QMPI tools of a step: the site's and the user's, as words of WHAT. */
#include "spank/tools.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/run_environment.h"

#define NO_TOOLS "scope" /* a list of the recorder alone */

/* A text that grows as far as there is room. */
struct text {
    char *bytes;
    size_t length, size;
    bool cut;
};

static void add(struct text *text, const char *bytes, size_t length)
{
    if (length >= text->size - text->length) {
        text->cut = true;
        return;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

/* As a value in WHAT, where a comma would end it. */
static void add_escaped(struct text *text, const char *value)
{
    for (; *value; value++) {
        if (*value == ',' || *value == '\\')
            add(text, "\\", 1);
        add(text, value, 1);
    }
}

int tools_check(const char *site, struct error *err)
{
    char what[OPTIONS_TEXT_MAX];
    struct text text = {what, 0, sizeof what, false};
    struct options options;
    if (*site == '\0' || strcmp(site, "off") == 0)
        return 0;
    add(&text, "mpi-calls,qmpi=", strlen("mpi-calls,qmpi="));
    add_escaped(&text, site);
    return text.cut ? error_set(err, "the list is too long")
                    : options_parse(&options, what, err);
}

/* The user's list: of WHAT, or of a variable, where that of MPICH has colons. */
static void add_users(struct text *list, const char *what)
{
    size_t length;
    const char *value = options_value(what, "qmpi", &length);
    if (value) {
        add(list, value, length);
        return;
    }
    value = getenv(USER_ENV_QMPI_TOOLS);
    if (value && *value) {
        add_escaped(list, value);
        return;
    }
    value = getenv(MPICH_ENV_QMPI_TOOLS);
    size_t start = list->length;
    if (value && *value)
        add_escaped(list, value);
    for (char *p = list->bytes + start; *p; p++)
        *p = *p == ':' ? '+' : *p;
}

/* Takes the word out. */
static void take_out(char *what, const char *name)
{
    size_t length;
    const char *value = options_value(what, name, &length);
    if (!value)
        return;
    char *word = what + (value - what) - strlen(name) - 1, *end = word + strlen(name) + 1 + length;
    if (word > what) /* with the comma in front of it, or else the one behind */
        word--;
    else
        end += *end == ',';
    memmove(word, end, strlen(end) + 1);
}

static void add_text(struct text *text, const char *bytes)
{
    add(text, bytes, strlen(bytes));
}

/* Adds the user's tools behind those of the site, and where they are; -1 and err, and WHAT as it
 * was, if that cannot be. */
static int add_all(const char *site, const char *users, char what[static OPTIONS_TEXT_MAX],
                   struct error *err)
{
    char whole[OPTIONS_TEXT_MAX];
    struct text text = {whole, 0, sizeof whole, false};
    struct options options;
    size_t length;
    const char *path = getenv(USER_ENV_QMPI_PATH);

    add_text(&text, what);
    add_text(&text, ",qmpi=");
    add_escaped(&text, site);
    add_text(&text, *site ? "+" : "");
    add_text(&text, users);
    if (path && *path && !options_value(what, "qmpi-path", &length)) {
        add_text(&text, ",qmpi-path=");
        add_escaped(&text, path);
    }
    if (text.cut)
        return error_set(err, "the list of QMPI tools and the path to them are too long");
    if (options_parse(&options, whole, err) < 0)
        return -1;
    strcpy(what, whole);
    return 0;
}

/* Adds the site's tools alone, which were checked. */
static enum tools_result add_sites(const char *site, char what[static OPTIONS_TEXT_MAX],
                                   enum tools_result result, struct error *err)
{
    size_t before = strlen(what);
    struct text text = {what, before, OPTIONS_TEXT_MAX, false};
    add_text(&text, ",qmpi=");
    add_escaped(&text, site);
    if (!text.cut)
        return result;
    what[before] = '\0';
    error_set(err, "there is no room for what the site says of QMPI tools");
    return TOOLS_NO_ROOM;
}

enum tools_result tools_complete(const char *site, char what[static OPTIONS_TEXT_MAX],
                                 struct error *err)
{
    char users[OPTIONS_TEXT_MAX] = "";
    struct text list = {users, 0, sizeof users, false};

    add_users(&list, what);
    take_out(what, "qmpi");
    if (strcmp(site, "off") == 0) {
        bool asked = list.cut || (users[0] && strcmp(users, NO_TOOLS) != 0);
        if (asked)
            error_set(err, "this site does not let you load QMPI tools (qmpi-tools=off in "
                           "plugstack.conf)");
        return add_sites(NO_TOOLS, what, asked ? TOOLS_WITHOUT_USERS : TOOLS_COMPLETE, err);
    }
    if (list.cut)
        error_set(err, "the list of QMPI tools is too long");
    else if (users[0] == '\0')
        return *site ? add_sites(site, what, TOOLS_COMPLETE, err) : TOOLS_COMPLETE;
    else if (add_all(site, users, what, err) == 0)
        return TOOLS_COMPLETE;
    return add_sites(*site ? site : NO_TOOLS, what, TOOLS_WITHOUT_USERS, err);
}
