# SPDX-License-Identifier: BSD-3-Clause
# A processor that LIKWID knows, and its access daemon, where there is neither. To be sourced.
#
# The real liblikwid believes in a Zen 2 with this machine's CPUs: it takes the topology from
# /etc/likwid_topo.cfg, and its registers from the likwid-accessD it finds first in PATH
# (access_daemon.c, whose values follow a rule).
# shellcheck shell=bash

# simulation_make DIR DAEMON: DIR/etc and DIR/bin, for all to read
simulation_make() {
    mkdir -p "$1/etc" "$1/bin" && cp "$2" "$1/bin/likwid-accessD" || return
    likwid-genTopoCfg -o "$1/etc/likwid_topo.cfg" >"$1/topology.log" 2>&1 || return
    sed -i -e 's/^cpuid_info family = .*/cpuid_info family = 23/' \
        -e 's/^cpuid_info model = .*/cpuid_info model = 49/' \
        -e 's/^cpuid_info clock = .*/cpuid_info clock = 2000000000.0/' \
        -e 's/^cpuid_info short_name = .*/cpuid_info short_name = zen2/' \
        -e 's/^cpuid_info name = .*/cpuid_info name = AMD K17 (Zen2) architecture/' \
        "$1/etc/likwid_topo.cfg" && chmod -R a+rX "$1"
}

# simulation_mount DIR: as root, in a mount namespace that others do not share
simulation_mount() {
    mount -t overlay overlay -o "lowerdir=$1/etc:/etc" /etc
}
