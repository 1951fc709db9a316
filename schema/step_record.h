/* SPDX-License-Identifier: BSD-3-Clause */
/* What the epilog of a job must know of a profiled step: an entry of the registry (registry.h).
 *
 * Text: "scope-profile-step 1", then one KEY=VALUE a line, values percent-encoded, each of the keys
 * of this version exactly once, but for component and spool, which older plugins did not write. A
 * text with anything else is refused as a whole.
 */
#ifndef SCOPE_STEP_RECORD_H
#define SCOPE_STEP_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/error.h"
#include "schema/options.h"
#include "schema/user_ids.h"

enum {
    STEP_RECORD_GROUPS_MAX = 1024,
    STEP_RECORD_MAX = 32 * 1024, /* bytes of the text, its zero byte included */
};

/* How the epilog merges: the site's to say. wait_s and threads are also srun's. */
struct epilog_terms {
    uint32_t timeout_s; /* for all steps of the job together */
    uint32_t wait_s;    /* for the markers of nodes, within that time */
    uint32_t threads;
    bool detaches; /* goes on after the epilog, then without that time limit */
};

#define EPILOG_TERMS_DEFAULT                                                                       \
    {                                                                                              \
        .timeout_s = 30, .wait_s = 30, .threads = 1                                                \
    }

struct step_record {
    uint32_t job, step; /* of the component, if the step has several */
    uint32_t nodes;     /* of the whole step: so many markers will be there; 0: none will */
    uint32_t component; /* of a heterogeneous step, as of node_marker_name; else 0 */
    bool is_mpirun;     /* of a batch script: one run for each mpirun in it */
    uid_t user;
    gid_t group, groups[STEP_RECORD_GROUPS_MAX];
    size_t group_count;
    enum merge_mode merge;      /* MERGE_SRUN: the epilog steps in if srun could not */
    char run[OPTIONS_PATH_MAX]; /* absolute path of the run directory; of mpiruns' up to the number */
    char spool[OPTIONS_PATH_MAX]; /* absolute path of the step's directory in the spool; "": none */
    struct epilog_terms terms;
};

/* Takes the ids over. Returns 0, or -1 and err if there are too many groups. */
int step_record_set_ids(struct step_record *record, const struct user_ids *ids, struct error *err);

/* The ids, which point into the record. */
struct user_ids step_record_ids(const struct step_record *record);

/* Writes the text to text[STEP_RECORD_MAX] and its length to *length. Returns 0, or -1 and err if
 * it does not fit or the run directory is no absolute path. */
int step_record_print(const struct step_record *record, char text[static STEP_RECORD_MAX],
                      size_t *length, struct error *err);

/* Reads the text[0..length-1], which it spoils; text[length] is a zero byte. Returns 0, or -1 and
 * err. */
int step_record_parse(struct step_record *record, char *text, size_t length, struct error *err);

#endif
