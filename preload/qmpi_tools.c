/* SPDX-License-Identifier: BSD-3-Clause */
/* Which QMPI tools the user asks for, and the libraries that they are in. */
#define _GNU_SOURCE
#include "preload/qmpi_tools.h"

#include <limits.h>
#include <stdarg.h>
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
static bool loading_sites; /* those that announce themselves now are the site's */

static char list[OPTIONS_TEXT_MAX]; /* names joined by '+' */

/* What went wrong while libraries were loaded, told in one line when all is known. */
static struct {
    char text[1000];
    size_t length;
} trouble;

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
    size_t room = sizeof trouble.text - trouble.length, start = 0;
    char *end = trouble.text + trouble.length;
    va_list args;
    if (trouble.length > 0)
        start = (size_t)snprintf(end, room, "; ");
    if (start >= room)
        return;
    va_start(args, format);
    vsnprintf(end + start, room - start, format, args);
    va_end(args);
    trouble.length += strlen(end);
}

static struct qmpi_tool *find(const char *name, size_t length)
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
        report_once(REPORT_TOOLS,
                    "a QMPI tool announces itself without a name of less than %d bytes, or without "
                    "a function to call: it is not loaded",
                    QMPI_NAME_MAX);
        return -1;
    }
    struct qmpi_tool *other = find(name, length);
    if (other && loading_sites) { /* of a library that the program was started with */
        other->init = init;
        return 0;
    }
    if (other || strcmp(name, QMPI_RECORDER) == 0) {
        report_once(REPORT_TOOLS,
                    "the name of the QMPI tool \"%s\" is taken: the first one has it", name);
        return -1;
    }
    if (tool_count == QMPI_TOOLS_MAX) {
        report_once(REPORT_TOOLS,
                    "the QMPI tool \"%s\" is one more than the %d that there can be: it is not "
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

/* What the user's variables say; MPICH's has colons. */
static bool variable_text(void)
{
    const char *users = getenv(USER_ENV_QMPI_TOOLS), *mpichs = getenv(MPICH_ENV_QMPI_TOOLS);
    bool is_users = users && *users;
    const char *text = is_users ? users : mpichs ? mpichs : "";
    if (strlen(text) >= sizeof list) {
        report_once(REPORT_TOOLS, "the list of QMPI tools is longer than %zu bytes: none is loaded",
                    sizeof list - 1);
        return false;
    }
    strcpy(list, text);
    for (char *p = is_users ? NULL : strchr(list, ':'); p; p = strchr(p, ':'))
        *p = '+';
    return true;
}

bool qmpi_tools_asked(void)
{
    struct error err;
    if ((!word_text("qmpi", list) && !variable_text()) || list[0] == '\0')
        return false;
    if (options_check_tools(list, &err) == 0)
        return true;
    report_once(REPORT_TOOLS, "%s: no QMPI tool is loaded", err.text);
    return false;
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
        note("a library of QMPI tools cannot be loaded: %s", reason ? reason : file);
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
        size_t length = strcspn(name, "+");
        visit(name, length, data);
        name += length + (name[length] != '\0');
    }
}

static bool is_recorder(const char *name, size_t length)
{
    return length == strlen(QMPI_RECORDER) && memcmp(name, QMPI_RECORDER, length) == 0;
}

static void load_missing(const char *name, size_t length, void *directory)
{
    if (!is_recorder(name, length) && (loading_sites || !find(name, length)))
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

static void note_missing(const char *name, size_t length, void *data)
{
    (void)data;
    if (!is_recorder(name, length) && !find(name, length))
        note("there is no QMPI tool \"%.*s\": no library in " USER_ENV_QMPI_PATH " announces it",
             length < 60 ? (int)length : 60, name);
}

static void load_along(const char *path)
{
    char entry[PATH_MAX];
    while (*path) {
        size_t length = strcspn(path, ":");
        if (*path != '/')
            note(USER_ENV_QMPI_PATH ": \"%.*s\" is no absolute path: nothing is loaded from there",
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
}

/* What the site has comes first, so that no library of a user's takes its name. */
void qmpi_tools_load(void)
{
    char text[OPTIONS_TEXT_MAX], sites[PATH_MAX];
    if (dlopen) {
        loading_sites = own_directory(sites);
        if (loading_sites)
            visit_names(load_missing, sites);
        loading_sites = false;
        load_along(path_text(text));
    }
    visit_names(note_missing, NULL);
    if (trouble.length > 0)
        report_once(REPORT_LOADING, "%s", trouble.text);
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
