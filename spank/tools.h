/* SPDX-License-Identifier: BSD-3-Clause */
/* The QMPI tools of a step: the site's and the user's, as words of WHAT. */
#ifndef SCOPE_TOOLS_H
#define SCOPE_TOOLS_H

#include "schema/error.h"
#include "schema/options.h"

/* What the site says of tools: "" nothing, "off" that there are none, or a list of those that come
 * first. Returns 0 if it is one of these, or -1 and err. */
int tools_check(const char *site, struct error *err);

enum tools_result {
    TOOLS_COMPLETE,
    TOOLS_WITHOUT_USERS, /* what the user asks for cannot be had: err says why */
    TOOLS_NO_ROOM,       /* what the site says cannot be added: so err says */
};

/* Writes into what[OPTIONS_TEXT_MAX] which tools are loaded, and from where: where it does not say
 * so, the user's variables do, and the site's come in any case. Whatever the task finds in its
 * environment then, it is WHAT that counts; but not after TOOLS_NO_ROOM. */
enum tools_result tools_complete(const char *site, char what[static OPTIONS_TEXT_MAX],
                                 struct error *err);

#endif
