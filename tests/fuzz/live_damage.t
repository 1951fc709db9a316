#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What ranks do is told from a damaged trace, too, or not: never a crash, a hang or too much memory.
. "${top_srcdir:?}/tests/dispatch/tap.sh"
run "${top_builddir:?}/live_damage"
