#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The recorder under many threads: no thread races with another, and no call is lost.

# A mount namespace of our own, for a file system on which traces are not mapped.
if [[ -z ${SP_OWN_MOUNTS:-} ]]; then
    as_root=()
    ((EUID == 0)) || as_root=(--map-root-user)
    SP_OWN_MOUNTS=1 exec unshare --mount "${as_root[@]}" "$0"
fi

# shellcheck source=tests/dispatch/tap.sh
. "${top_srcdir:?}/tests/dispatch/tap.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/sp-threads-XXXXXX")
mkdir "$work/buffered"
trap 'umount "$work/buffered"; rm -rf "$work"' EXIT
mount -t ramfs none "$work/buffered" || echo "Bail out! no ramfs"

# threads DIRECTORY NAME [WHAT]
threads() {
    # While a trace that is not mapped is written, others go on in the pages that are part of it: as
    # from a mapped one, a reader may see any mixture. It takes a long history to tell who did that.
    echo race:write_pages >"$work/suppressions"
    run TSAN_OPTIONS="suppressions=$work/suppressions print_suppressions=0 history_size=7" \
        "${top_builddir:?}/recorder_threads" "$1" "${@:3}" >"$work/output" 2>&1
    result $? "$2"
    sed 's/^#* */# /' "$work/output"
}

threads "$work/mapped" "a mapped trace"
threads "$work/full" "the same with no room for most" mpi-calls,max-trace=1M
threads "$work/buffered/run" "a trace that is written by hand"
threads "$work/buffered/full" "the same with no room for most" mpi-calls,max-trace=1M
done_testing
