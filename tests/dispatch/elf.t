#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the preload library asks of the system it is loaded into, and what it shows.
# shellcheck source=tests/dispatch/tap.sh
. "${top_srcdir:?}/tests/dispatch/tap.sh"
library=$top_builddir/.libs/libscope_preload.so

newer=$(readelf --version-info --wide "$library" | grep -o 'GLIBC_[0-9.]*' | sort -Vu |
    awk -F_ '{ split($2, v, "."); if (v[1] > 2 || v[2] > 17) print }')
is "$newer" "" "no symbol version above GLIBC_2.17"
is "$(readelf --dynamic --wide "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')" "libc.so.6" \
    "needs libc alone"
is "$(readelf --dynamic --wide "$library" | grep -cE 'TEXTREL|EXECSTACK')" 0 "no text relocations"
is "$(readelf --program-headers --wide "$library" | awk '/GNU_STACK/ { print $7 }')" "RW" \
    "no executable stack"
# Names are taken back in memory (exports.c): found by their hash, and not among code.
has "$(readelf --dynamic --wide "$library")" GNU_HASH "names are found by their hash"
is "$(readelf --program-headers --wide "$library" | awk '
    /^  [A-Z_]+ +0x/ { flags[n++] = $7 ($8 ~ /^0x/ ? "" : $8) }
    / \.dynsym / { print flags[$1 + 0] }')" "R" "the symbol table lies in a read-only segment"
shown=$(readelf --dyn-syms --wide "$library" |
    awk '$7 != "UND" && $5 != "LOCAL" && NR > 3 { sub(/@.*/, "", $8); print $8 }' | sort)
# Beside them only what exports.map names in full.
table=$(sed -n 's/^ *\([A-Za-z_]*\);$/\1/p' "$top_srcdir/preload/exports.map"
sed -n 's/.*CHECK(\(MPI_[A-Za-z_0-9]*\),.*/\1\nP\1/p' "$top_builddir/preload/mpi_check.h")
table=$(sort <<<"$table")
shown=$(sort <<<"$shown")
is "$shown" "$table" "shows the functions of the table and nothing else"
# Each costs every process there is: beside those of the slots there are few.
relocations=$(readelf --dynamic --wide "$library" | awk '/RELACOUNT/ { print $3 }')
slots=$(grep -c '^P\?MPI_' <<<"$table")
((relocations >= slots && relocations - slots <= 200))
result $? "no table of addresses but that of the $slots slots: $relocations relocations"
done_testing
