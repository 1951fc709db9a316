#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# QMPI tools over a stand-in for Open MPI.
family=openmpi
. "${top_srcdir:?}/tests/dispatch/qmpi.sh"
