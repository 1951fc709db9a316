/* SPDX-License-Identifier: BSD-3-Clause */
/* WHAT: the one option grammar, after --scope-profile=, in SCOPE_PROFILE and for sp-run.
 *
 *     WHAT = WORD{,WORD}      "\," is a literal comma, "\\" a literal backslash
 *     WORD = mpi-calls | mpi-calls=all | mpi-calls=KIND{+KIND} | polls=all | start=paused | off |
 *            help | out=DIR | merge=srun | merge=epilog | merge=off | max-run=SIZE |
 *            max-trace=SIZE | max-file=SIZE | likwid=EVENTS | likwid-mpi=yes |
 *            likwid-pin=yes | likwid-shared=yes |
 *            qmpi=TOOL{+TOOL} | qmpi-path=PATH{:PATH}
 *     KIND: a word of mpi_kind.h; SIZE: see size_text.h
 *     EVENTS = SET{|SET}, SET = GROUP | EVENT:COUNTER{+EVENT:COUNTER}     of LIKWID
 */
#ifndef SCOPE_OPTIONS_H
#define SCOPE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/error.h"

enum merge_mode { MERGE_SRUN, MERGE_EPILOG, MERGE_OFF };

enum {
    OPTIONS_PATH_MAX = 4096,
    OPTIONS_TEXT_MAX = 8192,
    OPTIONS_LIKWID_MAX = 1024,
    OPTIONS_TOOL_MAX = 256, /* bytes of a QMPI tool's name, and a zero */
    OPTIONS_TOOLS_MAX = 64, /* QMPI tools in a list */
};

struct options {
    bool mpi_calls; /* which: read where it matters, in the preload library */
    bool off;
    bool help;
    bool likwid; /* likewise, in the plugin */
    enum merge_mode merge;
    char out[OPTIONS_PATH_MAX]; /* "" : the working directory */
};

/* Parses text into *options (set to the defaults first). A word may be given once; "off" and "help"
 * stand alone; a text without mpi-calls, off or help asks for nothing and is an error too.
 * Returns 0, or -1 and err, which names the word and lists the right ones. */
int options_parse(struct options *options, const char *text, struct error *err);

/* The value of a word in WHAT that was checked before, as it stands there: *length bytes, NULL if the
 * word is not there or has no value. name: "mpi-calls". For where only a few words matter. */
const char *options_value(const char *text, const char *name, size_t *length);

/* A list of QMPI tools, as in qmpi= where nothing is escaped: names joined by '+', the recorder's
 * once at most. Returns 0, or -1 and err. */
int options_check_tools(const char *list, struct error *err);

/* The text of help: one line per word. */
extern const char options_help[];

#endif
