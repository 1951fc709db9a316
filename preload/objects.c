/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects (program and libraries) that are loaded into this process. */
#define _GNU_SOURCE
#include "preload/objects.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

#include "preload/glibc_compat.h"
#include "preload/pages.h"

enum { OBJECTS_MAX = 4096 };

struct object {
    uintptr_t low, high; /* of its loaded segments */
    const char *name;    /* the loader's; valid while the object is loaded */
    enum object_class class;
};

struct objects {
    unsigned long long loads; /* the loader's count of loads when the list was made */
    size_t count;
    struct object list[];
};

/* The newest list. Older ones are never given back: another thread may be reading one, and there
 * are only as many as times a call came from an object that was loaded since. */
static struct objects *current;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum object_class classify(const char *path)
{
    static const char *const own[] = {"libmpi.so", "libmpich.so",   "libmpi_abi.so", "libpmpi.so",
                                      "mca_",      "libmca_common", "libopen-pal",   "libopen-rte",
                                      "libromio",  "libpmix.so",    "libmpi_cray.so"};
    const char *name = base_name(path);
    if (begins(name, "libmpi") && (strstr(name, "fort") || strstr(name, "mpifh") ||
                                   strstr(name, "usempi") || strstr(name, "f08")))
        return OBJECT_MPI_FORTRAN;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (begins(name, own[i]))
            return OBJECT_MPI;
    }
    return OBJECT_PROGRAM;
}

/* All MPI libraries are called so, but the ones that are hidden in another. */
static bool promises_mpi(const char *path)
{
    return strstr(base_name(path), "mpi") != NULL;
}

static bool holds(const struct object *object, const void *address)
{
    return (uintptr_t)address >= object->low && (uintptr_t)address < object->high;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct objects *objects = data;
    (void)size;
    if (objects->count == OBJECTS_MAX)
        return 1;
    struct object *object = &objects->list[objects->count++];
    *object = (struct object){.low = UINTPTR_MAX, .name = info->dlpi_name};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        uintptr_t low = info->dlpi_addr + segment->p_vaddr;
        uintptr_t high = low + segment->p_memsz;
        object->low = low < object->low ? low : object->low;
        object->high = high > object->high ? high : object->high;
    }
    object->class = holds(object, (void *)(uintptr_t)classify) ? OBJECT_OWN : classify(object->name);
    objects->loads = info->dlpi_adds;
    return 0;
}

/* The list of what is loaded now; *size is what pages_give needs. */
static struct objects *make_list(size_t *size)
{
    *size = sizeof(struct objects) + OBJECTS_MAX * sizeof(struct object);
    struct objects *objects = pages_take(*size);
    if (objects)
        dl_iterate_phdr(add_object, objects);
    return objects;
}

static const struct object *holder(const struct objects *objects, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    for (size_t i = 0; objects && i < objects->count; i++) {
        if (at >= objects->list[i].low && at < objects->list[i].high)
            return &objects->list[i];
    }
    return NULL;
}

static int first_object(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(unsigned long long *)data = info->dlpi_adds;
    return 1;
}

/* The object that holds address, from a list that is made anew when something was loaded since;
 * false if none does: the code was generated at run time. */
static bool find_holder(const void *address, struct object *found)
{
    struct objects *known = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    const struct object *object = holder(known, address);
    unsigned long long loads = 0;
    size_t size;

    if (object) {
        *found = *object;
        return true;
    }
    dl_iterate_phdr(first_object, &loads);
    if (known && known->loads == loads)
        return false;
    struct objects *fresh = make_list(&size);
    object = holder(fresh, address);
    if (object)
        *found = *object;
    if (fresh && !__atomic_compare_exchange_n(&current, &known, fresh, false, __ATOMIC_ACQ_REL,
                                              __ATOMIC_ACQUIRE))
        pages_give(fresh, size);
    return object != NULL;
}

enum object_class objects_class_of(const void *address)
{
    struct object object;
    return find_holder(address, &object) ? object.class : OBJECT_PROGRAM;
}

bool objects_range_of_library(const void *address, struct object_range *range)
{
    struct object object;
    if (!find_holder(address, &object) || object.class == OBJECT_OWN || !*object.name)
        return false;
    *range = (struct object_range){object.low, object.high};
    return true;
}

bool objects_holds_any(const void *address, void *const *functions, size_t count)
{
    struct object object;
    if (!find_holder(address, &object))
        return false;
    for (size_t i = 0; i < count; i++) {
        uintptr_t at = (uintptr_t)__atomic_load_n(&functions[i], __ATOMIC_RELAXED);
        if (at >= object.low && at < object.high)
            return true;
    }
    return false;
}

static bool is_fortran_helper(const void *address, const char *operation)
{
    Dl_info info;
    if (objects_class_of(address) != OBJECT_MPI_FORTRAN || !dladdr || !dladdr(address, &info))
        return false;
    return !info.dli_sname || !strcasestr(info.dli_sname, operation);
}

/* What was found for addresses, of which a program has few that matter: address << 1 | answer. */
struct answers {
    uintptr_t known[128];
};

static uintptr_t *place_of(struct answers *answers, const void *address)
{
    return &answers->known[(uintptr_t)address / 4 % (sizeof answers->known / sizeof(uintptr_t))];
}

static bool is_answered(struct answers *answers, const void *address, bool *answer)
{
    uintptr_t known = __atomic_load_n(place_of(answers, address), __ATOMIC_RELAXED);
    *answer = known & 1;
    return address && known >> 1 == (uintptr_t)address << 1 >> 1;
}

static bool keep(struct answers *answers, const void *address, bool answer)
{
    __atomic_store_n(place_of(answers, address), (uintptr_t)address << 1 | answer,
                     __ATOMIC_RELAXED);
    return answer;
}

bool objects_is_fortran_helper(const void *address, const char *operation)
{
    static struct answers answers;
    bool answer;
    return is_answered(&answers, address, &answer)
               ? answer
               : keep(&answers, address, is_fortran_helper(address, operation));
}

bool objects_is_library(const void *address)
{
    static struct answers answers;
    bool answer;
    if (is_answered(&answers, address, &answer))
        return answer;
    enum object_class class = objects_class_of(address);
    return keep(&answers, address, class == OBJECT_MPI || class == OBJECT_OWN);
}

bool objects_defines(const void *address, const char *name)
{
    struct object object;
    void *handle = find_holder(address, &object) ? objects_open_holder(address) : NULL;
    if (!handle)
        return false;
    uintptr_t at = (uintptr_t)dlsym(handle, name);
    dlclose(handle);
    return at >= object.low && at < object.high;
}

/* A handle of a loaded object by its exact name. Not called from inside dl_iterate_phdr, which
 * holds the loader's lock. */
static void *open_loaded(const struct object *object)
{
    return *object->name ? dlopen(object->name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

static void *open_if_mpi(const struct object *object)
{
    void *handle = open_loaded(object);
    if (!handle)
        return NULL;
    /* A handle finds what its dependencies define too. */
    void *init = dlsym(handle, "PMPI_Init");
    if (init && holds(object, init))
        return handle;
    dlclose(handle);
    return NULL;
}

void *objects_find_mpi(const char **name)
{
    void *handle = NULL;
    size_t size;
    if (!dlopen || !dlclose)
        return NULL;
    struct objects *objects = make_list(&size);
    /* First those whose names promise it: asking each of hundreds takes a millisecond. */
    for (int promising = 1; objects && promising >= 0; promising--) {
        for (size_t i = 0; !handle && i < objects->count; i++) {
            const struct object *object = &objects->list[i];
            if (promises_mpi(object->name) != promising ||
                holds(object, (void *)(uintptr_t)objects_find_mpi))
                continue;
            handle = open_if_mpi(object);
            if (handle)
                *name = object->name;
        }
    }
    pages_give(objects, size);
    return handle;
}

static int promising_object(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    return promises_mpi(info->dlpi_name);
}

bool objects_promise_mpi(void)
{
    return dl_iterate_phdr(promising_object, NULL) != 0;
}

void *objects_open_holder(const void *address)
{
    size_t size;
    struct objects *objects = dlopen ? make_list(&size) : NULL;
    const struct object *object = holder(objects, address);
    void *handle = object ? open_loaded(object) : NULL;
    if (objects)
        pages_give(objects, size);
    return handle;
}
