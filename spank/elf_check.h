/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a preload library may go into an ELF program. */
#ifndef SCOPE_ELF_CHECK_H
#define SCOPE_ELF_CHECK_H

/* Looks at the ELF file behind fd, by bounded reads that trust nothing in it. The file offset is
 * left alone.
 * Returns NULL if the program is native, dynamic, started by glibc's loader, built without a
 * sanitizer and has no MPI library inside; otherwise a text that completes "the program ...": "is statically linked". */
const char *elf_check(int fd);

#endif
