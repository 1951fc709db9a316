/* SPDX-License-Identifier: BSD-3-Clause */
/* A loaded object as it lies in memory: its symbols, and the places that were bound to others'.
 *
 * What does not lie within the segments of an object is not there. An image is valid within the
 * callback of dl_iterate_phdr whose info it was read from.
 */
#ifndef SCOPE_IMAGE_H
#define SCOPE_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image {
    uintptr_t base; /* what its addresses are relative to */
    const ElfW(Phdr) *segments;
    size_t segment_count;
    ElfW(Sym) *symbols;
    size_t symbol_count; /* as many as there is room for */
    const char *strings;
    const uint32_t *hash; /* the GNU hash table; NULL: there is none */
    struct {
        const ElfW(Rela) *list;
        size_t count;
    } relocations[2];
};

/* A place that holds the address of a function, or NULL, by a weak reference to a name that the
 * object does not define itself. */
struct image_reference {
    uintptr_t *slot;
    uintptr_t addend; /* what is added to the address, or to 0 */
};

/* Fills in an image; false if the object has no symbols that could be looked into. */
bool image_read(struct image *image, const struct dl_phdr_info *info);

/* True if address lies in one of its segments. */
bool image_holds(const struct image *image, const void *address);

/* The symbol with this name that the object, which is sound, defines; or NULL. */
ElfW(Sym) *image_symbol(const struct image *image, const char *name);

/* True if a relocation of the image is a weak reference, which is filled in. */
bool image_weak_reference(const struct image *image, const ElfW(Rela) *relocation,
                          struct image_reference *reference);

/* True if a relocation of the image, which is sound, refers to a function of this name. */
bool image_reference_to(const struct image *image, const ElfW(Rela) *relocation, const char *name,
                        struct image_reference *reference);

/* The pages of the symbols, or of what is read-only after relocation, may be written to from now
 * on, or again only be read. False if that cannot be had; code stays as it is. */
bool image_open_symbols(const struct image *image, bool open);
bool image_open_relro(const struct image *image, bool open);

/* True if address is in what is read-only after relocation. */
bool image_is_relro(const struct image *image, const void *address);

#endif
