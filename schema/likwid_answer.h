/* SPDX-License-Identifier: BSD-3-Clause */
/* What sp-likwid-read prints.
 *
 * First a record (likwid_record.h) with LIKWID_RECORD_TYPE, LIKWID_RECORD_CLOCK and the groups, or
 * LIKWID_RECORD_REASON and nothing more; LIKWID_RECORD_END ends it. Then numbers, each line with
 * one blank between words: for each region of the marker file and each thread
 *
 *     REGION THREAD EVENT... METRIC...
 *
 * in their order, and LIKWID_ANSWER_END.
 */
#ifndef SCOPE_LIKWID_ANSWER_H
#define SCOPE_LIKWID_ANSWER_H

#define LIKWID_ANSWER_END "whole=1"

#endif
