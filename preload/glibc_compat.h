/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds what newer C libraries moved or renamed to names that glibc 2.17 had.
 *
 * A preload that needs a newer C library than the process has makes even /bin/true exit 1. The
 * functions below lived in libdl and libpthread then, which a process need not have: they are weak
 * and NULL there, and a process without them has no MPI library that we could serve.
 */
#ifndef SCOPE_GLIBC_COMPAT_H
#define SCOPE_GLIBC_COMPAT_H

#ifndef _GNU_SOURCE
#error "dladdr needs _GNU_SOURCE"
#endif

#include <dlfcn.h>
#include <pthread.h>

#include "preload/symbol.h"

#define dlsym symbol_find /* the name itself is ours to export */

#if defined(__x86_64__)
#define GLIBC_FIRST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define GLIBC_FIRST "GLIBC_2.17"
#endif

#define FROM_FIRST_GLIBC(name)                                                                     \
    __asm__(".symver " #name ", " #name "@" GLIBC_FIRST);                                          \
    extern __typeof__(name) name __attribute__((weak))

FROM_FIRST_GLIBC(dlvsym);
FROM_FIRST_GLIBC(dlopen);
FROM_FIRST_GLIBC(dlclose);
FROM_FIRST_GLIBC(dladdr);
FROM_FIRST_GLIBC(dlerror);
FROM_FIRST_GLIBC(pthread_key_create);
FROM_FIRST_GLIBC(pthread_setspecific);

#endif
