/* SPDX-License-Identifier: BSD-3-Clause */
/* The processor of this host, as the kernel tells it. */
#ifndef SCOPE_PROCESSOR_H
#define SCOPE_PROCESSOR_H

#include <stddef.h>

enum { PROCESSOR_MODEL_SIZE = 256 };

/* Its name: "AMD EPYC 7742 64-Core Processor"; "" where it has none. */
void processor_model(char model[static PROCESSOR_MODEL_SIZE]);

/* The socket (physical package) of a hardware thread, or -1: there is no such thread. */
int processor_socket(unsigned cpu);

/* How many there are; 0: not known. */
size_t processor_count_sockets(void);
size_t processor_count_numa_nodes(void);

#endif
