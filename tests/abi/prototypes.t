#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every MPI function that a library declares or exports is in the table, with its type, or excluded.
#
# Looks at the MPIs that configure found and at those unpacked in the directories that MPI_PREFIXES
# lists, separated by blanks: each with lib/libmpi*.so.N and, where it has them, include/mpi*.h.
# shellcheck source=tests/dispatch/tap.sh
. "${top_srcdir:?}/tests/dispatch/tap.sh"

types='MPI_(Aint|Comm|Datatype|Errhandler|F(ile|int)|Group|Info|Message|Op|Request|Session|Win)'
work=$(mktemp -d "${TMPDIR:-/tmp}/sp-prototypes-XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 "$top_srcdir/preload/generate.py" list "$top_srcdir/preload/mpi_functions.def" >"$work/list"
grep -v ' excluded: ' "$work/list" | cut -d' ' -f1 | sort >"$work/table"
mapfile -t excluded < <(sed -n 's/ excluded: .*//p' "$work/list")

is_excluded() {
    local pattern
    for pattern in "${excluded[@]}"; do
        # shellcheck disable=SC2053 # it is a pattern
        [[ $1 == $pattern ]] && return 0
    done
    return 1
}

# unknown NAMES: those in the file that are neither in the table nor excluded
unknown() {
    local name
    comm -23 "$1" "$work/table" | while read -r name; do
        is_excluded "$name" || echo "$name"
    done
}

# handles FAMILY: the predefined ones whose numbers are part of its binary interface
handles() {
    case $1 in
    standard) echo BYTE ;&
    mpich) echo COMM_WORLD COMM_SELF COMM_NULL REQUEST_NULL DATATYPE_NULL NO_OP ;;
    esac
}

# header NAME FAMILY FLAGS HEADER
header() {
    echo "#include \"$4\"" >"$work/declared.c"
    # shellcheck disable=SC2086 # flags are words
    cc $3 -E "$work/declared.c" >"$work/expanded" 2>/dev/null
    # Not the type that a function returns: "typedef MPI_Comm (QMPI_...".
    grep -oE '\bMPIX?_[A-Z][A-Za-z0-9_]* *\(' "$work/expanded" | tr -d ' (' | sort -u |
        grep -vxE "$types" >"$work/names"
    [[ $(wc -l <"$work/names") -gt 300 ]]
    result $? "$1: $(wc -l <"$work/names") functions in its header"
    is "$(unknown "$work/names")" "" "$1: its header declares no unknown function"

    # The same but for const, which came to some parameters late and is nothing to a call.
    comm -12 "$work/names" "$work/table" >"$work/both"
    {
        echo "#include \"$4\""
        echo "#include \"preload/abi/$2.h\""
        for constant in ANY_SOURCE PROC_NULL ROOT ANY_TAG UNDEFINED CART GRAPH DIST_GRAPH \
            THREAD_MULTIPLE STATUS_IGNORE IN_PLACE $(handles "$2"); do
            echo "_Static_assert((long)ABI_$constant == (long)MPI_$constant, \"$constant\");"
        done
        echo '_Static_assert(sizeof(struct abi_status) == sizeof(MPI_Status), "MPI_Status");'
        echo '#define CHECK(name, type) _Static_assert(__builtin_types_compatible_p('\
'__typeof__(name), __typeof__(type)) && __builtin_types_compatible_p('\
'__typeof__(P##name), __typeof__(type)), #name);'
        grep -E "^CHECK\(($(paste -sd '|' "$work/both"))," "${top_builddir:?}/preload/mpi_check.h"
    } >"$work/types.c"
    # shellcheck disable=SC2086 # flags are words
    cc -std=gnu11 -w -Dconst= -I"$top_srcdir" $3 -c -o /dev/null "$work/types.c" 2>"$work/messages"
    result $? "$1: $(wc -l <"$work/both") functions and our constants are as in its header"
    grep error "$work/messages" | head -n 20 | sed 's/^/# /'
}

# library NAME FILE
library() {
    nm -D --defined-only "$2" | awk '$2 ~ /[TWi]/ {print $3}' | sed 's/@.*//' |
        sed -n 's/^P\{0,1\}\(MPIX\{0,1\}_.*\)/\1/p' | sort -u >"$work/names"
    [[ $(wc -l <"$work/names") -gt 300 ]]
    result $? "$1: $(wc -l <"$work/names") functions in ${2##*/}"
    is "$(unknown "$work/names")" "" "$1: ${2##*/} exports no unknown function"
}

# compiler NAME FAMILY MPICC: what an MPI's compiler wrapper uses
compiler() {
    local file
    echo '#include <mpi.h>
int main(void) { return MPI_Finalize(); }' >"$work/program.c"
    file=$("$3" -E "$work/program.c" | sed -n 's/^# [0-9]* "\(.*\/mpi.h\)".*/\1/p' | head -n 1)
    "$3" -o "$work/program" "$work/program.c"
    header "$1" "$2" "-I${file%/*}" "$file"
    library "$1" "$(ldd "$work/program" | awk '$1 ~ /^libmpi(ch)?\.so/ {print $3}')"
}

[[ -z ${MPICC_OPENMPI:-} ]] || compiler "Open MPI" openmpi "$MPICC_OPENMPI"
[[ -z ${MPICC_MPICH:-} ]] || compiler MPICH mpich "$MPICC_MPICH"
for prefix in ${MPI_PREFIXES:-}; do
    name=${prefix##*/}
    if [[ -e $prefix/include/mpi.h ]]; then
        family=mpich
        ! grep -q OPEN_MPI "$prefix/include/mpi.h" || family=openmpi
        header "$name" "$family" "-I$prefix/include" "$prefix/include/mpi.h"
    fi
    [[ ! -e $prefix/include/mpi_abi.h ]] ||
        header "$name (standard ABI)" standard "-I$prefix/include" "$prefix/include/mpi_abi.h"
    for file in "$prefix"/lib/libmpi.so.[0-9]* "$prefix"/lib/libmpi_abi.so.[0-9]*; do
        [[ ! -e $file || $file == *.*.*.* ]] || library "$name" "$file"
    done
done
sed -n 's/\(.*\) excluded: /# left alone: \1: /p' "$work/list"
done_testing
