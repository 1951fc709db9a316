/* SPDX-License-Identifier: BSD-3-Clause */
/* The markers of nodes that are done with a run. */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/node_marker.h"

static char name[NODE_MARKER_NAME_SIZE];

Test(node_marker, each_component_of_a_step_has_its_own_on_a_node)
{
    cr_assert_eq(node_marker_name("node1", 0, name), 0);
    cr_expect_str_eq(name, "done-node1");
    cr_assert_eq(node_marker_name("node1", 4294967295U, name), 0);
    cr_expect_str_eq(name, "done-node1+4294967295");
}

Test(node_marker, what_is_no_file_name_is_refused)
{
    char longest[NODE_MARKER_NAME_SIZE - sizeof NODE_MARKER_PREFIX + 2];
    cr_expect_lt(node_marker_name("", 0, name), 0);
    cr_expect_lt(node_marker_name("../a", 0, name), 0);
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    cr_expect_lt(node_marker_name(longest, 0, name), 0);
    longest[sizeof longest - 2] = '\0';
    cr_expect_eq(node_marker_name(longest, 0, name), 0);
    cr_expect_lt(node_marker_name(longest, 1, name), 0);
}

Test(node_marker, other_names_are_none)
{
    cr_expect(node_marker_is("done-node1"));
    cr_expect_not(node_marker_is("done-"));
    cr_expect_not(node_marker_is("exit-node1"));
}

/* --- in a directory ------------------------------------------------------------------------------
 */

static char directory[] = "/tmp/node-marker-XXXXXX";
static int dirfd;

static void make(void)
{
    cr_assert_not_null(mkdtemp(directory));
    dirfd = open(directory, O_RDONLY | O_DIRECTORY);
    cr_assert_geq(dirfd, 0);
}

static void take_away(void)
{
    cr_expect_eq(unlinkat(dirfd, "job", 0), 0);
    cr_expect_eq(rmdir(directory), 0);
}

TestSuite(directory, .init = make, .fini = take_away);

Test(directory, markers_are_counted_once_and_removed_alone)
{
    struct stat info;
    cr_assert_eq(symlinkat("elsewhere", dirfd, "job"), 0);
    cr_expect_eq(node_marker_count(dirfd), 0);
    cr_assert_eq(node_marker_put(dirfd, "done-a"), 0);
    cr_assert_eq(node_marker_put(dirfd, "done-b"), 0);
    cr_expect_eq(node_marker_put(dirfd, "done-a"), 0, "it is there already");
    cr_expect_eq(node_marker_count(dirfd), 2);
    cr_assert_eq(fstatat(dirfd, "done-a", &info, AT_SYMLINK_NOFOLLOW), 0);
    cr_expect_eq(info.st_mode & 07133, 0, "mode %o", info.st_mode);
    cr_expect_eq(node_marker_remove_all(dirfd), 0);
    cr_expect_eq(node_marker_count(dirfd), 0);
}

Test(directory, a_link_in_its_place_leads_nowhere)
{
    cr_assert_eq(symlinkat("job", dirfd, "done-a"), 0);
    cr_expect_eq(node_marker_put(dirfd, "done-a"), 0);
    cr_expect_eq(faccessat(dirfd, "job", F_OK, AT_SYMLINK_NOFOLLOW), -1);
    cr_assert_eq(symlinkat("elsewhere", dirfd, "job"), 0);
    cr_expect_eq(node_marker_remove_all(dirfd), 0);
}
