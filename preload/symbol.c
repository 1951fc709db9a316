/* SPDX-License-Identifier: BSD-3-Clause */
/* dlsym, which is interposed so that programs which look MPI up (ctypes, Julia) are seen as well.
 */
#define _GNU_SOURCE
#include "preload/symbol.h"

#include <stdbool.h>

#include "preload/dispatch.h"
#include "preload/glibc_compat.h"
#include "preload/objects.h"
#include "preload/recorder.h"

typedef void *lookup(void *handle, const char *name);

void *symbol_next;

/* A process without it has no MPI library that could be looked into. */
static void *no_symbol(void *handle, const char *name)
{
    (void)handle, (void)name;
    return NULL;
}

/* Looked for with dlvsym, which is nobody's to interpose. */
static lookup *next_lookup(void)
{
    void *next = __atomic_load_n(&symbol_next, __ATOMIC_ACQUIRE);
    if (!next) {
        next = dlvsym ? dlvsym(RTLD_NEXT, "dlsym", GLIBC_FIRST) : NULL;
        if (!next)
            return no_symbol;
        __atomic_store_n(&symbol_next, next, __ATOMIC_RELEASE);
    }
    return (lookup *)next;
}

void *symbol_find(void *handle, const char *name)
{
    return next_lookup()(handle, name);
}

/* What the caller of dlsym gets for an MPI name, where found is what it would get without us. */
static void *seen(unsigned entry, const char *name, void *found, const void *caller)
{
    void *ours = dispatch_exported(entry);
    if (found == ours)
        return dispatch_serves(entry, caller) ? ours : NULL;
    /* The library is looked for in any case: what is loaded next may ask for what it lacks. */
    if (found && dispatch_is_library(name, found) && recorder_wanted() &&
        !objects_defines(caller, name))
        return ours;
    return found;
}

void *symbol_answer(void *handle, const char *name, const void *caller, void **answer)
{
    lookup *next = next_lookup();
    unsigned entry = dispatch_entry(name);
    if (entry == ENTRY_COUNT)
        return (void *)next;
    /* Nobody before us has it, and nobody behind us. */
    *answer = NULL;
    if (handle == RTLD_NEXT && next(RTLD_DEFAULT, name) == dispatch_exported(entry) &&
        !dispatch_serves(entry, caller))
        return NULL;
    if (handle == RTLD_NEXT)
        return (void *)next;
    *answer = seen(entry, name, next(handle, name), caller);
    return NULL;
}
