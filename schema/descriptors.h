/* SPDX-License-Identifier: BSD-3-Clause */
/* The open descriptors of a process that is about to do something else. */
#ifndef SCOPE_DESCRIPTORS_H
#define SCOPE_DESCRIPTORS_H

/* Closes those from first on. Where the kernel has no close_range(2), no more than some ten thousand
 * are looked at, for a limit may be a thousand million. Makes nothing but system calls, so a child
 * of a process with threads may call it. */
void descriptors_close_from(int first);

#endif
