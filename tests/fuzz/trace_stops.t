#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every finished record is in the trace after each store.
. "${top_srcdir:?}/tests/dispatch/tap.sh"
run "${top_builddir:?}/trace_stops"
