/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the writer of profile files share. */
#ifndef SCOPE_PROFILE_WRITER_PARTS_H
#define SCOPE_PROFILE_WRITER_PARTS_H

#include "schema/profile_events.h"
#include "schema/profile_table.h"
#include "schema/profile_writer.h"

struct profile_writer {
    struct profile_file file;
    hid_t metadata;
    struct profile_form form;
    struct profile_events events;
};

#endif
