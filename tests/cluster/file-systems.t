#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Traces on file systems of several kinds: mapped where a store cannot fail, else written window by
# window, and never the end of the program, also when the disk is full. In memory they are small.
#
# Needs no cluster, but root, for loop mounts. NFS and Lustre are not to be had here.
. "$(dirname "$0")/scenario.sh"
plan 17

build=${top_builddir:?set by contrib/run-tests.sh}
victim=$build/tests/kill/openmpi/victim
work=$(mktemp -d /tmp/scope-disks.XXXXXX)
mounted=()
clean_up() {
    cd /
    local disk
    for disk in "${mounted[@]}"; do umount "$work/$disk"; done
    rm -rf "$work"
}
trap clean_up EXIT
cd "$work" || exit

# disk NAME SIZE COMMAND...: a file system made by COMMAND on an image, mounted
disk() {
    mkdir "$1" && truncate --size "$2" "$1.image" && "${@:3}" "$1.image" >/dev/null 2>&1 &&
        mount -o loop "$1.image" "$1" && mounted+=("$1")
}

# begin DISK: the victim starts there
begin() {
    rm -rf "$1/run"
    LD_PRELOAD=$SP_STAGE/lib/scope-profile/libscope_preload.so SCOPE_PROFILE_RUN=$work/$1/run \
        "$victim" 1 64 100>/dev/null 2>"$1.err" &
    rank=$!
    until [[ $(stat --format=%s "$1"/run/*/*.sptrace 2>/dev/null || echo 0) -gt 1000000 ]] ||
        ! kill -0 $rank 2>/dev/null; do sleep 0.02; done
}

# finish: kills it; how it ended
finish() {
    kill -KILL $rank 2>/dev/null
    wait $rank 2>/dev/null
    status=$?
}

# kind DISK: how the trace there is written
kind() {
    sp-dump --header "$1"/run/*/*.sptrace | sed -n 's/^windows *//p'
}

disk ext4 64M mkfs.ext4 -q -m 0
disk xfs 320M mkfs.xfs -q
disk btrfs 128M mkfs.btrfs -q
mkdir fuse tmpfs
truncate --size 64M fuse.image
mkfs.ext4 -q fuse.image
fuse2fs -o fakeroot fuse.image fuse && mounted+=(fuse)
mount -t tmpfs -o size=64M none tmpfs && mounted+=(tmpfs)

for disk in ext4 xfs tmpfs btrfs fuse; do
    begin $disk
    is "$(kind $disk)" "$([[ $disk == @(btrfs|fuse) ]] && echo written when full || echo mapped)" \
        "$disk: how the trace is written"
    finish
    calls=$(sp-dump "$disk"/run/*/*.sptrace 2>"$work/problem" | grep -c ' mpi:')
    ok "$((calls < 1000 || $(wc -l <"$work/problem") > 0))" \
        "$disk: the trace of a killed rank can be read"
    [[ $disk == @(btrfs|fuse) ]] || continue
    like "$(sp-merge -v -f -o merged.h5 $disk/run 2>&1)" "were then: .*traces were not mapped" \
        "$disk: nobody claims to know where the rank was"
done

# A full disk while windows are mapped, and what lies on it goes to the disk.
for disk in ext4 btrfs fuse; do
    begin $disk
    dd if=/dev/urandom of=$disk/fill bs=1M 2>/dev/null
    sync -f $disk/fill
    sleep 1
    finish
    is "$status" 137 "$disk: a rank lives on when the disk is full"
    rm $disk/fill
done

# In memory both ranks take 2 % of what the job has, here 200 MB, unless max-trace= says otherwise.
export SCOPE_PROFILE_WHAT SLURM_MEM_PER_NODE=200
for SCOPE_PROFILE_WHAT in mpi-calls mpi-calls,max-trace=4M; do
    begin tmpfs
    for ((i = 0; i < 500; i++)); do
        [[ $(sp-dump --live tmpfs/run) != *"no room for more"* ]] || break
        sleep 0.02
    done
    finish
    size=$(stat --format=%s tmpfs/run/*/*.sptrace)
    [[ $SCOPE_PROFILE_WHAT == *=4M ]] && limit=$((4 << 20)) || limit=$((2 << 20))
    ok "$((size > limit || size < limit - limit / 4))" \
        "tmpfs, $SCOPE_PROFILE_WHAT: a full trace has $size bytes, of $limit"
done
