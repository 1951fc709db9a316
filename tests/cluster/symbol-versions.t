#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What is installed starts in any program: the preload library needs no glibc above 2.17 and only
# libc, the plugin only libc, and each exports only what is looked for.
. "$(dirname "$0")/scenario.sh"
plan 11
preload=$(echo "$SP_STAGE"/lib*/scope-profile/libscope_preload.so)
plugin=$(awk '/scope_profile\.so/ { print $2 }' "$SP_CLUSTER/plugstack.conf")

needed() {
    readelf --dynamic --wide "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | xargs
}
# The names that file defines for others.
exported() {
    objdump --dynamic-syms "$1" | awk '$2 != "*UND*" && /^[0-9a-f]/ && !/\*UND\*/ { print $NF }' |
        LC_ALL=C sort -u
}

passes "the preload library is installed" test -f "$preload"
passes "the plugin is installed" test -f "$plugin"
is "$(needed "$preload")" libc.so.6 "the preload library needs libc alone"
versions=$(objdump --dynamic-syms "$preload" | grep -o 'GLIBC_[0-9.]*' | LC_ALL=C sort -uV)
like "$versions" GLIBC_ "symbol versions are found"
is "$(printf '%s\nGLIBC_2.17\n' "$versions" | LC_ALL=C sort -V | tail -1)" GLIBC_2.17 \
    "no symbol version is above GLIBC_2.17"
is "$(readelf --dynamic "$preload" | grep -c 'TEXTREL\|RPATH\|RUNPATH')" 0 \
    "no text relocation and no search path in it"
like "$(exported "$preload")" MPI_Send "it exports MPI functions"
is "$(exported "$preload" | grep -v '^P\{0,1\}MPIX\{0,1\}_\|^QMPI_\|^dlsym$' | xargs)" \
    "__asan_default_options scope_profile_preload" \
    "and what QMPI tools, AddressSanitizer and copies of it look for, nothing else"

is "$(needed "$plugin")" libc.so.6 "the plugin needs libc alone"
is "$(exported "$plugin" | grep -v '^slurm_spank_\|^plugin_\(name\|type\|version\)$\|^spank_plugin_version$')" "" \
    "it exports only what Slurm looks for"
like "$(exported "$plugin")" plugin_name "Slurm finds its name"
