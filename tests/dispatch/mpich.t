#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The preload library over a stand-in for MPICH.
family=mpich
. "${top_srcdir:?}/tests/dispatch/dispatch.sh"
