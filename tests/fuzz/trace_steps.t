#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every finished record is in the trace after each instruction.
. "${top_srcdir:?}/tests/dispatch/tap.sh"
run "${top_builddir:?}/trace_steps"
