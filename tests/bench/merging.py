# SPDX-License-Identifier: BSD-3-Clause
"""How fast sp-merge is, on runs that make_run makes up in memory and on disk."""
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import runs

# Ranks, events of each.
SIZES = runs.pick([(4, 1_000_000), (1024, 1000), (2000, 100)],
                  [(16, 10_000_000), (1024, 100_000), (10_000, 1000)])
BLOCK = memoryview(bytes(1 << 20))
MEMORY = "/dev/shm"
READ_MAX = 120_000_000  # events: the package would need more memory than many machines have
PLACES = runs.pick([MEMORY], [MEMORY, tempfile.gettempdir()])


def parallel_write(path, size):
    """Seconds that two threads take to write so many bytes: to a new file, and once more to it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    seconds = []

    def write(first):
        for offset in range(first, size, 2 * len(BLOCK)):
            os.pwrite(file, BLOCK[:size - offset], offset)

    try:
        for _ in range(2):
            threads = [threading.Thread(target=write, args=(i * len(BLOCK),)) for i in range(2)]
            start = time.monotonic()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            seconds.append(time.monotonic() - start)
    finally:
        os.close(file)
        os.unlink(path)
    return seconds


def merge(tool, run, output, *options):
    """Wall-clock and processor seconds, and the peak of memory in bytes."""
    start = time.monotonic()
    with subprocess.Popen([tool, *options, run, "-o", output],
                          stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status  # waited for
    if status != 0:
        raise RuntimeError(f"{tool} {run} ended with wait status {status}")
    return time.monotonic() - start, usage.ru_utime, usage.ru_maxrss * 1024


def size_of(directory):
    return sum(os.stat(path).st_blocks * 512 for path in runs.traces(directory))


def open_file(path):
    """Seconds that the package takes to read a file, and to read its summary; None without it."""
    program = ("import sys, time, scope_profiler\n"
               "for read in scope_profiler.read_h5, scope_profiler.read_h5_summary:\n"
               "    start = time.monotonic()\n"
               "    read(sys.argv[1])\n"
               "    print(time.monotonic() - start)\n")
    python = os.environ.get("SP_PYTHON", sys.executable)
    answer = subprocess.run([python, "-c", program, path], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, universal_newlines=True)
    return [float(word) for word in answer.stdout.split()] if answer.returncode == 0 else None


def measure(tool, run, output, sizes, reads):
    """Medians of merges with these (threads, compression), and of writing as much as the first of
    them, by turns: [((wall, user, peak), bytes of the file, open_file())], [new, again]. The turn
    before the first one counts for nothing."""
    merges, files, opened, writes = {size: [] for size in sizes}, {}, {}, []
    turns = max(1, runs.ROUNDS // 2)
    for turn in range(1 + turns):
        for size in sizes:
            threads, compress = size
            if compress != "0" and turn < turns:  # long, and not to be compared with writing
                continue
            result = merge(tool, run, output, f"--threads={threads}", f"--compress={compress}")
            files[size] = os.path.getsize(output)
            if turn == turns and reads and threads == 2:
                opened[size] = open_file(output)
            os.unlink(output)
            if turn > 0:
                merges[size].append(result)
        written = parallel_write(output, files[sizes[0]])
        if turn > 0:
            writes.append(written)
    return ([(tuple(map(statistics.median, zip(*merges[size]))), files[size], opened.get(size))
             for size in sizes], list(map(statistics.median, zip(*writes))))


def report(folder):
    tool, maker = os.path.join(folder, "sp-merge"), os.path.join(folder, "make_run")
    for where in PLACES:
        sizes = [(1, "0"), (2, "0")] + [(2, "auto")] * (where == MEMORY)
        print(f"\nmerging, in {where} (M/s: millions of events a second; user: of a processor "
              "outside the kernel;\nMB/s: of traces; new, again: how often the time that two "
              "threads take to write as much to a new file,\nand once more to that; read: seconds "
              "that the package takes for all, and for the summary)")
        print(f"  {'ranks':>6}{'events':>13}{'threads':>9}{'compress':>10}{'time':>9}{'M/s':>6}"
              f"{'user':>6}{'MB/s':>6}{'peak MB':>9}{'file MB':>9}{'new':>6}{'again':>7}"
              f"{'read':>14}")
        for ranks, events in SIZES:
            with tempfile.TemporaryDirectory(prefix="scope-bench-", dir=where) as directory:
                run, output = os.path.join(directory, "run"), os.path.join(directory, "run.h5")
                subprocess.run([maker, "-n", str(ranks), "--events", str(events), "--hosts", "1",
                                "--noise", "1000", run], check=True)
                reads = where == MEMORY and ranks * events <= READ_MAX
                results, write = measure(tool, run, output, sizes, reads)
                for (threads, compress), (middle, size, opened) in zip(sizes, results):
                    line(ranks, ranks * events, threads, compress, size_of(run), size,
                         write if compress == "0" else None, opened, middle)


def line(ranks, total, threads, compress, traces, size, write, read, middle):
    seconds, user, peak = middle
    opened = f"{read[0]:.1f}, {read[1]:.2f}" if read else ""
    ratios = f"{seconds / write[0]:>6.1f}{seconds / write[1]:>7.1f}" if write else " " * 13
    print(f"  {ranks:>6}{total:>13,}{threads:>9}{compress:>10}{seconds:>8.2f}s"
          f"{total / seconds / 1e6:>6.1f}{total / user / 1e6:>6.1f}{traces / seconds / 1e6:>6.0f}"
          f"{peak / 1e6:>9.0f}{size / 1e6:>9.0f}{ratios}{opened:>14}", flush=True)
