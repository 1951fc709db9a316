/* SPDX-License-Identifier: BSD-3-Clause */
/* From an exported MPI name to the function that serves it in this process. */
#define _GNU_SOURCE
#include "preload/dispatch.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "preload/exports.h"
#include "preload/glibc_compat.h"
#include "preload/identity.h"
#include "preload/objects.h"
#include "preload/qmpi.h"
#include "preload/qmpi_tools.h"
#include "preload/recorder.h"
#include "preload/report.h"

enum { VERSION_SIZE = 8192 }; /* MPI_MAX_LIBRARY_VERSION_STRING of MPICH, the largest */

void *dispatch_next_table[ENTRY_COUNT];

/* By entry, for QMPI tools, which may stand between a wrapper and what it would call. */
static void *behind[ENTRY_COUNT], *recorded[ENTRY_COUNT];

/* In trampolines.S. Offsets lead from their own place to the exported functions: they need no
 * relocation, of which every process would pay for a thousand. */
extern void *dispatch_slots[ENTRY_COUNT];
extern const int32_t dispatch_offsets[ENTRY_COUNT];

static const struct family *const families[] = {&family_standard, &family_openmpi, &family_mpich};

/* What was found: written by whoever comes first, by others with the same values. */
static void *library;
static const struct family *family; /* NULL: the library is left alone */
static char version[VERSION_SIZE];
static struct selection selection;
static bool paused;

bool dispatch_records(enum mpi_function function)
{
    return selection_has(&selection, function) && !dispatch_is_paused();
}

bool dispatch_is_paused(void)
{
    return __atomic_load_n(&paused, __ATOMIC_ACQUIRE);
}

const struct selection *dispatch_selection(void)
{
    return &selection;
}

const char *dispatch_mpi_version(void)
{
    return version;
}

/* No table of their addresses: the loader would have to fill it in, in every process there is. */
static const char *pmpi_name(enum mpi_function function)
{
    switch (function) {
#define NAME(function, operation, kind)                                                            \
    case FUNCTION_##function:                                                                      \
        return "P" #function;
        MPI_FUNCTIONS(NAME)
#undef NAME
    case FUNCTION_COUNT:
        break;
    }
    return "";
}

const char *dispatch_name(unsigned entry)
{
    return pmpi_name(entry / 2) + (entry % 2 ? 0 : 1);
}

static bool text_is_of(const struct family *candidate)
{
    for (const char *const *text = candidate->texts; *text; text++) {
        if (strncmp(version, *text, strlen(*text)) == 0)
            return true;
    }
    return false;
}

static bool object_is_of(const struct family *candidate, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *object = slash ? slash + 1 : path;
    return !candidate->object || strncmp(object, candidate->object, strlen(candidate->object)) == 0;
}

/* Handles of one family crash another's functions, so several signs must agree. */
static const struct family *family_of(void *handle, const char *path)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (object_is_of(families[i], path) && dlsym(handle, families[i]->marker) &&
            text_is_of(families[i]))
            return families[i];
    }
    return NULL;
}

static void read_version(void *handle)
{
    int length = 0;
    int (*get)(char *, int *);
    *(void **)&get = dlsym(handle, "PMPI_Get_library_version");
    if (!get)
        return;
    get(version, &length);
    version[VERSION_SIZE - 1] = '\0';
    version[strcspn(version, "\n")] = '\0';
    for (char *p = version; *p; p++) /* MPICH's has a tab */
        *p = (unsigned char)*p < ' ' ? ' ' : *p;
}

/* By this name copies of this library in one process know of each other; contrib/doctor finds the
 * line in the file. */
extern __attribute__((visibility("default"))) const char scope_profile_preload[];
const char scope_profile_preload[] = "\nscope-profile-version=" PACKAGE_VERSION "\n";

static bool is_ours(const void *address)
{
    Dl_info ours, theirs;
    return dladdr && dladdr((void *)(uintptr_t)dispatch_resolve, &ours) &&
           dladdr(address, &theirs) && ours.dli_fbase == theirs.dli_fbase;
}

/* Of several copies the first in search order records: calls reach it first. Asked by where it lies,
 * since to all of them the name itself is the first one's. */
static bool is_second_copy(void)
{
    const void *first = dlsym(RTLD_DEFAULT, "scope_profile_preload");
    return first && !is_ours(first);
}

/* Tools announce themselves to us, also where the library would host them. */
static void spare_tools(void *handle)
{
    int (*announce)(const char *, void (*)(int));
    *(void **)&announce = dlsym(handle, "QMPI_Register_tool_name");
    if (announce && !is_ours((void *)(uintptr_t)announce))
        qmpi_tools_spare(announce);
}

/* Decides who serves the calls into the library that was found. Tools may be at work as soon as
 * they are started, so all else is known by then. */
static void choose_family(void *handle, const char *path)
{
    library = handle;
    spare_tools(handle);
    read_version(handle);
    const struct family *found = family_of(handle, path);
    if (!recorder_wanted() || is_second_copy())
        return;
    if (!found)
        report_once(
            REPORT_PROFILING,
            "%s: an MPI library of a family that is not known (\"%.60s\"): the program runs "
            "without profiling",
            path, version);
    else if (found->attach(handle) < 0)
        report_once(REPORT_PROFILING,
                    "%s lacks functions that its family has: the program runs without profiling",
                    path);
    else {
        selection = selection_read(identity_what());
        paused = selection.paused;
        family = found;
        qmpi_start(found->id, version, found->argument_error);
    }
}

/* Finds the MPI library and its family, once. An absence is not remembered: it may be loaded later.
 * Returns NULL where there is none. *known is false inside a call that the library makes while we
 * ask it for its version, or that a tool makes while it is started; and in another thread then,
 * unless it waits: a tool may be waiting for that thread. */
static void *find_library(bool *known, bool waits)
{
    static int state; /* 1: being looked at, 2: known */
    static __thread bool looking;
    const char *path;
    int none = 0;

    *known = true;
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2)
        return library;
    void *handle = objects_find_mpi(&path);
    if (!handle || looking) {
        *known = false;
        return handle;
    }
    if (!__atomic_compare_exchange_n(&state, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != 2) {
            if (!waits && qmpi_is_starting()) {
                *known = false;
                return handle;
            }
            usleep(10);
        }
        return library;
    }
    looking = true;
    exports_settle(handle);
    choose_family(handle, path);
    looking = false;
    __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
    return handle;
}

/* A program may ask whether its MPI has a function before it calls any. */
__attribute__((constructor)) static void settle_exports(void)
{
    const char *path;
    exports_settle(objects_promise_mpi() ? objects_find_mpi(&path) : NULL);
}

/* MPI_X is the next in search order, so that another tool below us sees its call; a library that
 * was opened locally is in no search order, and its own function serves. */
static void *find_next(void *handle, unsigned entry, const char *name)
{
    void *next = entry % 2 ? NULL : dlsym(RTLD_NEXT, name);
    if (next && is_ours(next))
        next = NULL;
    return next ? next : dlsym(handle, name);
}

/* Programs with an MPI stub of their own, which has no PMPI_Init: what they would have got. */
static void *find_without_mpi(const char *name, const void *caller)
{
    void *next = dlsym(RTLD_NEXT, name);
    void *holder = next ? NULL : objects_open_holder(caller);
    if (holder) {
        next = dlsym(holder, name);
        dlclose(holder);
    }
    return next && !is_ours(next) ? next : NULL;
}

unsigned dispatch_entry(const char *name)
{
    unsigned pmpi = *name == 'P';
    for (unsigned function = 0; strncmp(name + pmpi, "MPI_", 4) == 0 && function < FUNCTION_COUNT;
         function++) {
        if (strcmp(dispatch_name(ENTRY_MPI(function)), name + pmpi) == 0)
            return 2 * function + pmpi;
    }
    return ENTRY_COUNT;
}

void *dispatch_exported(unsigned entry)
{
    return (void *)((uintptr_t)&dispatch_offsets[entry] + (intptr_t)dispatch_offsets[entry]);
}

bool dispatch_is_library(const char *name, const void *function)
{
    bool known;
    void *handle = find_library(&known, false);
    return handle && dlsym(handle, name) == function;
}

bool dispatch_serves(unsigned entry, const void *caller)
{
    const char *name = dispatch_name(entry);
    bool known;
    void *handle = find_library(&known, false);
    return (handle ? find_next(handle, entry, name) : find_without_mpi(name, caller)) != NULL;
}

static _Noreturn void undefined(const char *name)
{
    char line[256];
    int length = snprintf(line, sizeof line, "symbol lookup error: undefined symbol: %s\n", name);
    ssize_t written = write(STDERR_FILENO, line, (size_t)length);
    (void)written;
    _exit(127); /* as the loader ends a program that calls what is not there */
}

/* Who serves an entry: the wrapper; the one of a function that is not recorded but has to be seen;
 * or what stands behind us. */
static void *choose_target(unsigned entry, void *next)
{
    void *target = NULL;
    if (family)
        target = (dispatch_records(entry / 2) ? family->wrapper : family->quiet)(entry);
    return target ? target : next;
}

/* Leads an entry to who serves it, or its QMPI tools there. Another thread may pause recording at
 * any time: the last word is of who sees the last state. */
static void *lead(unsigned entry, void *next)
{
    bool has_tools = qmpi_wants(entry / 2);
    void *target;
    do {
        target = choose_target(entry, next);
        __atomic_store_n(&recorded[entry], target, __ATOMIC_SEQ_CST);
        if (!has_tools)
            __atomic_store_n(&dispatch_slots[entry], target, __ATOMIC_SEQ_CST);
    } while (choose_target(entry, next) != target);
    if (!has_tools)
        return target;
    target = qmpi_way_head(entry);
    __atomic_store_n(&dispatch_slots[entry], target, __ATOMIC_SEQ_CST);
    return target;
}

/* Notes what stands behind us for an entry, and leads it to who serves it. */
static void *settle(unsigned entry, void *next)
{
    __atomic_store_n(&behind[entry], next, __ATOMIC_SEQ_CST);
    if (qmpi_wants_below(entry / 2))
        next = qmpi_way_below(entry / 2);
    __atomic_store_n(&dispatch_next_table[entry], next, __ATOMIC_SEQ_CST);
    return lead(entry, next);
}

/* For an entry that a tool calls before the program does. */
static __attribute__((noinline, cold)) void *served(void **table, unsigned entry)
{
    void *next = find_next(library, entry, dispatch_name(entry));
    if (!next)
        return (void *)qmpi_way_nowhere;
    settle(entry, next);
    return __atomic_load_n(&table[entry], __ATOMIC_ACQUIRE);
}

void *dispatch_behind(unsigned entry)
{
    void *next = __atomic_load_n(&behind[entry], __ATOMIC_ACQUIRE);
    return __builtin_expect(next != NULL, 1) ? next : served(behind, entry);
}

void *dispatch_recorded(unsigned entry)
{
    void *target = __atomic_load_n(&recorded[entry], __ATOMIC_ACQUIRE);
    return __builtin_expect(target != NULL, 1) ? target : served(recorded, entry);
}

void *dispatch_quiet(unsigned entry)
{
    return family ? family->quiet(entry) : NULL;
}

bool dispatch_is_behind(const void *address)
{
    return objects_holds_any(address, behind, ENTRY_COUNT);
}

/* Puts every entry that was called already on its way while recording is paused, or not. */
static void pause_recording(bool pause)
{
    if (!family || __atomic_exchange_n(&paused, pause, __ATOMIC_SEQ_CST) == pause)
        return;
    recorder_pause(pause);
    for (unsigned entry = 0; entry < ENTRY_COUNT; entry++) {
        void *next = __atomic_load_n(&dispatch_next_table[entry], __ATOMIC_ACQUIRE);
        if (next)
            lead(entry, next);
    }
}

/* MPI_Pcontrol, as the MPI standard suggests its levels. Others are for other tools. */
static void control(int level)
{
    switch (level) {
    case 0:
        pause_recording(true);
        break;
    case 1:
        pause_recording(false);
        break;
    case 2:
        if (recorder_thread)
            recorder_flush(recorder_thread);
        break;
    }
}

static bool starts_mpi(enum mpi_function function)
{
    return function == FUNCTION_MPI_Init || function == FUNCTION_MPI_Init_thread ||
           function == FUNCTION_MPI_Session_init;
}

void *dispatch_resolve(unsigned entry, const void *caller, uintptr_t first)
{
    const char *name = dispatch_name(entry);
    bool known;
    void *handle = find_library(&known, starts_mpi(entry / 2) && !qmpi_is_tool(caller));
    void *next = handle ? find_next(handle, entry, name) : find_without_mpi(name, caller);
    if (!next)
        undefined(name);
    if (!known)
        return next;
    if (entry / 2 == FUNCTION_MPI_Pcontrol) {
        control((int)first);
        return next;
    }
    return settle(entry, next);
}
