#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the preload library reads of the objects in its process.
# shellcheck source=tests/dispatch/tap.sh
. "${top_srcdir:?}/tests/dispatch/tap.sh"
run "$top_builddir/images"
result $? "objects that are sound and objects that are not"
done_testing
