/* SPDX-License-Identifier: BSD-3-Clause */
/* A child process that is waited for, but not for ever. */
#ifndef SCOPE_BOUNDED_CHILD_H
#define SCOPE_BOUNDED_CHILD_H

/* Runs work(data) in a child process and waits until it has ended, at most limit_ms. The child has
 * none of the caller's descriptors, so whoever reads from them waits for nobody; its standard
 * output and error are /dev/null. Its signals are blocked. As the caller may have threads,
 * functions that are not async-signal-safe may find a lock that nobody gives back. A child that
 * somebody kills is started again, twice at most: Slurm kills all processes below slurmstepd when a
 * step is to end. Returns 0 if work returned 0, 1 if it did not, or -1 if it did not end in time, or cannot be
 * started: then it is killed, and if it cannot even die (a file system that does not answer), left alone. */
int bounded_child_run(int (*work)(const void *data), const void *data, int limit_ms);

#endif
