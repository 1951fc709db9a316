# SPDX-License-Identifier: BSD-3-Clause
"""How fast sp-merge is, on runs that make_run makes up in memory."""
import os
import subprocess
import tempfile
import threading
import time

import runs

# Ranks, events of each.
SIZES = runs.pick([(4, 1_000_000), (1024, 1000), (2000, 100)],
                  [(16, 10_000_000), (1024, 100_000), (10_000, 1000)])
BLOCK = 32 * 1024
MEMORY = "/dev/shm"


def parallel_write(path, size):
    """Seconds that two threads take to write so many bytes, for the second time."""
    block = bytes(BLOCK)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def write(first):
        for offset in range(first, size, 2 * BLOCK):
            os.pwrite(file, block, offset)

    try:
        for _ in range(2):
            threads = [threading.Thread(target=write, args=(i * BLOCK,)) for i in range(2)]
            start = time.monotonic()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds = time.monotonic() - start
    finally:
        os.close(file)
        os.unlink(path)
    return seconds


def merge(tool, run, output, threads):
    """Wall-clock and processor seconds, and the peak of memory in bytes."""
    start = time.monotonic()
    with subprocess.Popen([tool, f"--threads={threads}", "-f", run, "-o", output],
                          stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status  # waited for
    if status != 0:
        raise RuntimeError(f"{tool} {run} ended with wait status {status}")
    return time.monotonic() - start, usage.ru_utime, usage.ru_maxrss * 1024


def size_of(directory):
    return sum(os.stat(path).st_blocks * 512 for path in runs.traces(directory))


def report(folder):
    tool, maker = os.path.join(folder, "sp-merge"), os.path.join(folder, "make_run")
    print("\nmerging, in memory (user: millions of events a second of a processor outside the "
          "kernel;\nwrite: two threads write as much into a file that is there already)")
    print(f"  {'ranks':>6}{'events':>13}{'threads':>9}{'time':>8}{'M/s':>7}{'user':>7}{'MB/s':>7}"
          f"{'peak MB':>9}{'file MB':>9}{'write':>8}{'ratio':>7}")
    for ranks, events in SIZES:
        with tempfile.TemporaryDirectory(prefix="scope-bench-", dir=MEMORY) as directory:
            run, output = os.path.join(directory, "run"), os.path.join(directory, "run.h5")
            subprocess.run([maker, "-n", str(ranks), "--events", str(events), "--hosts", "1", run],
                           check=True)
            traces, total = size_of(run), ranks * events
            for threads in (1, 2):
                best = min(merge(tool, run, output, threads) for _ in range(runs.pick(2, 3)))
                size = os.path.getsize(output)
                write = parallel_write(output + ".copy", size)
                line(ranks, total, threads, traces, size, write, best)


def line(ranks, total, threads, traces, size, write, best):
    seconds, user, peak = best
    print(f"  {ranks:>6}{total:>13,}{threads:>9}{seconds:>7.2f}s{total / seconds / 1e6:>7.1f}"
          f"{total / user / 1e6:>7.1f}{traces / seconds / 1e6:>7.0f}{peak / 1e6:>9.0f}"
          f"{size / 1e6:>9.0f}{write:>7.2f}s{seconds / write:>7.1f}")
