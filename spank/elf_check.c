/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a preload library may go into an ELF program. */
#include "spank/elf_check.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#else
#error "which ELF machine is this?"
#endif

static const char damaged[] = "is a damaged ELF file";

enum {
    HEADERS_MAX = 65536 / sizeof(Elf64_Phdr), /* the kernel starts no program with more */
    DYNAMIC_MAX = 4096,                       /* entries; programs have some dozens */
    STRINGS_MAX = 16 * 1024 * 1024,           /* bytes of names that are looked through */
    CHUNK = 4096
};

/* Reads size bytes at offset. False: the file has no such bytes. */
static bool read_at(int fd, void *data, size_t size, uint64_t offset)
{
    if (offset > INT64_MAX - size)
        return false;
    for (size_t have = 0; have < size;) {
        ssize_t got = pread(fd, (char *)data + have, size - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    return true;
}

static const char *check_header(int fd, Elf64_Ehdr *header)
{
    if (!read_at(fd, header, EI_NIDENT, 0) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return "is no ELF program";
    if (header->e_ident[EI_CLASS] == ELFCLASS32)
        return "is a 32-bit program";
    if (!read_at(fd, header, sizeof *header, 0))
        return damaged;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != NATIVE_MACHINE)
        return "is built for another machine";
    if ((header->e_type != ET_EXEC && header->e_type != ET_DYN) ||
        header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > HEADERS_MAX)
        return damaged;
    return NULL;
}

/* The first program header of type; false if there is none (or the table is cut off). */
static bool find_segment(int fd, const Elf64_Ehdr *header, uint32_t type, Elf64_Phdr *segment)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (header->e_phoff > INT64_MAX ||
            !read_at(fd, segment, sizeof *segment, header->e_phoff + i * sizeof *segment))
            return false;
        if (segment->p_type == type)
            return true;
    }
    return false;
}

/* glibc's loader is called ld-linux-MACHINE.so.N or, in programs for the LSB, ld-lsb-...; musl's
 * and other C libraries' loaders are not, and cannot load what was linked with glibc. */
static const char *check_loader(int fd, const Elf64_Phdr *segment)
{
    char path[PATH_MAX];
    size_t size = segment->p_filesz;
    if (size < 2 || size > sizeof path || !read_at(fd, path, size, segment->p_offset) ||
        path[size - 1] != '\0')
        return damaged;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (strncmp(name, "ld-linux-", 9) != 0 && strncmp(name, "ld-lsb-", 7) != 0)
        return "does not use the C library glibc";
    return NULL;
}

/* The place in the file of an address in memory; false if no segment holds it. */
static bool address_to_offset(int fd, const Elf64_Ehdr *header, uint64_t address, uint64_t *offset)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        if (!read_at(fd, &segment, sizeof segment, header->e_phoff + i * sizeof segment))
            return false;
        if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
            address - segment.p_vaddr >= segment.p_filesz)
            continue;
        *offset = segment.p_offset + (address - segment.p_vaddr);
        return true;
    }
    return false;
}

/* The program's table of dynamic strings: the names of its libraries and of its symbols. */
struct strings {
    uint64_t offset, size;
};

static bool find_strings(int fd, const Elf64_Ehdr *header, const Elf64_Phdr *dynamic,
                         struct strings *strings)
{
    uint64_t address = 0, count = dynamic->p_filesz / sizeof(Elf64_Dyn);
    bool has_address = false, has_size = false;
    if (dynamic->p_offset > INT64_MAX)
        return false;
    for (uint64_t i = 0; i < count && i < DYNAMIC_MAX; i++) {
        Elf64_Dyn entry;
        if (!read_at(fd, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry))
            return false;
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB) {
            address = entry.d_un.d_ptr;
            has_address = true;
        } else if (entry.d_tag == DT_STRSZ) {
            strings->size = entry.d_un.d_val;
            has_size = true;
        }
    }
    return has_address && has_size && address_to_offset(fd, header, address, &strings->offset);
}

/* A library or a symbol that only programs built with a sanitizer name. The undefined-behaviour
 * sanitizer is not among them: it does not mind a preload. */
static bool is_sanitizer(const char *name)
{
    static const char *const libraries[] = {
        "libasan.so",       "libhwasan.so",       "libtsan.so",      "liblsan.so",
        "libclang_rt.asan", "libclang_rt.hwasan", "libclang_rt.tsan"};
    static const char *const symbols[] = {"__asan_init", "__hwasan_init", "__tsan_init",
                                          "__lsan_init", "__msan_init",   "__dfsan_init"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return true;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (strcmp(name, symbols[i]) == 0)
            return true;
    }
    return false;
}

static bool is_pmpi_init(const char *name)
{
    return strcmp(name, "PMPI_Init") == 0;
}

/* Whether a table of strings has one that is wanted. Looks through it by chunks; of a string only the
 * start is kept, which is longer than any name that is looked for. *good: it could be read. */
static bool has_name(int fd, const struct strings *strings, bool (*is_wanted)(const char *name),
                     bool *good)
{
    char chunk[CHUNK], name[32];
    size_t length = 0;
    uint64_t size = strings->size < STRINGS_MAX ? strings->size : STRINGS_MAX;
    *good = true;
    for (uint64_t done = 0; done < size;) {
        size_t part = size - done < sizeof chunk ? (size_t)(size - done) : sizeof chunk;
        if (strings->offset > INT64_MAX - done ||
            !read_at(fd, chunk, part, strings->offset + done)) {
            *good = false;
            return false;
        }
        done += part;
        for (size_t i = 0; i < part; i++) {
            if (chunk[i] != '\0') {
                if (length < sizeof name - 1)
                    name[length++] = chunk[i];
                continue;
            }
            name[length] = '\0';
            if (is_wanted(name))
                return true;
            length = 0;
        }
    }
    return false;
}

/* The names of all symbols, where the program was not stripped of them. */
static bool find_symbol_names(int fd, const Elf64_Ehdr *header, struct strings *strings)
{
    Elf64_Shdr section;
    if (header->e_shoff > INT64_MAX || header->e_shentsize != sizeof section)
        return false;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (!read_at(fd, &section, sizeof section, header->e_shoff + i * sizeof section))
            return false;
        if (section.sh_type != SHT_SYMTAB)
            continue;
        if (section.sh_link >= header->e_shnum ||
            !read_at(fd, &section, sizeof section,
                     header->e_shoff + section.sh_link * sizeof section))
            return false;
        *strings = (struct strings){.offset = section.sh_offset, .size = section.sh_size};
        return true;
    }
    return false;
}

static const char *check_names(int fd, const Elf64_Ehdr *header, const struct strings *dynamic)
{
    struct strings all;
    bool good;
    if (has_name(fd, dynamic, is_sanitizer, &good))
        return "is built with a sanitizer, which wants to be loaded first";
    if (!good)
        return damaged;
    /* A program that calls a shared library by this name has it among its dynamic names. */
    if (!has_name(fd, dynamic, is_pmpi_init, &good) && find_symbol_names(fd, header, &all) &&
        has_name(fd, &all, is_pmpi_init, &good))
        return "has an MPI library linked into it statically";
    return NULL;
}

const char *elf_check(int fd)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    struct strings strings;
    const char *reason = check_header(fd, &header);
    if (reason)
        return reason;
    if (!find_segment(fd, &header, PT_INTERP, &segment))
        return "is statically linked";
    reason = check_loader(fd, &segment);
    if (reason)
        return reason;
    if (!find_segment(fd, &header, PT_DYNAMIC, &segment) ||
        !find_strings(fd, &header, &segment, &strings))
        return damaged;
    return check_names(fd, &header, &strings);
}
