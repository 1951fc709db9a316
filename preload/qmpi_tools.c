/* SPDX-License-Identifier: BSD-3-Clause */
/* Which QMPI tools the user asks for, and the libraries that they are in. */
#define _GNU_SOURCE
#include "preload/qmpi_tools.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/glibc_compat.h"
#include "preload/identity.h"
#include "preload/report.h"
#include "schema/options.h"
#include "schema/run_environment.h"

static struct qmpi_tool tools[QMPI_TOOLS_MAX];
static size_t tool_count;

/* The list as text, its names end at these characters. */
static char list[OPTIONS_TEXT_MAX];
static const char *separators;

static const struct qmpi_tool *find(const char *name, size_t length)
{
    size_t count = __atomic_load_n(&tool_count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < count; i++) {
        if (strlen(tools[i].name) == length && memcmp(tools[i].name, name, length) == 0)
            return &tools[i];
    }
    return NULL;
}

/* Constructors run one after another, under the loader's lock. */
int qmpi_tools_announce(const char *name, void (*init)(int tool_id))
{
    size_t length = name ? strnlen(name, QMPI_NAME_MAX) : 0;
    if (length == 0 || length == QMPI_NAME_MAX || !init) {
        report_once("a QMPI tool announces itself without a name of less than %d bytes, or without "
                    "a function to call: it is not loaded",
                    QMPI_NAME_MAX);
        return -1;
    }
    if (find(name, length) || strcmp(name, QMPI_RECORDER) == 0) {
        report_once("the name of the QMPI tool \"%s\" is taken: the first one has it", name);
        return -1;
    }
    if (tool_count == QMPI_TOOLS_MAX) {
        report_once("the QMPI tool \"%s\" is one more than the %d that there can be: it is not "
                    "used",
                    name, QMPI_TOOLS_MAX);
        return -1;
    }
    memcpy(tools[tool_count].name, name, length + 1);
    tools[tool_count].init = init;
    __atomic_store_n(&tool_count, tool_count + 1, __ATOMIC_RELEASE);
    return 0;
}

/* The value of a word of WHAT, as it was meant; false if the word is not there. */
static bool word_text(const char *name, char text[static OPTIONS_TEXT_MAX])
{
    size_t left = 0, length = 0;
    const char *what = identity_what(), *value = what ? options_value(what, name, &left) : NULL;
    if (!value)
        return false;
    for (; left > 0 && length < OPTIONS_TEXT_MAX - 1; value++, left--) {
        if (*value == '\\' && left > 1) /* it escapes a comma or itself */
            value++, left--;
        text[length++] = *value;
    }
    text[length] = '\0';
    return true;
}

static void set_list(const char *text, const char *ends)
{
    separators = ends;
    if (strlen(text) < sizeof list)
        strcpy(list, text);
    else
        report_once("the list of QMPI tools is longer than %zu bytes: none is loaded",
                    sizeof list - 1);
}

bool qmpi_tools_asked(void)
{
    const char *users = getenv(USER_ENV_QMPI_TOOLS), *mpichs = getenv(MPICH_ENV_QMPI_TOOLS);
    separators = "+";
    if (!word_text("qmpi", list)) {
        if (users && *users)
            set_list(users, "+");
        else if (mpichs)
            set_list(mpichs, ":"); /* as MPICH has it */
    }
    return list[0] != '\0';
}

/* Where libraries are looked for: what WHAT says, or else the user's variable. */
static const char *path_text(char text[static OPTIONS_TEXT_MAX])
{
    const char *users = getenv(USER_ENV_QMPI_PATH);
    return word_text("qmpi-path", text) ? text : users ? users : "";
}

static void load(const char *file)
{
    if (!dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
        const char *reason = dlerror ? dlerror() : NULL;
        report_once("a library of QMPI tools cannot be loaded: %.900s", reason ? reason : file);
    }
}

/* Loads DIRECTORY/NAME.so or libNAME.so, if it is there. */
static void load_from(const char *directory, const char *name, size_t length)
{
    static const char prefixes[][4] = {"", "lib"};
    char file[PATH_MAX];
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        int needed = snprintf(file, sizeof file, "%s/%s%.*s.so", directory, prefixes[i],
                              (int)length, name);
        if (needed < (int)sizeof file && access(file, F_OK) == 0) {
            load(file);
            return;
        }
    }
}

/* Calls each with every name of the list, recorder or not. */
static void visit_names(void (*visit)(const char *name, size_t length, void *data), void *data)
{
    for (const char *name = list; *name;) {
        size_t length = strcspn(name, separators);
        visit(name, length, data);
        name += length + (name[length] != '\0');
    }
}

static bool is_recorder(const char *name, size_t length)
{
    return length == strlen(QMPI_RECORDER) && memcmp(name, QMPI_RECORDER, length) == 0;
}

/* A name leads to no other directory. */
static bool is_name(const char *name, size_t length)
{
    return length > 0 && length < QMPI_NAME_MAX && !memchr(name, '/', length);
}

static void load_missing(const char *name, size_t length, void *directory)
{
    if (is_name(name, length) && !is_recorder(name, length) && !find(name, length))
        load_from(directory, name, length);
}

static bool is_directory(const char *path)
{
    char inside[PATH_MAX];
    return snprintf(inside, sizeof inside, "%s/.", path) < (int)sizeof inside &&
           access(inside, F_OK) == 0;
}

/* Tools that a site installs for all lie beside this library. */
static bool own_directory(char directory[static PATH_MAX])
{
    Dl_info info;
    if (!dladdr || !dladdr((void *)(uintptr_t)qmpi_tools_load, &info) || *info.dli_fname != '/')
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    int needed = snprintf(directory, PATH_MAX, "%.*s/qmpi", (int)(slash - info.dli_fname),
                          info.dli_fname);
    return needed < PATH_MAX;
}

static void report_missing(const char *name, size_t length, void *data)
{
    (void)data;
    if (!is_recorder(name, length) && !find(name, length))
        report_once("there is no QMPI tool \"%.*s\": no library in " USER_ENV_QMPI_PATH
                    " announces it",
                    length < 60 ? (int)length : 60, name);
}

void qmpi_tools_load(void)
{
    char text[OPTIONS_TEXT_MAX], entry[PATH_MAX];
    const char *path = path_text(text);
    if (!dlopen)
        return;
    while (*path) {
        size_t length = strcspn(path, ":");
        if (*path != '/')
            report_once(USER_ENV_QMPI_PATH ": \"%.*s\" is no absolute path: nothing is loaded from "
                        "there",
                        length < 60 ? (int)length : 60, path);
        else if (length < sizeof entry) {
            memcpy(entry, path, length);
            entry[length] = '\0';
            if (is_directory(entry))
                visit_names(load_missing, entry);
            else
                load(entry);
        }
        path += length + (path[length] == ':');
    }
    if (own_directory(entry))
        visit_names(load_missing, entry);
    visit_names(report_missing, NULL);
}

static void no_init(int tool_id)
{
    (void)tool_id;
}

void qmpi_tools_spare(int (*announce)(const char *name, void (*init)(int tool_id)))
{
    char name[QMPI_NAME_MAX];
    const char *names = getenv(MPICH_ENV_QMPI_TOOLS);
    for (size_t length; names && *names; names += length + (names[length] != '\0')) {
        length = strcspn(names, ":");
        if (length == 0 || length >= sizeof name)
            continue;
        memcpy(name, names, length);
        name[length] = '\0';
        announce(name, no_init);
    }
}

static void visit_tool(const char *name, size_t length, void *data)
{
    void (*const *visit)(const struct qmpi_tool *) = data;
    const struct qmpi_tool *tool = is_recorder(name, length) ? NULL : find(name, length);
    if (tool || is_recorder(name, length))
        (*visit)(tool);
}

void qmpi_tools_visit(void (*visit)(const struct qmpi_tool *tool))
{
    visit_names(visit_tool, &visit);
}
