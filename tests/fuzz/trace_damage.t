#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A damaged trace gives records or errors, never a crash, a hang or too much memory.
. "${top_srcdir:?}/tests/dispatch/tap.sh"
run "${top_builddir:?}/trace_damage"
