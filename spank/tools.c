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

static int add_word(char what[static OPTIONS_TEXT_MAX], const char *word, const char *value)
{
    struct text text = {what, strlen(what), OPTIONS_TEXT_MAX, false};
    size_t before = text.length;
    add(&text, word, strlen(word));
    add(&text, value, strlen(value));
    if (text.cut)
        what[before] = '\0';
    return text.cut ? -1 : 0;
}

int tools_complete(const char *site, char what[static OPTIONS_TEXT_MAX], struct error *err)
{
    char tools[OPTIONS_TEXT_MAX] = "", path[OPTIONS_TEXT_MAX] = "", whole[OPTIONS_TEXT_MAX];
    struct text list = {tools, 0, sizeof tools, false}, where = {path, 0, sizeof path, false};
    struct options options;
    size_t length;
    bool forbidden = strcmp(site, "off") == 0;
    const char *variable = getenv(USER_ENV_QMPI_PATH);

    add_users(&list, what);
    bool asked = tools[0] != '\0';
    take_out(what, "qmpi");
    if (forbidden) {
        add_word(what, ",qmpi=", NO_TOOLS);
        return asked && strcmp(tools, NO_TOOLS) != 0
                   ? error_set(err, "this site does not let you load QMPI tools (qmpi-tools=off in "
                                    "plugstack.conf)")
                   : 0;
    }
    if (*site) {
        char users[OPTIONS_TEXT_MAX];
        strcpy(users, tools);
        list.length = 0;
        add(&list, site, strlen(site));
        add(&list, "+", asked);
        add(&list, users, strlen(users));
    }
    if (tools[0] == '\0')
        return 0;
    strcpy(whole, what);
    if (variable && *variable && !options_value(what, "qmpi-path", &length))
        add_escaped(&where, variable);
    if (list.cut || where.cut || add_word(whole, ",qmpi=", tools) < 0 ||
        (path[0] && add_word(whole, ",qmpi-path=", path) < 0)) {
        add_word(what, ",qmpi=", NO_TOOLS);
        return error_set(err, "the list of QMPI tools and the path to them are too long");
    }
    if (options_parse(&options, whole, err) < 0) {
        add_word(what, ",qmpi=", NO_TOOLS);
        return -1;
    }
    strcpy(what, whole);
    return 0;
}
