# SPDX-License-Identifier: BSD-3-Clause
"""Checks a profile file with the real reader, and its index against its events.

    check_profile.py FILE RANKS [REGION=CALLS[:TOTAL_NS[:EXCLUSIVE_NS]] ...]

Prints nothing and ends with 0 if all is well; otherwise what differs, and 1.
"""
import sys

import h5py
import numpy as np
import scope_profiler
from scope_profiler.call_stack import build_call_arrays
from scope_profiler.mpi_region import MPIRegion

failures = []


def expect(what, got, expected):
    if got != expected:
        failures.append(f"{what}: {got!r}, expected {expected!r}")


def ns(seconds):
    return round(seconds * 1e9)


def check_readers_agree(full, summary):
    expect("regions of both readers", sorted(full.region_names), sorted(summary.region_names))
    expect("ranks of both readers", full.num_ranks, summary.num_ranks)
    for name in full.region_names:
        for rank, region in full[name].regions.items():
            other = summary[name].regions[rank]
            for field in ("num_calls", "total_duration", "min_duration", "max_duration",
                          "first_duration", "last_duration", "exclusive_duration"):
                got, expected = getattr(other, field), getattr(region, field)
                if abs(got - expected) > 1e-12 * max(1.0, abs(expected)):
                    failures.append(f"{name} rank {rank} {field}: {got} and {expected}")
            if abs(other.std_duration - region.std_duration) > 1e-9 * (1e-9 + region.std_duration):
                failures.append(f"{name} rank {rank} std: {other.std_duration} {region.std_duration}")


def check_nesting(full):
    """Exclusive times of the file are those that the package rebuilds from the events."""
    for rank in range(full.num_ranks):
        regions = [full[name] for name in full.region_names if rank in full[name].regions]
        arrays = build_call_arrays(regions, rank)
        totals = np.zeros(len(arrays.names), dtype=np.int64)
        np.add.at(totals, arrays.region_index, arrays.exclusive_ns)
        for name, total in zip(arrays.names, totals.tolist()):
            expect(f"{name} rank {rank} exclusive", ns(full[name].regions[rank].exclusive_duration),
                   total)
        for region in regions:
            starts = region.regions[rank].start_times_ns
            if np.any(np.diff(starts) < 0):
                failures.append(f"{region.name} rank {rank}: starts are not in order")


def check_statistics(path):
    """Earliest start and latest end, which the readers do not show."""
    with h5py.File(path) as file:
        index, events = file["rank_region_index"], file["events"]
        expect("unused names", sorted(set(index["region_ids"][()].tolist())),
               list(range(len(file["region_table/names"]))))
        for offset, count, row in zip(index["event_offsets"], index["event_counts"],
                                      index["summary_statistics"]):
            part = slice(int(offset), int(offset + count))
            if "start_times" in events:  # schema 2
                starts = events["start_times"][part]
                durations = events["end_times"][part] - starts
            else:
                starts = np.cumsum(events["start_deltas"][part])
                durations = events["durations"][part]
            expect("start_minimum", int(row["start_minimum"]), int(starts.min()))
            expect("end_maximum", int(row["end_maximum"]), int((starts + durations).max()))
            expect("total", int(row["total"]), int(durations.sum()))
            if abs(row["mean"] - durations.mean()) > 1e-6:
                failures.append(f"mean {row['mean']}, events say {durations.mean()}")
            deviations = float(((durations - durations.mean()) ** 2).sum())
            if abs(row["m2"] - deviations) > 1e-6 * (1.0 + deviations):
                failures.append(f"m2 {row['m2']}, events say {deviations}")


def check_expected(full, expectations):
    for expectation in expectations:
        name, _, numbers = expectation.rpartition("=")
        if name not in full.region_names:
            failures.append(f"no region {name}")
            continue
        region: MPIRegion = full[name]
        got = (region.num_calls, ns(region.total_duration), ns(region.exclusive_duration))
        for field, value, number in zip(("calls", "total", "exclusive"), got, numbers.split(":")):
            expect(f"{name} {field}", value, int(number))


def main():
    path, ranks = sys.argv[1], int(sys.argv[2])
    full = scope_profiler.read_h5(path)
    summary = scope_profiler.read_h5_summary(path, fallback=False)
    expect("ranks", full.num_ranks, ranks)
    check_readers_agree(full, summary)
    check_nesting(full)
    check_statistics(path)
    check_expected(full, sys.argv[3:])
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
