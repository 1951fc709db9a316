# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of trace an event, definitions and sync points included."""
import os
import shutil
import struct
import subprocess
import tempfile

import runs

PAGE = 4096
MAGIC = b"RSPW"  # of a window, behind its size
STEPS = runs.pick(200, 2000)
PARTNERS = 100


def used(path):
    """Bytes of the windows of a trace."""
    with open(path, "rb") as file:
        trace = file.read()
    at = struct.unpack_from("<I", trace, 36)[0]  # window_offset in the header
    total = 0
    while at + 56 <= len(trace):
        size, = struct.unpack_from("<I", trace, at)
        if trace[at + 4:at + 8] == MAGIC:
            total += struct.unpack_from("<I", trace, at + 52)[0]
            at += (size + PAGE - 1) // PAGE * PAGE
        else:
            at += PAGE
    return total


def measure(preload, command):
    with runs.tracing(preload) as (environment, directory):
        events = runs.run(command, environment)["events"]
        return sum(used(path) for path in runs.traces(directory)) / events


def two_hosts(preload, program, top):
    """The halo exchange over two hosts of a cluster; None and why where that is not to be had."""
    cluster = os.path.join(top, "contrib", "mini-cluster")
    if os.geteuid() != 0 or not shutil.which("slurmctld"):
        return None, "needs root and Slurm, for two hosts"
    directory = tempfile.mkdtemp(prefix="scope-", dir="/tmp")
    os.chmod(directory, 0o755)
    where = os.path.join(directory, "traces")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
    try:
        subprocess.run([cluster, "up", "--dir", directory], **quiet)
        events = runs.run([cluster, "run", "--root", "--dir", directory, "srun", "-N2", "-n2",
                           "--mpi=pmix", "env", f"LD_PRELOAD={preload}",
                           f"SCOPE_PROFILE_RUN={where}", os.path.abspath(program),
                           STEPS])["events"]
        return sum(used(path) for path in runs.traces(where)) / events, None
    except subprocess.CalledProcessError as failure:
        return None, f"{' '.join(map(str, failure.cmd[:2]))} failed"
    finally:
        subprocess.run([cluster, "down", "--dir", directory], **{**quiet, "check": False})


def launcher(program, ranks):
    if program.endswith(".openmpi"):
        return ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca",
                "mpi_yield_when_idle", "1", "--mca", "btl", "self,vader", "-n", ranks, program]
    return ["mpirun.mpich", "-n", ranks, program]


def report(preload, folder, mpis, top):
    print("\nbytes of trace an event")
    for mpi in mpis:
        program = os.path.join(folder, f"worst_call.{mpi}")
        with runs.tracing(preload) as (environment, directory):
            runs.run([program, 1000000], environment)
            size = sum(used(path) for path in runs.traces(directory)) / 1000000
        line(mpi, "tight loop", size, None)
    mpi = mpis[0]
    line(mpi, "1-D halo, allreduce, 1 ms a step, two hosts",
         *two_hosts(preload, os.path.join(folder, f"halo.{mpi}"), top))
    program = os.path.join(folder, f"partners.{mpi}")
    line(mpi, f"random pattern, {PARTNERS} partners",
         measure(preload, [*launcher(program, PARTNERS + 1), runs.pick(50, 200)]), None)


def line(mpi, what, size, reason):
    result = f"{size:.2f}" if size is not None else f"skipped: {reason}"
    print(f"  {mpi:<9}{what:<46}{result:>8}")
