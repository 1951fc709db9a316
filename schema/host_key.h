/* SPDX-License-Identifier: BSD-3-Clause */
/* A name for those that read the same CLOCK_MONOTONIC. */
#ifndef SCOPE_HOST_KEY_H
#define SCOPE_HOST_KEY_H

#include <stddef.h>

enum { HOST_KEY_SIZE = 192 };

/* Writes "BOOT-ID TIME-NAMESPACE HOST-NAME" of the calling process to key[size], cut to fit; what
 * the system does not tell is empty. The host's name is in it because processes of different hosts
 * are to be told apart also where boot ids are not to be had. */
void host_key_read(char *key, size_t size);

#endif
