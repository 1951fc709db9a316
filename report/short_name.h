/* SPDX-License-Identifier: BSD-3-Clause */
/* The short form of an MPI region's name. */
#ifndef SCOPE_SHORT_NAME_H
#define SCOPE_SHORT_NAME_H

enum { SHORT_NAME_SIZE = 320 };

/* Returns name without what says nothing (-1) and without the kind, which the operation implies but
 * for polls that found nothing:
 *     mpi:wait kind=wait bytes=64 peer=1 root=-1 tag=17 comm=0 request=isend
 *     mpi:wait isend 64 B peer=1 tag=17 comm=0
 * in text, or name itself if it does not follow the grammar of schema/region_label.h exactly. Names
 * that differ in more than their kind, or of which one is a poll, have short forms that differ. */
const char *short_name(const char *name, char text[static SHORT_NAME_SIZE]);

#endif
