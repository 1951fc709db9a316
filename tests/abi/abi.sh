#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares preload/abi and the table with a real MPI: sourced with family and mpicc set.
# shellcheck source=tests/dispatch/tap.sh
. "${top_srcdir:?}/tests/dispatch/tap.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/sp-abi-XXXXXX")
trap 'rm -rf "$work"' EXIT

# From a file: read from standard input, Open MPI's wrapper drops its -I.
echo '#include <mpi.h>' >"$work/declared.c"
"${mpicc:?}" -E "$work/declared.c" | grep -oE '\bMPI_[A-Z][A-Za-z0-9_]* *\(' | tr -d ' (' |
    sort -u >"$work/declared"
sed -n 's/^CHECK(\(MPI_[A-Za-z0-9_]*\),.*/\1/p' "${top_builddir:?}/preload/mpi_check.h" |
    sort >"$work/table"
comm -12 "$work/declared" "$work/table" >"$work/both"
grep -E "^CHECK\(($(paste -sd '|' "$work/both"))," "$top_builddir/preload/mpi_check.h" \
    >"$work/checks.h"
[[ $(wc -l <"$work/checks.h") -gt 80 ]]
result $? "mpi.h declares $(wc -l <"$work/checks.h") functions of the table"

# Without const, which came to some parameters late and is nothing to a call.
"$mpicc" -std=gnu11 -Wall -Wno-deprecated-declarations -Dconst= -I"$top_srcdir" -I"$top_builddir" -I"$work" \
    -DABI_HEADER="\"preload/abi/${family:?}.h\"" -DABI_CHECKS='"checks.h"' -DFIRST_RESULT=2 \
    -o "$work/abi_check" "$top_srcdir/tests/abi/abi_check.c" -ldl >"$work/messages" 2>&1
result $? "constants, layouts and prototypes are those of mpi.h"
grep -E 'error|warning' "$work/messages" | sed 's/^/# /'
[[ -x $work/abi_check ]] && "$work/abi_check"
