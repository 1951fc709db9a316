/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin looks at a program before it puts a library into it: real and crafted files. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spank/elf_check.h"
#include "spank/program.h"

static char directory[] = "/tmp/program-XXXXXX";
static struct error reason;

static void enter(void)
{
    cr_assert_not_null(mkdtemp(directory));
    cr_assert_eq(chdir(directory), 0);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

static void leave(void)
{
    nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *name, const void *data, size_t size, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, data, size), (ssize_t)size);
    cr_assert_eq(fchmod(fd, mode), 0);
    close(fd);
}

/* --- a small ELF program, well made; each test spoils one thing ----------------------------------
 */

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define MACHINE EM_AARCH64
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif

struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segments[3];
    Elf64_Dyn dynamic[3];
    char loader[64];
    Elf64_Shdr sections[2];
    char symbol_names[64];
    char strings[12000];
};

static struct image image;

#define ADDRESS 0x400000
#define AT(member) offsetof(struct image, member)

static void make_image(const char *strings, size_t size)
{
    memset(&image, 0, sizeof image);
    Elf64_Ehdr *header = &image.header;
    memcpy(header->e_ident, ELFMAG, SELFMAG);
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_VERSION] = EV_CURRENT;
    header->e_type = ET_EXEC;
    header->e_machine = MACHINE;
    header->e_phoff = AT(segments);
    header->e_phentsize = sizeof(Elf64_Phdr);
    header->e_phnum = 3;
    strcpy(image.loader, LOADER);
    memcpy(image.strings, strings, size);
    image.segments[0] =
        (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = AT(loader), .p_filesz = sizeof LOADER};
    image.segments[1] = (Elf64_Phdr){
        .p_type = PT_LOAD, .p_vaddr = ADDRESS, .p_filesz = sizeof image, .p_memsz = sizeof image};
    image.segments[2] = (Elf64_Phdr){
        .p_type = PT_DYNAMIC, .p_offset = AT(dynamic), .p_filesz = sizeof image.dynamic};
    image.dynamic[0] = (Elf64_Dyn){DT_STRTAB, {ADDRESS + AT(strings)}};
    image.dynamic[1] = (Elf64_Dyn){DT_STRSZ, {size}};
    image.dynamic[2] = (Elf64_Dyn){DT_NULL, {0}};
}

static void make_plain(void)
{
    make_image("\0libc.so.6\0main", 16);
}

static const char *check_bytes(const void *data, size_t size)
{
    put("image", data, size, 0700);
    int fd = open("image", O_RDONLY);
    const char *why = elf_check(fd);
    close(fd);
    return why;
}

static const char *check_image(void)
{
    return check_bytes(&image, sizeof image);
}

static void is_refused(const char *expected)
{
    const char *why = check_image();
    cr_expect_not_null(why, "taken, and not: %s", expected);
    cr_expect(why && strcmp(why, expected) == 0, "%s", why);
}

#define DAMAGED "is a damaged ELF file"
#define SANITIZER "is built with a sanitizer, which wants to be loaded first"

TestSuite(program, .init = enter, .fini = leave);

Test(program, a_dynamic_native_one_is_taken)
{
    make_plain();
    cr_expect_null(check_image());
    image.header.e_type = ET_DYN;
    cr_expect_null(check_image());
    strcpy(image.loader, "/lib64/ld-lsb-x86-64.so.3");
    image.segments[0].p_filesz = strlen(image.loader) + 1;
    cr_expect_null(check_image());
}

Test(program, this_very_program_is_taken)
{
    cr_expect_eq(program_check("/proc/self/exe", NULL, &reason), 0, "%s", reason.text);
    cr_expect_eq(program_check("sh", "/nowhere:/bin", &reason), 0, "%s", reason.text);
}

Test(program, static_and_foreign_ones_are_refused)
{
    make_plain();
    image.segments[0].p_type = PT_NOTE;
    is_refused("is statically linked");
    make_plain();
    strcpy(image.loader, "/lib/ld-musl-x86_64.so.1");
    image.segments[0].p_filesz = strlen(image.loader) + 1;
    is_refused("does not use the C library glibc");
    make_plain();
    image.header.e_ident[EI_CLASS] = ELFCLASS32;
    is_refused("is a 32-bit program");
    make_plain();
    image.header.e_machine = EM_PPC64;
    is_refused("is built for another machine");
    make_plain();
    image.header.e_ident[EI_DATA] = ELFDATA2MSB;
    is_refused("is built for another machine");
}

Test(program, a_sanitizer_is_seen_by_library_or_symbol)
{
    static const char *const names[] = {
        "libasan.so.8", "libtsan.so.2", "liblsan.so.0", "libhwasan.so.0",
        "__asan_init",  "__tsan_init",  "__msan_init",  "libclang_rt.asan-x86_64.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char strings[64] = "\0libc.so.6";
        strcpy(strings + 11, names[i]);
        make_image(strings, 11 + strlen(names[i]) + 1);
        is_refused(SANITIZER);
    }
    make_image("\0libubsan.so.1\0my__asan_init\0__asan_init_v2", 44);
    cr_expect_null(check_image());
}

/* Gives the image a table of symbols that were not stripped. */
static void add_symbols(const char *names, size_t size)
{
    image.header.e_shoff = AT(sections);
    image.header.e_shentsize = sizeof(Elf64_Shdr);
    image.header.e_shnum = 2;
    image.sections[0] = (Elf64_Shdr){.sh_type = SHT_SYMTAB, .sh_link = 1};
    image.sections[1] = (Elf64_Shdr){
        .sh_type = SHT_STRTAB, .sh_offset = AT(symbol_names), .sh_size = size};
    memcpy(image.symbol_names, names, size);
}

#define STATIC_MPI "has an MPI library linked into it statically"

Test(program, an_mpi_library_inside_is_seen_by_its_symbols)
{
    make_plain();
    add_symbols("\0main\0PMPI_Init", 16);
    is_refused(STATIC_MPI);
    make_plain();
    add_symbols("\0main\0MPI_Init\0PMPI_Init_thread", 32);
    cr_expect_null(check_image(), "it calls a library");
    make_image("\0libmpi.so.40\0PMPI_Init", 24);
    add_symbols("\0main\0PMPI_Init", 16);
    cr_expect_null(check_image(), "it calls a library by that name");
}

Test(program, symbols_that_cannot_be_read_say_nothing)
{
    static const uint64_t wild[] = {0, 1, INT64_MAX, UINT64_MAX, UINT64_MAX - 63, 1ULL << 40};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        make_plain();
        add_symbols("\0main\0PMPI_Init", 16);
        image.header.e_shoff = wild[i];
        cr_expect_null(check_image());
        make_plain();
        add_symbols("\0main\0PMPI_Init", 16);
        image.sections[1].sh_offset = wild[i];
        cr_expect_null(check_image());
        make_plain();
        add_symbols("\0main\0PMPI_Init", 16);
        image.sections[0].sh_link = (uint32_t)wild[i];
        image.sections[1].sh_size = wild[i];
        check_image();
    }
}

Test(program, a_name_across_two_reads_is_seen)
{
    static char strings[12000];
    for (size_t start = 4080; start < 4100; start++) {
        memset(strings, 'x', sizeof strings);
        strings[start - 1] = '\0';
        strcpy(strings + start, "__asan_init");
        make_image(strings, sizeof strings);
        is_refused(SANITIZER);
    }
}

Test(program, numbers_in_the_file_are_not_believed)
{
    static const uint64_t wild[] = {0, 1, INT64_MAX, UINT64_MAX, UINT64_MAX - 63, 1ULL << 40};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        make_plain();
        image.segments[0].p_offset = wild[i];
        cr_expect_not_null(check_image());
        make_plain();
        image.segments[0].p_filesz = wild[i];
        is_refused(DAMAGED);
        make_plain();
        image.segments[2].p_offset = wild[i];
        cr_expect_not_null(check_image());
        make_plain();
        image.header.e_phoff = wild[i];
        cr_expect_not_null(check_image());
        make_plain();
        image.dynamic[0].d_un.d_ptr = wild[i];
        is_refused(DAMAGED);
        make_plain();
        image.dynamic[1].d_un.d_val = wild[i];
        if (wild[i] > sizeof image)
            is_refused(DAMAGED);
        else
            cr_expect_null(check_image());
        make_plain();
        image.segments[1].p_vaddr = wild[i];
        check_image();
    }
    make_plain();
    image.header.e_phnum = PN_XNUM;
    is_refused(DAMAGED);
    make_plain();
    image.header.e_phentsize = 1;
    is_refused(DAMAGED);
    make_plain();
    memset(image.loader, 'x', sizeof image.loader);
    is_refused(DAMAGED);
}

Test(program, cut_off_anywhere_it_does_no_harm)
{
    make_plain();
    for (size_t size = 0; size < AT(strings) + 16; size++) {
        const char *why = check_bytes(&image, size);
        cr_expect_not_null(why, "%zu bytes were taken", size);
    }
}

Test(program, random_bytes_do_no_harm)
{
    srand(17);
    for (int round = 0; round < 5000; round++) {
        make_plain();
        for (int i = 0; i < 4; i++)
            ((unsigned char *)&image)[(size_t)rand() % AT(strings)] = (unsigned char)rand();
        check_image();
    }
}

/* --- finding and following -----------------------------------------------------------------------
 */

static void is_left_alone(const char *name, const char *path, const char *expected)
{
    cr_expect_eq(program_check(name, path, &reason), -1, "%s was taken", name);
    cr_expect_str_eq(reason.text, expected);
}

static void put_script(const char *name, const char *text)
{
    put(name, text, strlen(text), 0755);
}

Test(program, is_found_as_execvp_does)
{
    char file[PATH_MAX];
    cr_assert_eq(mkdir("one", 0755), 0);
    cr_assert_eq(mkdir("two", 0755), 0);
    cr_assert_eq(mkdir("one/app", 0755), 0); /* a directory is passed over */
    put("two/app", "x", 1, 0755);
    put("two/data", "x", 1, 0644);
    cr_expect(program_find("app", "one:two", file, sizeof file));
    cr_expect_str_eq(file, "two/app");
    cr_expect(program_find("./two/app", "one", file, sizeof file));
    cr_expect_not(program_find("data", "one:two", file, sizeof file));
    cr_expect_not(program_find("app", NULL, file, sizeof file));
    cr_expect_not(program_find("", "two", file, sizeof file));
    cr_expect_not(program_find("app", "one:two", file, 5));
    put("here", "x", 1, 0755);
    cr_expect(program_find("here", "one::two", file, sizeof file)); /* "" is where we are */
    cr_expect_str_eq(file, "here");
}

Test(program, what_cannot_start_is_not_talked_about)
{
    is_left_alone("nowhere", "/bin", "");
    is_left_alone("./nowhere", "/bin", "");
    is_left_alone(".", "/bin", "");
    put("loop", "#!./loop\n", 9, 0755);
    is_left_alone("./loop", NULL, "");
    put_script("none", "#!\n");
    is_left_alone("./none", NULL, "");
    put_script("gone", "#!/nowhere/sh\n");
    is_left_alone("./gone", NULL, "");
}

Test(program, a_script_is_judged_by_its_interpreter)
{
    make_plain();
    image.segments[0].p_type = PT_NOTE;
    put("static", &image, sizeof image, 0755);
    put_script("good", "#!/bin/sh\n");
    cr_expect_eq(program_check("./good", NULL, &reason), 0, "%s", reason.text);
    put_script("good", "#! /bin/sh -e");
    cr_expect_eq(program_check("./good", NULL, &reason), 0, "%s", reason.text);
    put_script("bad", "#!./static -x\n");
    is_left_alone("./bad", NULL, "./bad: its interpreter ./static is statically linked");
    put_script("bare", "#!static\n");
    is_left_alone("./bare", NULL, "./bare: its interpreter ./static is statically linked");
    put_script("chain", "#!./bad\n");
    is_left_alone("./chain", NULL, "./chain: its interpreter ./static is statically linked");
}

Test(program, env_in_a_script_is_looked_through)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", directory);
    make_plain();
    image.segments[0].p_type = PT_NOTE;
    put("static", &image, sizeof image, 0755);
    put_script("e1", "#!/usr/bin/env static\n");
    is_left_alone("./e1", path, "./e1: its interpreter static is statically linked");
    put_script("e2", "#!/usr/bin/env -S -i A=b static -u\n");
    is_left_alone("./e2", path, "./e2: its interpreter static is statically linked");
    put_script("e3", "#!/usr/bin/env sh  \n");
    cr_expect_eq(program_check("./e3", path, &reason), 0, "%s", reason.text);
    put_script("e4", "#!/usr/bin/env\n");
    cr_expect_eq(program_check("./e4", path, &reason), 0, "%s", reason.text);
}

Test(program, rights_of_another_are_refused)
{
    make_plain();
    put("setuid", &image, sizeof image, 04755);
    is_left_alone("./setuid", NULL,
                  "./setuid runs with the rights of its owner (set-user-ID or set-group-ID)");
}

Test(program, no_program_is_said_so)
{
    put_script("text", "hello\n");
    is_left_alone("./text", NULL, "./text is no ELF program");
    put_script("empty", "");
    is_left_alone("./empty", NULL, "./empty is no ELF program");
}
