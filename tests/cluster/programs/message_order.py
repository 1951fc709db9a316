#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether what neighbours.c sent is in order in a profile: message_order.py FILE [TRUTH]

Prints how many messages and collectives were over before they began, and with TRUTH, a profile of the
same traces with the clocks as they were, by how many microseconds events are elsewhere at most.
"""
import collections
import sys

import scope_profiler

SENDS = {"send": "recv", "sendrecv": "sendrecv"}


def read(path):
    """{(operation, rank, peer, tag): [(start, end), ...]}, in order of time."""
    calls = collections.defaultdict(list)
    for region in scope_profiler.read_h5(path).get_regions():
        call = scope_profiler.parse_mpi_region(region.name)
        for rank in region.ranks if call else ():
            times = region.regions[rank]
            calls[call.operation, rank, call.peer, call.tag] += [
                (float(s), float(e)) for s, e in zip(times.start_times, times.end_times)]
    return {key: sorted(times) for key, times in calls.items()}


def messages(calls):
    """Pairs of times of which the first was not after the second."""
    size = 1 + max(rank for _, rank, _, _ in calls)
    for (operation, rank, peer, tag), times in calls.items():
        if operation in SENDS:
            # Of a sendrecv the label tells the destination; it received from the other neighbour.
            at = (peer + 1) % size if operation == "sendrecv" else rank
            received = calls.get((SENDS[operation], peer, at, tag), [])
            yield from ((start, end) for (start, _), (_, end) in zip(times, received))
    for operation in ("allreduce", "barrier"):
        ranks = [calls.get((operation, rank, -1, -1), []) for rank in range(size)]
        for together in zip(*ranks):
            yield max(start for start, _ in together), min(end for _, end in together)
    for number, (start, _) in enumerate(calls.get(("bcast", 0, -1, -1), [])):
        for rank in range(1, size):
            yield start, calls["bcast", rank, -1, -1][number][1]


def main():
    calls = read(sys.argv[1])
    pairs = list(messages(calls))
    print(sum(end < start for start, end in pairs), "of", len(pairs))
    if len(sys.argv) > 2:
        truth = read(sys.argv[2])
        differences = [a - b for key, times in calls.items()
                       for one, other in zip(times, truth[key]) for a, b in zip(one, other)]
        print(round(1e6 * max(map(abs, differences)), 1))


if __name__ == "__main__":
    main()
