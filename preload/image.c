/* SPDX-License-Identifier: BSD-3-Clause */
/* A loaded object as it lies in memory: its symbols, and the places that were bound to others'. */
#define _GNU_SOURCE
#include "preload/image.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The relocations that are an address. */
#if defined(__x86_64__)
enum { DATA = R_X86_64_64, TABLE = R_X86_64_GLOB_DAT, JUMP = R_X86_64_JUMP_SLOT };
#elif defined(__aarch64__)
enum { DATA = R_AARCH64_ABS64, TABLE = R_AARCH64_GLOB_DAT, JUMP = R_AARCH64_JUMP_SLOT };
#endif

/* The loaded segment in which size bytes at address lie, or NULL. */
static const ElfW(Phdr) *segment_of(const struct image *image, uintptr_t address, size_t size)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        const ElfW(Phdr) *segment = &image->segments[i];
        uintptr_t offset = address - image->base - segment->p_vaddr;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_R && offset < segment->p_memsz &&
            size <= segment->p_memsz - offset)
            return segment;
    }
    return NULL;
}

static const ElfW(Phdr) *segment_of_type(const struct image *image, uint32_t type)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        if (image->segments[i].p_type == type)
            return &image->segments[i];
    }
    return NULL;
}

/* What a dynamic entry points to; NULL if the object does not hold it. The loader makes the entries
 * of most objects absolute, but not of all. */
static void *table(const struct image *image, uintptr_t value, size_t size)
{
    if (!value || !size)
        return NULL;
    if (segment_of(image, value, size))
        return (void *)value;
    value += image->base;
    return segment_of(image, value, size) ? (void *)value : NULL;
}

static void read_relocations(struct image *image, int which, uintptr_t value, size_t size,
                             size_t skip)
{
    const ElfW(Rela) *list = table(image, value, size);
    size_t count = size / sizeof *list;
    if (!list || skip >= count)
        return;
    image->relocations[which].list = list + skip;
    image->relocations[which].count = count - skip;
}

bool image_read(struct image *image, const struct dl_phdr_info *info)
{
    uintptr_t value[DT_JMPREL + 1] = {0}, hash = 0, relative = 0;
    *image = (struct image){.base = info->dlpi_addr,
                            .segments = info->dlpi_phdr,
                            .segment_count = info->dlpi_phnum};
    const ElfW(Phdr) *dynamic = segment_of_type(image, PT_DYNAMIC);
    if (!dynamic || !segment_of(image, image->base + dynamic->p_vaddr, dynamic->p_memsz))
        return false;
    const ElfW(Dyn) *entry = (const void *)(image->base + dynamic->p_vaddr);
    for (size_t left = dynamic->p_memsz / sizeof *entry; left > 0 && entry->d_tag != DT_NULL;
         left--, entry++) {
        if (entry->d_tag > 0 && entry->d_tag <= DT_JMPREL)
            value[entry->d_tag] = entry->d_un.d_val;
        else if (entry->d_tag == DT_GNU_HASH)
            hash = entry->d_un.d_val;
        else if (entry->d_tag == DT_RELACOUNT)
            relative = entry->d_un.d_val;
    }

    image->symbols = table(image, value[DT_SYMTAB], sizeof *image->symbols);
    image->strings = table(image, value[DT_STRTAB], value[DT_STRSZ]);
    if (!image->symbols || !image->strings)
        return false;
    uintptr_t symbols = (uintptr_t)image->symbols;
    const ElfW(Phdr) *segment = segment_of(image, symbols, sizeof *image->symbols);
    image->symbol_count = (image->base + segment->p_vaddr + segment->p_memsz - symbols) /
                          sizeof *image->symbols;
    image->hash = table(image, hash, 4 * sizeof *image->hash);
    /* Those that name no symbol come first. */
    read_relocations(image, 0, value[DT_RELA], value[DT_RELASZ], relative);
    if (value[DT_PLTREL] == DT_RELA)
        read_relocations(image, 1, value[DT_JMPREL], value[DT_PLTRELSZ], 0);
    return true;
}

bool image_holds(const struct image *image, const void *address)
{
    return segment_of(image, (uintptr_t)address, 1) != NULL;
}

static uint32_t gnu_hash(const char *name)
{
    uint32_t hash = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = 33 * hash + *c;
    return hash;
}

ElfW(Sym) *image_symbol(const struct image *image, const char *name)
{
    if (!image->hash || !image->hash[0])
        return NULL;
    uint32_t hash = gnu_hash(name), buckets = image->hash[0], first = image->hash[1];
    const uint32_t *bucket = image->hash + 4 + image->hash[2] * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = bucket + buckets;
    for (size_t i = bucket[hash % buckets]; i >= first && i < image->symbol_count; i++) {
        ElfW(Sym) *symbol = &image->symbols[i];
        uint32_t its_hash = chain[i - first]; /* the last bit ends a chain */
        if ((its_hash | 1) == (hash | 1) && strcmp(image->strings + symbol->st_name, name) == 0)
            return symbol;
        if (its_hash & 1)
            break;
    }
    return NULL;
}

/* What the relocation fills in, if it can be written to. */
static bool place(const struct image *image, const ElfW(Rela) *relocation,
                  struct image_reference *reference)
{
    uintptr_t slot = image->base + relocation->r_offset;
    const ElfW(Phdr) *segment = segment_of(image, slot, sizeof slot);
    if (!segment || !(segment->p_flags & PF_W) || slot % sizeof slot != 0)
        return false;
    *reference = (struct image_reference){(uintptr_t *)slot, (uintptr_t)relocation->r_addend};
    return true;
}

bool image_weak_reference(const struct image *image, const ElfW(Rela) *relocation,
                          struct image_reference *reference)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    size_t index = ELF64_R_SYM(relocation->r_info);
    if ((type != DATA && type != TABLE && type != JUMP) || index >= image->symbol_count)
        return false;
    const ElfW(Sym) *symbol = &image->symbols[index];
    if (symbol->st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
        return false;
    return place(image, relocation, reference);
}

bool image_reference_to(const struct image *image, const ElfW(Rela) *relocation, const char *name,
                        struct image_reference *reference)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    size_t index = ELF64_R_SYM(relocation->r_info);
    if ((type != DATA && type != TABLE && type != JUMP) || index >= image->symbol_count ||
        strcmp(image->strings + image->symbols[index].st_name, name) != 0)
        return false;
    return place(image, relocation, reference);
}

static bool protect(uintptr_t low, uintptr_t high, bool open)
{
    return mprotect((void *)low, high - low, open ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

bool image_open_symbols(const struct image *image, bool open)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const ElfW(Phdr) *segment = segment_of(image, (uintptr_t)image->symbols, 1);
    uintptr_t low = image->base + segment->p_vaddr, high = low + segment->p_memsz;
    return segment->p_flags == PF_R && protect(low & -page, (high + page - 1) & -page, open);
}

/* The pages that the loader protects: both ends are rounded down. */
static void relro_pages(const struct image *image, uintptr_t *low, uintptr_t *high)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const ElfW(Phdr) *relro = segment_of_type(image, PT_GNU_RELRO);
    *low = relro ? (image->base + relro->p_vaddr) & -page : 0;
    *high = relro ? (image->base + relro->p_vaddr + relro->p_memsz) & -page : 0;
}

bool image_open_relro(const struct image *image, bool open)
{
    uintptr_t low, high;
    relro_pages(image, &low, &high);
    return protect(low, high, open);
}

bool image_is_relro(const struct image *image, const void *address)
{
    uintptr_t low, high;
    relro_pages(image, &low, &high);
    return (uintptr_t)address >= low && (uintptr_t)address < high;
}
