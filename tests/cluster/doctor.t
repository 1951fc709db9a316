#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The check of a host: a good one has no fault, and each fault that an administrator can make is named.
. "$(dirname "$0")/scenario.sh"
plan 43
results=$(mktemp -d)
plugstack=$SP_CLUSTER/plugstack.conf
cp "$plugstack" "$results/plugstack.conf"
doctor=$SP_STAGE/libexec/scope-profile/doctor
# Copies that are root's wherever the tests run, and that may be spoiled.
site=$SP_CLUSTER/site
trap 'cat "$results/plugstack.conf" >"$plugstack"; rm -rf "$site" "$results"' EXIT
mkdir "$site"
cp "$(awk '/scope_profile\.so/ { print $2 }' "$plugstack")" \
    "$SP_STAGE"/lib*/scope-profile/libscope_preload.so "$SP_STAGE/bin/sp-merge" "$site"
chmod 755 "$site" "$site"/*
places="preload=$site/libscope_preload.so merge-tool=$site/sp-merge"
good="optional $site/scope_profile.so $places"

# examine WORDS...: the doctor's findings on the first host, in $status and $out
examine() {
    status=0
    out=$("$SP_TOP/contrib/mini-cluster" run --dir "$SP_CLUSTER" --node 1 "$@" 2>&1) || status=$?
}

# with LINE: the same as root, where plugstack.conf has LINE
with() {
    printf '%s\n' "$1" >"$plugstack"
    examine --root -- "$doctor"
}

# only_fault REGEX NAME: one check fails, of which the line matches
only_fault() {
    is "$status$(grep -c ^FAIL <<<"$out")" 11 "$2: one fault"
    like "$out" "FAIL  [^
]*$1" "$2: and what it is"
}

with "$good out=$SP_CLUSTER/%u/x default=mpi-calls,out=$SP_CLUSTER/home"
is "$status$(grep -v '^ok \|^WARN ' <<<"$out")" 0 "a host that is as it should be has no fault"
is "$(grep -c '^ok ' <<<"$out")" 10 "ten checks say ok"
like "$out" "WARN  slurmd \([0-9]+\) was started before the plugin was changed: restart slurmd" \
    "for slurmd is older than the copy"
like "$out" "WARN  hardware counters: LIKWID cannot read them \(.*modprobe msr" \
    "and this machine has no counters"
unlike "$out" $'\e' "in a pipe there are no colours"
examine -- "$doctor"
is "$status$(grep -c ^FAIL <<<"$out")" 00 "an ordinary user sees no fault either"
printf '%s\n' "include $results/*.conf" >"$plugstack"
examine --root -- "$doctor"
like "$out" "preload library: [^ ]*$SP_STAGE/lib" "included files count; the plugin knows its library"
like "$out" "ok    slurmd was started after" "and slurmd has the plugin that was installed before it"

with "required $site/scope_profile.so $places"
only_fault 'the plugin is "required": make it "optional"' "required"
with "optional $site/scope_profile.so preload=$site/none.so merge-tool=$site/sp-merge"
only_fault "preload library: there is no $site/none.so on this host" "a wrong path"
with "$good out=$site/none/%j"
only_fault "there is no directory $site/none/? on this host" "out= in a directory that is not there"
with "$good out=profiles/%u"
only_fault "out=profiles/%u has no effect: it needs an absolute path" "a relative out="
with "$good default=mpi-calls,out=profiles"
is "$status" 0 "which in default= is in the directory that the user starts from"
with "optional $site/none.so"
is "$status" 1 "plugstack.conf without the plugin"
like "$out" 'does not name the plugin: add the line "optional scope_profile.so"' "is a fault"

with "$good spool=$site/none"
only_fault "spool=$site/none: there is no such directory on this host: make it" "a spool that is not there"
mkdir -m 755 "$site/spool"
with "$good spool=$site/spool"
like "$out" "ok    spool=$site/spool: copying ends before UnkillableStepTimeout, 60 s" "a spool"
cp "$SP_CLUSTER/slurm.conf" "$results"
echo "UnkillableStepTimeout=45" >>"$SP_CLUSTER/slurm.conf"
with "$good spool=$site/spool spool-timeout=31"
only_fault "spool=$site/spool: copying may take 31 s, and UnkillableStepTimeout is 45: .* let it be 46" \
    "a spool that may take too long for Slurm"
with "$good spool=$site/spool spool-timeout=30"
is "$status$(grep -c ^FAIL <<<"$out")" 00 "one that just does not"
cat "$results/slurm.conf" >"$SP_CLUSTER/slurm.conf"

with "$good merge=epilog"
only_fault "epilog: plugstack.conf says merge=epilog, but no Epilog in [^ ]+ does it: let it name [^ ]+/epilog.d/90" \
    "merge=epilog without an epilog"
cp "$SP_CLUSTER/slurm.conf" "$results"
echo "Epilog=$SP_STAGE/libexec/scope-profile/epilog.d/*" >>"$SP_CLUSTER/slurm.conf"
with "$good merge=epilog"
like "$out" "ok    epilog: $SP_STAGE/libexec/scope-profile/epilog.d/90-scope-profile merges" "with it"
cat "$results/slurm.conf" >"$SP_CLUSTER/slurm.conf"

chmod g+w "$site/libscope_preload.so"
with "$good"
only_fault "preload library: $site/libscope_preload.so can be written by others \(mode 775\)" \
    "a library that a group may write"
chmod 755 "$site/libscope_preload.so"
printf '#!/bin/sh\ntouch %s/run\n' "$results" >"$site/sp-merge"
chown nobody "$site/sp-merge"
with "$good"
only_fault "sp-merge: $site/sp-merge belongs to nobody: chown root" "an sp-merge of somebody else's"
passes "root does not run it" test ! -e "$results/run"
cp "$SP_STAGE/bin/sp-merge" "$site"
chown root "$site/sp-merge"
chmod 750 "$site"
with "$good"
is "$status$(grep -c "^FAIL .*$site is closed to users (mode 750): chmod a+rx" <<<"$out")" 13 \
    "a directory that lets nobody in is a fault of all that is below"
chmod 755 "$site"
LC_ALL=C sed -i 's/^\(scope-profile-version\)=.*/\1=9.9/' "$site/libscope_preload.so"
examine --root -- "$doctor"
like "$out" "FAIL  versions: plugin [0-9.]+, preload library 9\.9, sp-merge [0-9.]+" \
    "files of several versions"
: >"$site/libscope_preload.so"
examine --root -- "$doctor"
like "$out" "FAIL  preload library: it does not load: .*libscope_preload.so" "a library that is cut off"
head -c 4096 "$site/scope_profile.so" >"$results/cut" && cat "$results/cut" >"$site/scope_profile.so"
examine --root -- "$doctor"
like "$out" "FAIL  srun does not load the plugin" "a plugin that is cut off"

examine -- "$doctor" --help
is "$status" 0 "--help"
examine -- "$doctor" --cure
is "$status" 64 "an unknown option is a mistake"
examine -- "$doctor" --plugstack
is "$status: $out" $'64: doctor: --plugstack needs a file\nTry "doctor --help".' \
    "and so is --plugstack without a file"
examine --root -- "$doctor" --plugstack "$results"
is "$status: $out" \
    "1: FAIL  $results cannot be read: it needs the line \"optional scope_profile.so\"" \
    "a directory is no plugstack.conf"
examine -- bash -c '"$0" >/dev/full' "$doctor"
is "$status" 1 "a full disk: status 1"
like "$out" "doctor: cannot write to standard output\$" "and a message"
