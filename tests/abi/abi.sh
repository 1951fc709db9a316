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

# The numbers of functions for QMPI tools, in the column of this version.
if [[ ${family:?the scripts set it} == mpich ]]; then
    version=$("$mpicc" -E -dM "$work/declared.c" | sed -n 's/^#define MPICH_VERSION "\(.*\)"/\1/p')
    numbers=$top_srcdir/preload/qmpi_numbers.def
    awk -v version="$version" '/^version/ { for (i = 2; i <= NF; i++) if ($i == version) chosen = i }
        /^MPI/ && chosen && $chosen != "-" {
            print "_Static_assert(" toupper($1) "_T == " $chosen ", \"" $1 "\");" }' "$numbers" \
        >"$work/numbers.h"
    { echo '#include <mpi.h>' && cat "$work/numbers.h"; } >"$work/numbers.c"
    if [[ -s $work/numbers.h ]]; then
        "$mpicc" -c -o /dev/null "$work/numbers.c" >"$work/messages" 2>&1
        result $? "MPICH $version numbers $(wc -l <"$work/numbers.h") functions as we know"
    else
        echo "ok $((++count)) - numbers of functions # SKIP those of MPICH $version are not known"
    fi
    # scope_qmpi.h has each name of this enumeration, also where tools cannot have the function.
    "$mpicc" -E "$work/declared.c" |
        sed -n '/^enum QMPI_Functions_enum/,/}/s/^ *\(MPI[A-Z0-9_]*_T\),*$/\1/p' |
        grep -v MPI_LAST_FUNC_T >"$work/named"
    [[ $(wc -l <"$work/named") -gt 500 ]]
    result $? "MPICH $version names $(wc -l <"$work/named") functions"
    {
        echo '#include <scope_qmpi.h>'
        sed 's/.*/#ifndef &\n#error &\n#endif/' "$work/named"
    } >"$work/named.c"
    "$mpicc" -I"$top_builddir/preload" -c -o /dev/null "$work/named.c" >"$work/messages" 2>&1
    result $? "and scope_qmpi.h has them all"
    grep error "$work/messages" | sed 's/^/# /'
fi

# Without const, which came to some parameters late and is nothing to a call.
"$mpicc" -std=gnu11 -Wall -Wno-deprecated-declarations -Dconst= -I"$top_srcdir" -I"$top_builddir" -I"$work" \
    -DABI_HEADER="\"preload/abi/${family:?}.h\"" -DABI_CHECKS='"checks.h"' -DFIRST_RESULT="$((count + 1))" \
    -o "$work/abi_check" "$top_srcdir/tests/abi/abi_check.c" -ldl >"$work/messages" 2>&1
result $? "constants, layouts and prototypes are those of mpi.h"
grep -E 'error|warning' "$work/messages" | sed 's/^/# /'
[[ -x $work/abi_check ]] && "$work/abi_check"
