/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that one rank's trace may take: what the user asked for, and what its memory bears. */
#ifndef SCOPE_TRACE_LIMIT_H
#define SCOPE_TRACE_LIMIT_H

#include <stdint.h>

/* The limit for a rank of `ranks`, whose trace comes to where `directory` is open. what: the user's
 * words, or NULL; max-trace= there decides alone. */
uint64_t trace_limit(const char *what, uint32_t ranks, int directory);

/* What a rank of `ranks` may take in the node's spool, of which all there have `size` bytes; 0: that is
 * too little for a trace. */
uint64_t trace_limit_in_spool(uint64_t size, uint32_t ranks);

/* The same where a trace takes the job's memory: its part of what the job has on this node. From
 * Slurm's and the launchers' variables. */
uint64_t trace_limit_in_memory(uint32_t ranks);

#endif
