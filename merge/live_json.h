/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks do at this moment, for programs. */
#ifndef SCOPE_LIVE_JSON_H
#define SCOPE_LIVE_JSON_H

#include <json.h>
#include <stdint.h>

#include "merge/live.h"
#include "merge/live_group.h"

/* An object of one world, which the caller puts (json_object_put); NULL if memory is out. name: of
 * the run. limit: of ranks; groups are told in full. Times are in ns, what is not known is null. */
struct json_object *live_json(const char *name, const struct live *live,
                              const struct live_groups *groups, uint64_t limit);

#endif
