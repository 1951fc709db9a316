#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs without MPI, and those that a preload library could stop, run under --scope-profile as
# ever: their output and exit status, no message of the dynamic loader, no file or directory left.
. "$(dirname "$0")/scenario.sh"
plan 39
fresh_directory
plugstack=$SP_CLUSTER/plugstack.conf
cp "$plugstack" "$results/plugstack.conf"
trap 'cat "$results/plugstack.conf" >"$plugstack"; cd /; rm -rf "$work" "$results"' EXIT

# step NAME WORD...: the step of these words ends with 7, prints "plain" and leaves nothing.
step() {
    local before
    before=$(listing .)
    run srun -n1 --scope-profile=mpi-calls "${@:2}"
    is "$status: $out" "7: plain" "$1: its status and output"
    is "$(listing .)" "$before" "$1: nothing is left"
}

# What the step said on stderr, without what srun itself says on statuses and resources.
said() {
    grep -v '^srun: error: .* Exited with exit code\|^srun: job .* resources$' "$results/err"
}

silent() {
    step "$@"
    is "$(said)" "" "$1: nothing on stderr"
}

# left_alone NAME REASON WORD...: one line on stderr says why it is not profiled.
left_alone() {
    step "$1" "${@:3}"
    like "$(said)" "^scope-profile: [^"$'\n'"]*$2[^"$'\n'"]* without profiling\$" \
        "$1: one line says why it is left alone"
}

run srun -n1 --scope-profile=mpi-calls bash -c 'env; ls; hostname; exit 4'
is "$status" 4 "bash: its exit status"
like "$out" node1$ "bash: ls and hostname ran"
like "$out" SLURM_JOB_ID=[0-9]+ "bash: env ran"
is "$(said)" "" "bash: no message of ld.so, nothing else"
is "$(listing .)" "" "bash: no file and no directory is left"

gcc -o plain "$programs/plain.c"
silent "a dynamic program" ./plain
gcc -fsanitize=address -o sanitized "$programs/plain.c"
left_alone "an AddressSanitizer program" sanitizer ./sanitized
gcc -static -o static "$programs/plain.c"
left_alone "a static program" static ./static
echo 'int PMPI_Init(void *argc, void *argv) { return argc != argv; }' >library.c
gcc -o own-mpi "$programs/plain.c" library.c
left_alone "a program with an MPI library inside" statically ./own-mpi
gcc -fsanitize=address -static-libasan -o sanitized-statically "$programs/plain.c"
silent "an AddressSanitizer program that holds its runtime" ./sanitized-statically
printf '#!/bin/sh\n./plain\n' >script && chmod +x script
silent "a script" ./script
printf './plain\n' >no-interpreter && chmod +x no-interpreter
silent "a script without #!" sh ./no-interpreter
cp plain setuid && chmod u+s setuid
left_alone "a setuid program" set-user-ID ./setuid

run srun -n4 --scope-profile=mpi-calls ./static
is "$(grep -c '^scope-profile: ' "$results/err")" 1 "four tasks of a static program: still one line"

# A root of its own, with a program and its libraries, without our path: a plugin like those of
# container runtimes puts the task there.
mkdir -p root/lib64 root/lib/x86_64-linux-gnu root/dev "root$work"
cp plain root/plain
cp /lib/x86_64-linux-gnu/libc.so.6 root/lib/x86_64-linux-gnu/
cp /lib64/ld-linux-x86-64.so.2 root/lib64/
mknod -m 666 root/dev/null c 1 3
gcc -shared -fPIC -o "$results/chroot_plugin.so" "$programs/chroot_plugin.c"
chmod 755 "$results"
{
    echo "optional $results/chroot_plugin.so $work/root"
    cat "$results/plugstack.conf"
} >"$plugstack"
run srun -n1 /plain
is "$status: $out" "7: plain" "the program runs in a root of its own"
left_alone "a program in a root without our path" libscope_preload.so /plain
cat "$results/plugstack.conf" >"$plugstack"

# The same by hand, in the program's own words.
run srun -n1 chroot root /plain
is "$status" 125 "only root may change its root"
run srun -n1 unshare --map-root-user chroot root /plain
is "$status: $out" "7: plain" "an ordinary user runs it in a root of its own"
left_alone "a program that chroot starts" libscope_preload.so unshare --map-root-user chroot root /plain
