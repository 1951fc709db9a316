#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that come to MPI in unusual ways, other tools beside us, and programs that tell us what
# to record: each call is recorded once, or not at all where that was asked for.
. "$(dirname "$0")/scenario.sh"
plan 62
fresh_directory
in_work mkdir second
cp "$SP_STAGE/lib/scope-profile/libscope_preload.so" second/
declare -A library=([openmpi]=libmpi.so.40 [mpich]=libmpich.so.12)

# ranks MPI WHAT WORD...: two ranks on one host
ranks() {
    rm -rf tally.* scope-profile-*
    run srun -N1 -n2 --mpi="${launcher[$1]}" --scope-profile="$2" "${@:3}"
}

# recorded MPI NAME WHAT WORD...: the step ends well, and its profile is what the program counted
recorded() {
    ranks "$1" "${@:3}"
    is "$status: $(grep -v '^scope-profile: 2 ranks, [0-9]* MPI calls -> ' "$results/err")" "0: " \
        "$1, $2: it ends as without us"
    passes "$1, $2: each call is recorded once" agrees "$(echo scope-profile-*.h5)"
}

# paused: whether the profile tells that ranks did not record for a time
paused() {
    python 'print(scope_profiler.read_h5(sys.argv[1]).metadata.get("scope_profile_paused_ns", 0) > 0)' \
        "$(echo scope-profile-*.h5)"
}

# sanitized COMPILER OUTPUT WORD...: built with an AddressSanitizer that is a library of its own
clang_runtime=$(dirname "$(clang -print-file-name=libclang_rt.asan-x86_64.so)")
sanitized() {
    local words=(-g -fsanitize=address)
    [[ $1 != clang ]] || words+=(-shared-libasan "-Wl,-rpath,$clang_runtime")
    OMPI_CC=$1 MPICH_CC=$1 "${@:3}" "${words[@]}" -o "$2"
}

gcc -o prober "$programs/prober.c" -ldl
gcc -c -o caller.o "$programs/caller.c"
gcc -o opener caller.o -ldl
for mpi in openmpi mpich; do
    "mpicc_$mpi" -shared -fPIC -o liblibrary.so "$programs/library.c"
    "mpicc_$mpi" -shared -fPIC -DNAME='"linked"' -o liblinked.so "$programs/tool.c"
    "mpicc_$mpi" -shared -fPIC -DNAME='"preloaded"' -o libpreloaded.so "$programs/tool.c"
    "mpicc_$mpi" -o tooled caller.o "$programs/library.c" -L. -llinked -Wl,-rpath,"$work"
    gcc -o linked -Wl,--no-as-needed caller.o -L. -llibrary -Wl,-rpath,"$work"
    "mpicc_$mpi" -o control "$programs/control.c"
    "mpicc_$mpi" -o never_started "$programs/never_started.c"
    recorded $mpi "MPI through a library alone, from its constructor until after main" mpi-calls \
        ./linked
    recorded $mpi "a plugin that was opened RTLD_LOCAL" mpi-calls ./opener ./liblibrary.so
    recorded $mpi "functions looked up on a library's handle" mpi-calls \
        /usr/bin/python3 "$programs/by_handle.py" "${library[$mpi]}"

    # Of two PMPI tools the first one called has no way to the other: one at a time.
    recorded $mpi "a second copy of our library" mpi-calls \
        --export=ALL,LD_PRELOAD="$work/second/libscope_preload.so" ./linked
    recorded $mpi "a tool that the program is linked with" mpi-calls ./tooled
    # Two ranks send seven times each: to connect, and then to nobody.
    is "$(sort -u "$results/out")" "linked: 7 sends, 6 allreduces" "$mpi: it sees each call once"
    recorded $mpi "a tool preloaded beside us" mpi-calls \
        --export=ALL,LD_PRELOAD="$work/libpreloaded.so" ./linked
    is "$(sort -u "$results/out")" "preloaded: 7 sends, 6 allreduces" "$mpi: it sees each call once"
    recorded $mpi "MPI_Pcontrol" mpi-calls ./control
    is "$(paused)" True "$mpi, MPI_Pcontrol: the file knows of the time paused"
    recorded $mpi "start=paused" mpi-calls,start=paused ./control paused
    is "$(paused)" True "$mpi, start=paused: the file knows of the time paused"

    # Leaks are the MPI library's.
    for compiler in gcc clang; do
        sanitized $compiler "sanitized_$compiler" "mpicc.$mpi" "$programs/caller.c" \
            "$programs/library.c"
        recorded $mpi "a program with AddressSanitizer of $compiler, which a shell starts" mpi-calls \
            --export=ALL,ASAN_OPTIONS=detect_leaks=0 bash -c "./sanitized_$compiler; exit \$?"
    done

    ranks $mpi mpi-calls --export=ALL,SCOPE_PROFILER_MPI=0 ./linked
    is "$status: $(echo scope-profile-*)" "0: scope-profile-*" \
        "$mpi, SCOPE_PROFILER_MPI=0: it runs, and nothing is recorded"
    is "$err" "" "$mpi, SCOPE_PROFILER_MPI=0: nothing is said"

    ranks $mpi mpi-calls ./never_started
    is "$status: $(uniq "$results/out")" "3: started 0" "$mpi, MPI_Init is never reached: it runs"
    is "$(echo scope-profile-*)" "scope-profile-*" "$mpi, MPI_Init is never reached: nothing is left"
done

mpicc_mpich -o sessions_alone "$programs/sessions_alone.c"
recorded mpich "a session alone, without MPI_Init" mpi-calls ./sessions_alone

rm -rf tally.* scope-profile-*
run srun -n1 --scope-profile=mpi-calls ./prober
is "$status: $out$err" "0: flag 0" "a program without MPI that asks whether MPI is initialised"
is "$(echo scope-profile-*)" "scope-profile-*" "and leaves nothing"

# A program that a shell starts inherits our library, without having been looked at.
for compiler in gcc clang; do
    sanitized $compiler overrun $compiler "$programs/overrun.c"
    run srun -n1 --scope-profile=mpi-calls bash -c './overrun && ./overrun 1'
    like "$status $err" '^1 .*AddressSanitizer: heap-buffer-overflow' \
        "AddressSanitizer of $compiler, in a program without MPI, says what it has to say"
done
