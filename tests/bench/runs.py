# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are run by turns without and with the preload library."""
import contextlib
import os
import statistics
import subprocess
import tempfile

QUICK = bool(os.environ.get("SP_BENCH_QUICK"))
ROUNDS = int(os.environ.get("SP_BENCH_ROUNDS", "3" if QUICK else "7"))


def pick(quick, normal):
    """What belongs to this kind of run."""
    return quick if QUICK else normal


def run(command, environment=None):
    """{name: number} of the lines that a command prints."""
    output = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                            env={**os.environ, **(environment or {})},
                            universal_newlines=True).stdout
    lines = (line.split() for line in output.splitlines())
    return {words[0]: float(words[1]) for words in lines if len(words) == 2}


@contextlib.contextmanager
def tracing(preload):
    """The environment of a traced run, and the directory of its traces, which then goes."""
    with tempfile.TemporaryDirectory(prefix="scope-bench-") as directory:
        where = os.path.join(directory, "run")
        yield {"LD_PRELOAD": preload, "SCOPE_PROFILE_RUN": where}, where


def interleaved(preload, command, rounds=ROUNDS):
    """Results of the bare and of the traced runs of a command, which may be a function."""
    results = [], []
    for _ in range(rounds):
        results[0].append(run(command() if callable(command) else command))
        with tracing(preload) as (environment, _):
            results[1].append(run(command() if callable(command) else command, environment))
    return results


def middle(results):
    """{name: median} over results."""
    return {name: statistics.median(result[name] for result in results) for name in results[0]}


def best(results):
    return {name: min(result[name] for result in results) for name in results[0]}


def traces(directory):
    """The traces below a run directory."""
    return [os.path.join(folder, name) for folder, _, names in os.walk(directory)
            for name in names if name.endswith(".sptrace")]
