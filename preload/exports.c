/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the names that we export are to be had in this process. */
#define _GNU_SOURCE
#include "preload/exports.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/dispatch.h"
#include "preload/glibc_compat.h"
#include "preload/image.h"
#include "preload/objects.h"

/* By entry: it is referred to weakly; nobody serves it. */
static bool referred[ENTRY_COUNT], unserved[ENTRY_COUNT];

/* The entry whose exported function is at this address; ENTRY_COUNT if there is none. Their
 * addresses rise. */
static unsigned entry_at(uintptr_t address)
{
    unsigned low = 0, high = ENTRY_COUNT;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        uintptr_t exported = (uintptr_t)dispatch_exported(middle);
        if (exported == address)
            return middle;
        if (exported < address)
            low = middle + 1;
        else
            high = middle;
    }
    return ENTRY_COUNT;
}

/* What to do with each weak reference to a function of ours. */
struct visit {
    void (*see)(struct visit *visit, const struct image_reference *reference, unsigned entry);
    const struct image *image; /* which it is in */
    bool opened;               /* its read-only pages may be written to */
    bool any;                  /* one was seen */
};

static void note(struct visit *visit, const struct image_reference *reference, unsigned entry)
{
    (void)reference;
    referred[entry] = visit->any = true;
}

static void clear(struct visit *visit, const struct image_reference *reference, unsigned entry)
{
    if (!unserved[entry])
        return;
    if (!visit->opened && image_is_relro(visit->image, reference->slot)) {
        visit->opened = image_open_relro(visit->image, true);
        if (!visit->opened)
            return;
    }
    __atomic_store_n(reference->slot, reference->addend, __ATOMIC_RELAXED);
}

static void visit_relocation(struct visit *visit, const ElfW(Rela) *relocation)
{
    struct image_reference reference;
    if (!image_weak_reference(visit->image, relocation, &reference))
        return;
    uintptr_t value = __atomic_load_n(reference.slot, __ATOMIC_RELAXED) - reference.addend;
    unsigned entry = value ? entry_at(value) : ENTRY_COUNT;
    if (entry < ENTRY_COUNT)
        visit->see(visit, &reference, entry);
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct visit *visit = data;
    struct image image;
    (void)size;

    if (!image_read(&image, info) || image_holds(&image, unserved))
        return 0;
    visit->image = &image;
    visit->opened = false;
    for (int which = 0; which < 2; which++) {
        for (size_t i = 0; i < image.relocations[which].count; i++)
            visit_relocation(visit, &image.relocations[which].list[i]);
    }
    if (visit->opened)
        image_open_relro(&image, false);
    return 0;
}

/* The loader takes a symbol whose value is 0 for one that is not defined here. Others may be
 * looking at the same time, so nothing else of it is changed. */
static void withdraw(const struct image *ours)
{
    if (!image_open_symbols(ours, true))
        return;
    for (unsigned entry = 0; entry < ENTRY_COUNT; entry++) {
        ElfW(Sym) *symbol = unserved[entry] ? image_symbol(ours, dispatch_name(entry)) : NULL;
        if (symbol && ours->base + symbol->st_value == (uintptr_t)dispatch_exported(entry))
            __atomic_store_n(&symbol->st_value, 0, __ATOMIC_RELAXED);
    }
    image_open_symbols(ours, false);
}

static int withdraw_if_ours(struct dl_phdr_info *info, size_t size, void *data)
{
    struct image image;
    (void)size, (void)data;
    if (!image_read(&image, info) || !image_holds(&image, unserved))
        return 0;
    withdraw(&image);
    return 1;
}

/* True if library has a name, or who comes behind us, but for a copy of this library. */
static bool is_served(const char *name, void *library, const void *copy)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (next && !(copy && objects_holds_any(copy, &next, 1)))
        return true;
    return library && dlsym(library, name);
}

/* Strikes out the names that the object which holds this function defines. dlsym would take four
 * times as long for each. */
static int strike_out_served(struct dl_phdr_info *info, size_t size, void *function)
{
    struct image image;
    (void)size;
    if (!image_read(&image, info) || !image_holds(&image, function))
        return 0;
    for (unsigned entry = 0; entry < ENTRY_COUNT; entry++)
        unserved[entry] = unserved[entry] && !image_symbol(&image, dispatch_name(entry));
    return 1;
}

/* Finds the names that nobody serves, of all or of those that are referred to; false if there are
 * none. */
static bool find_unserved(void *library)
{
    bool all = library != NULL, any = false;
    const void *copy = dlsym(RTLD_NEXT, "scope_profile_preload");
    void *init = library ? dlsym(library, "PMPI_Init") : NULL;
    for (unsigned entry = 0; entry < ENTRY_COUNT; entry++)
        unserved[entry] = all || referred[entry];
    if (init)
        dl_iterate_phdr(strike_out_served, init);
    /* What is in search order need not be asked twice. */
    if (library && dlsym(RTLD_NEXT, "PMPI_Init") == init)
        library = NULL;
    for (unsigned entry = 0; entry < ENTRY_COUNT; entry++) {
        unserved[entry] = unserved[entry] && !is_served(dispatch_name(entry), library, copy);
        any |= unserved[entry];
    }
    return any;
}

static void settle(void *library)
{
    struct visit visit = {.see = clear};
    bool any = find_unserved(library);
    if (any && library)
        dl_iterate_phdr(withdraw_if_ours, NULL);
    /* This takes the loader's lock: what others were loading meanwhile is relocated then, and its
     * pages are protected. It is found, so that dlerror has nothing to tell of our questions. */
    dlsym(RTLD_DEFAULT, "dlsym");
    if (any)
        dl_iterate_phdr(visit_object, &visit);
}

void exports_settle(void *library)
{
    static bool running, settled;
    struct visit visit = {.see = note};
    int error;

    if (!library) /* what every process does */
        dl_iterate_phdr(visit_object, &visit);
    if (!dlvsym || (!library && !visit.any))
        return;
    /* Whoever comes second does not wait: it may hold the loader's lock, which the first needs. */
    if (__atomic_exchange_n(&running, true, __ATOMIC_ACQUIRE))
        return;
    error = errno;
    if (!settled) {
        settled = library != NULL;
        settle(library);
    }
    errno = error;
    __atomic_store_n(&running, false, __ATOMIC_RELEASE);
}
