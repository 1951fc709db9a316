/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks into the objects of this process, and into made-up ones that are not sound. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/image.h"

enum { ROUNDS = 20000, PAGES = 2, ENTRIES = 32 };

static int problems;

static void expect(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "images: %s\n", what);
        problems++;
    }
}

static int look_for_malloc(struct dl_phdr_info *info, size_t size, void *data)
{
    struct image image;
    void *expected = dlsym(RTLD_DEFAULT, "malloc");
    (void)size;
    if (!image_read(&image, info) || !image_holds(&image, expected))
        return 0;
    ElfW(Sym) *symbol = image_symbol(&image, "malloc");
    *(bool *)data = symbol && image.base + symbol->st_value == (uintptr_t)expected;
    expect(!image_symbol(&image, "no_such_function"), "a symbol is found that is not there");
    return 1;
}

static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* What may stand in an object: small, about where it lies, or anything. */
static uint64_t odd_value(uintptr_t base, size_t size)
{
    uint64_t value = next_random();
    switch (value % 5) {
    case 0:
        return value / 5 % 64 * 8;
    case 1:
        return base + value / 5 % (2 * size);
    case 2:
        return value / 5 % (2 * size);
    case 3:
        return -(value / 5 % size);
    default:
        return value;
    }
}

/* Half of its dynamic entries may be right. */
static void make_entry(uint64_t entry[2], uintptr_t base, size_t size)
{
    static const int64_t tags[] = {DT_SYMTAB, DT_STRTAB,   DT_STRSZ,  DT_RELA,     DT_RELASZ,
                                   DT_JMPREL, DT_PLTRELSZ, DT_PLTREL, DT_GNU_HASH, DT_RELACOUNT};
    entry[0] = (uint64_t)tags[next_random() % (sizeof tags / sizeof *tags)];
    entry[1] = next_random() % size / 16 * 8;
    if (next_random() % 2)
        entry[1] = odd_value(base, size);
    else if (entry[0] == DT_PLTREL)
        entry[1] = DT_RELA;
    else if (entry[0] == DT_RELACOUNT)
        entry[1] %= 8;
}

/* Relocations that name an address, and symbols that are weak references, among others. */
static void make_object(unsigned char *object, size_t size)
{
    static const uint64_t types[] = {R_X86_64_64, R_X86_64_GLOB_DAT, R_AARCH64_ABS64,
                                     R_AARCH64_GLOB_DAT};
    uint64_t *words = (uint64_t *)object;
    size_t count = size / sizeof *words;
    for (size_t i = 0; i < count; i++)
        words[i] = odd_value((uintptr_t)object, size);
    for (size_t i = 2 * ENTRIES; i < count; i++) {
        if (i % 2)
            words[i] = ELF64_R_INFO(next_random() % 64, types[next_random() % 4]);
        else if (i % 4)
            words[i] = (uint64_t)ELF64_ST_INFO(STB_WEAK, STT_FUNC) << 32;
    }
    for (size_t i = 0; i < ENTRIES; i++)
        make_entry(&words[2 * i], (uintptr_t)object, size);
}

/* An object that lies between pages which cannot be read; how many references were found. */
static size_t look_into_odd(unsigned char *object, size_t size)
{
    struct image image;
    ElfW(Phdr) segments[3] = {{.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_memsz = size},
                              {.p_type = PT_DYNAMIC, .p_memsz = ENTRIES * sizeof(ElfW(Dyn))},
                              {.p_type = PT_GNU_RELRO}};
    struct dl_phdr_info info = {
        .dlpi_addr = (uintptr_t)object, .dlpi_phdr = segments, .dlpi_phnum = 3};
    size_t found = 0;

    make_object(object, size);
    if (next_random() % 8 == 0)
        segments[1].p_memsz = odd_value((uintptr_t)object, size);
    if (!image_read(&image, &info))
        return 0;
    for (int which = 0; which < 2; which++) {
        for (size_t i = 0; i < image.relocations[which].count; i++) {
            struct image_reference reference;
            if (!image_weak_reference(&image, &image.relocations[which].list[i], &reference))
                continue;
            uintptr_t at = (uintptr_t)reference.slot - (uintptr_t)object;
            expect(at <= size - sizeof *reference.slot, "a slot lies outside of its object");
            found++;
        }
    }
    return found;
}

int main(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page, found = 0;
    bool has_malloc = false;
    dl_iterate_phdr(look_for_malloc, &has_malloc);
    expect(has_malloc, "malloc is not found");

    unsigned char *room =
        mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || mprotect(room + page, size, PROT_READ | PROT_WRITE) != 0)
        return 2;
    for (int round = 0; round < ROUNDS; round++)
        found += look_into_odd(room + page, size);
    expect(found > 100, "hardly any of the made-up objects was looked into");
    return problems > 0;
}
