#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The preload library over a stand-in for Open MPI.
family=openmpi
. "${top_srcdir:?}/tests/dispatch/dispatch.sh"
