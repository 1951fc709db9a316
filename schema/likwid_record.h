/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank's counters are, or why they were not read: the file rank-000017.likwid.
 *
 * Text, one KEY=VALUE per line, of printable ASCII alone, first line LIKWID_RECORD_FIRST.
 * sp-likwid-try finds out most of it on the rank's own CPUs, the plugin adds the variables LIKWID_*
 * that it gave to the task and hands all of it on, with tabs between lines, in STEP_ENV_LIKWID; the
 * rank writes it beside its trace.
 */
#ifndef SCOPE_LIKWID_RECORD_H
#define SCOPE_LIKWID_RECORD_H

#define LIKWID_RECORD_SUFFIX ".likwid"
#define LIKWID_MARKER_SUFFIX ".markers" /* what liblikwid writes */

#define LIKWID_RECORD_FIRST "scope-profile-likwid 1"
#define LIKWID_RECORD_END "end=1" /* all that was asked could be told */

/* The keys. REASON: nothing was measured, and why. GROUP begins an event set, EVENT ("COUNTER
 * NAME") and METRIC belong to the last one, FORMULA to the last metric. CLOCK is in Hz. TYPE is
 * what LIKWID takes the processor for: "FAMILY/MODEL/STEPPING". CONSTANT is "NAME VALUE", for
 * formulas, SOCKET "CPU SOCKET". OWN is a region of the recorder's own that was entered once: LIKWID
 * counts it anew whenever its counters are looked at. */
#define LIKWID_RECORD_REASON "reason"
#define LIKWID_RECORD_OWN "own"
#define LIKWID_RECORD_LIBRARY "library"
#define LIKWID_RECORD_PROCESSOR "processor"
#define LIKWID_RECORD_TYPE "type"
#define LIKWID_RECORD_CLOCK "clock"
#define LIKWID_RECORD_CONSTANT "constant"
#define LIKWID_RECORD_SOCKET "socket"
#define LIKWID_RECORD_GROUP "group"
#define LIKWID_RECORD_EVENT "event"
#define LIKWID_RECORD_METRIC "metric"
#define LIKWID_RECORD_FORMULA "formula"

/* The values of the variables that are the same for all: registers through the access daemon, and
 * none taken from somebody who uses them already. */
#define LIKWID_RECORD_MODE "1"
#define LIKWID_RECORD_FORCE "-1"

/* Where liblikwid writes until the process is a rank. */
#define LIKWID_RECORD_NOWHERE "/dev/null"

/* Bytes, at most: what the kernel takes as one variable of an environment, and what of it is for
 * the variables LIKWID_*. */
enum { LIKWID_RECORD_SIZE = 120 * 1024, LIKWID_RECORD_ROOM = 8 * 1024 };

#endif
