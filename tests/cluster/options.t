#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The words of --scope-profile do what they say, on every command line of Slurm, and a wrong one
# starts nothing.
. "$(dirname "$0")/scenario.sh"
plan 57
fresh_directory
mpicc_openmpi -o speaker "$programs/speaker.c"
run_one=(srun -n1 --mpi=pmix)

# --- the option is known -------------------------------------------------------------------------
for command in srun salloc sbatch; do
    run "$command" --help
    like "$out" '--scope-profile=WHAT' "$command --help shows the option"
done

# --- wrong words ---------------------------------------------------------------------------------
# refused NAME WHAT PATTERN: srun does not start, and says PATTERN and the right words
refused() {
    run "${run_one[@]}" --scope-profile="$2" touch started
    is "$status" 255 "$1: srun's status"
    like "$err" "$3" "$1: the message names it"
    is "$(listing .)" speaker "$1: nothing was started, nothing is left"
}
refused "a wrong word" mpi-cals mpi-cals
like "$err" "mpi-calls" "the message lists mpi-calls"
like "$err" "merge=" "the message lists merge="
like "$err" "out=" "the message lists out="
refused "a wrong word after a right one" mpi-calls,sparkle sparkle
refused "a wrong value" mpi-calls,merge=maybe merge=maybe
refused "an empty text" "" "mpi-calls"
refused "only out=" out=there "mpi-calls"
refused "a pattern that hosts would expand to different names" mpi-calls,out=profiles-%N %N
for command in salloc sbatch; do
    run "$command" --scope-profile=mpi-cals -n1 --wrap true
    passes "$command refuses a wrong word" test "$status" -ne 0
    like "$err" "mpi-cals" "$command names it"
done

# --- help and off --------------------------------------------------------------------------------
run "${run_one[@]}" --scope-profile=help touch started
is "$(listing .)" speaker "help starts nothing"
like "$out$err" 'mpi-calls.*off.*out=DIR.*merge=' "help prints the words"
run "${run_one[@]}" --scope-profile=off ./speaker
is "$status: $(listing .)" "0: speaker" "off: the program runs unprofiled"
unlike "$err" scope-profile "off: nothing is said"

# --- out= ----------------------------------------------------------------------------------------
run "${run_one[@]}" --scope-profile=mpi-calls,out=deep/profiles ./speaker
is "$status" 0 "out=DIR: the program runs"
like "$(echo deep/profiles/*)" '^deep/profiles/scope-profile-[0-9]+\.0\.h5$' \
    "a relative DIR that did not exist holds the profile"
like "$err" "-> \./deep/profiles/scope-profile-[0-9.]+h5" "its path is shown from where we are"
run "${run_one[@]}" --job-name=deer --scope-profile=mpi-calls,out="$work/at-%j-%s-%u-%x-%%" ./speaker
like "$(listing .)" " ?at-[0-9]+-0-$(as_user id -un)-deer-% " "patterns of out= are filled in"
like "$(echo at-*/*)" '^at-([0-9]+)-.*/scope-profile-[0-9]+\.0\.h5$' "and the profile is there"
run "${run_one[@]}" --scope-profile='mpi-calls,out=a\,b' ./speaker
like "$(echo a,b/*)" '^a,b/scope-profile-[0-9]+\.0\.h5$' "\\, is a comma in a word"
rm -rf deep at-* a,b
mkdir closed && chmod 700 closed
run "${run_one[@]}" --scope-profile=mpi-calls,out=closed ./speaker
is "$status" 0 "a DIR that cannot be written costs the profile, not the job"
is "$(grep -c '^scope-profile: ' "$results/err")" 1 "and one line says so"
rm -rf closed

# --- merge=off, as in the README: a batch script --------------------------------------------------
cat >job.sh <<'BATCH'
#!/bin/bash
#SBATCH --nodes=2 --ntasks=2 --output=batch.out
srun --mpi=pmix --scope-profile=mpi-calls,merge=off ./speaker &&
    ls -d scope-profile-$SLURM_JOB_ID.0/ && ls &&
    sp-merge scope-profile-$SLURM_JOB_ID.0/ -o mine.h5
echo "status $?"
BATCH
run sbatch --wait job.sh
is "$status" 0 "merge=off: the batch script runs"
like "$(<batch.out)" 'status 0$' "sp-merge DIR -o FILE works in it"
is "$(grep -c '^scope-profile-.*h5$' batch.out)" 0 "nothing was merged before"
is "$(python 'print(scope_profiler.read_h5(sys.argv[1]).num_ranks)' mine.h5)" 2 \
    "the file has both ranks"
passes "the traces are still there" test -f "$(echo scope-profile-*/*/rank-000001.sptrace)"
rm -rf scope-profile-* mine.h5 batch.out

# --- #SBATCH, and steps in a job -----------------------------------------------------------------
cat >job.sh <<'BATCH'
#!/bin/bash
#SBATCH --nodes=2 --ntasks=2 --output=batch.out --scope-profile=mpi-calls
srun --mpi=pmix ./speaker
srun --mpi=pmix --scope-profile=off ./speaker
srun --mpi=pmix --scope-profile=mpi-calls,out=own ./speaker
env | grep -c SCOPE_PROFILE_RUN
BATCH
run sbatch --wait job.sh
like "$(echo scope-profile-*)" '^scope-profile-[0-9]+\.0\.h5$' \
    "the option of #SBATCH holds for the steps, and off for the one that says so"
like "$(echo own/*)" '^own/scope-profile-[0-9]+\.2\.h5$' "a step's own option wins"
is "$(tail -1 batch.out)" 0 "the batch script itself is no such step"
rm -rf scope-profile-* own job.sh batch.out

run salloc -n1 --scope-profile=mpi-calls srun --mpi=pmix ./speaker
like "$(echo scope-profile-*)" '^scope-profile-[0-9]+\.0\.h5$' "the option of salloc holds for its step"
rm -rf scope-profile-*

# --- the environment of the step -----------------------------------------------------------------
run "${run_one[@]}" --export=NONE --scope-profile=mpi-calls "$work/speaker"
like "$(echo scope-profile-*)" '^scope-profile-[0-9]+\.0\.h5$' "it works with --export=NONE"
rm -rf scope-profile-*

preload=$(echo "$SP_STAGE"/lib*/scope-profile/libscope_preload.so)
for own in /lib/x86_64-linux-gnu/libm.so.6 "/lib/x86_64-linux-gnu/libm.so.6  :libdl.so.2: " " "; do
    run env LD_PRELOAD="$own" srun -n1 --scope-profile=mpi-calls env -0
    is "$(tr '\0' '\n' <"$results/out" | sed -n 's/^LD_PRELOAD=//p')" "$preload:$own" \
        "LD_PRELOAD=\"$own\" follows ours byte for byte"
done
run srun -n1 --scope-profile=mpi-calls printenv LD_PRELOAD
is "$out" "$preload" "without one of the user's ours is alone"

# A step inside a step that did not ask.
run salloc -N2 -n2 bash -c 'srun -N1 -n1 --overlap --mpi=none --scope-profile=mpi-calls \
        srun -N1 -n1 --overlap --mpi=pmix bash -c "env >inner.env; exec ./speaker"'
is "$(grep -c 'libscope_preload\|SCOPE_PROFILE' inner.env)" 0 "a nested step that did not ask is clean"
rm -f inner.env
is "$(listing .)" speaker "and leaves no profile"
run salloc -N2 -n2 srun -N1 -n1 --overlap --mpi=none --scope-profile=mpi-calls \
    srun -N1 -n1 --overlap --mpi=pmix --scope-profile=mpi-calls ./speaker
like "$(echo scope-profile-*)" '^scope-profile-[0-9]+\.1\.h5$' "one that asked is profiled, as itself"
