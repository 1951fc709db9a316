# SPDX-License-Identifier: BSD-3-Clause
"""Compares a profile with what the program counted itself, region by region and rank by rank.

Usage: compare_tally.py PROFILE.h5 DIRECTORY [NAMES...]

DIRECTORY holds the files tally.RANK of tally.h. NAMES are the program's communicators in the order
of their creation; those made by one call are joined by "/" ("even/odd"), their order is open. Their
numbers in the profile are 2, 3, ... Prints each difference and ends with 1 if there is one.
"""
import itertools
import pathlib
import re
import sys

import scope_profiler


def profile_counts(results):
    """What the profile says: {(rank, label): calls}."""
    return {
        (rank, name): region[rank].num_calls
        for name in results.region_names
        if name.startswith("mpi:")
        for region in [results.get_region(name)]
        for rank in region.ranks
    }


def tally_counts(directory):
    """What the program says: {(rank, label): calls}."""
    counts = {}
    for path in directory.glob("tally.*"):
        for line in path.read_text().splitlines():
            calls, label = line.split("\t")
            counts[int(path.suffix[1:]), label] = int(calls)
    return counts


def numberings(names):
    """Every numbering {"@NAME": number} that the order of creation allows."""
    groups = [itertools.permutations(group.split("/")) for group in names]
    for order in itertools.product(*groups):
        yield {"@" + name: str(2 + i) for i, name in enumerate(itertools.chain(*order))}


def numbered(counts, numbering):
    def number(match):
        return "comm=" + numbering[match[1]]

    return {(rank, re.sub(r"comm=(@\w+)", number, label)): n for (rank, label), n in counts.items()}


def differences(profile, program):
    """One line for each (rank, region) the two do not agree on."""
    return [
        f"rank {rank}: {label}: program {program.get((rank, label), 0)},"
        f" profile {profile.get((rank, label), 0)}"
        for rank, label in sorted(profile.keys() | program.keys())
        if profile.get((rank, label)) != program.get((rank, label))
    ]


def main():
    path, directory, *names = sys.argv[1:]
    tally = tally_counts(pathlib.Path(directory))
    if not tally:
        sys.exit(f"no tally in {directory}")
    found = []
    for read in scope_profiler.read_h5, scope_profiler.read_h5_summary:
        profile = profile_counts(read(path))
        best = min(
            (differences(profile, numbered(tally, numbering)) for numbering in numberings(names)),
            key=len,
        )
        found += [f"{read.__name__}: {line}" for line in best]
    for line in found[:60]:
        print(line)
    if found:
        sys.exit(f"{len(found)} differences")
    print(f"{len(tally)} regions agree, {sum(tally.values())} calls")


if __name__ == "__main__":
    main()
