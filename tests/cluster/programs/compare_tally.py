# SPDX-License-Identifier: BSD-3-Clause
"""Compares a profile with what the program counted itself, region by region and rank by rank.

Usage: compare_tally.py PROFILE.h5 DIRECTORY

DIRECTORY holds the files tally.RANK of tally.h, and lane.RANK.THREAD for further threads. Prints
each difference and ends with 1 if there is one.
"""
import collections
import pathlib
import re
import sys

import h5py
import scope_profiler


class Choice:
    """What the step was asked to record, as --scope-profile had it."""

    def __init__(self, what):
        self.kinds = re.search(r"mpi-calls=?([^,]*)", what)[1]
        self.each_poll = "polls=all" in what

    def takes(self, label, local):
        if local or self.kinds in ("", "all"):
            return not local or self.kinds == "all"
        return re.search(" kind=([^ ]+)", label)[1] in self.kinds.split("+")


class Tally:
    """What the program says."""

    def __init__(self, directory, choice):
        self.calls = collections.Counter()  # (rank, thread, label)
        self.failed = collections.Counter()  # (rank, label, error class)
        self.or_unknown = collections.Counter()  # (rank, label)
        self.created = collections.defaultdict(list)  # rank: its communicators as it made them
        self.communicators = {}  # name: (kind, parent, members)
        self.names = {}  # communicator: what MPI_Comm_set_name called it
        for path in [*directory.glob("tally.[0-9]*"), *directory.glob("lane.*")]:
            rank, thread = map(int, [*path.name.split(".")[1:], "0"][:2])
            for line in path.read_text().splitlines():
                self._take(rank, thread, line.split("\t"), choice)

    def _take(self, rank, thread, fields, choice):
        what = fields[0]
        if what == "communicator":
            self.created[rank].append(fields[1])
            self.communicators[fields[1]] = tuple(fields[2:])
        elif what == "name":
            self.names[fields[1]] = fields[2]
        elif not choice.takes(fields[2], what == "local"):
            return
        elif what.startswith("failed="):
            self.failed[rank, fields[2], int(what[7:])] += int(fields[1])
        elif what == "or-unknown":
            self.or_unknown[rank, fields[2]] += int(fields[1])
        else:
            self.calls[rank, thread, fields[2]] += int(fields[1])

    def by_rank(self):
        """{(rank, label): calls}"""
        counts = collections.Counter()
        for (rank, _, label), calls in self.calls.items():
            counts[rank, label] += calls
        return counts

    def by_thread(self):
        """{(rank, thread): {label: calls}} of the ranks that have several threads."""
        threads = collections.defaultdict(dict)
        for (rank, thread, label), calls in self.calls.items():
            threads[rank, thread][label] = calls
        several = {rank for rank, thread in threads if thread > 0}
        return {key: counts for key, counts in threads.items() if key[0] in several}

    def number_communicators(self):
        """Puts numbers in the place of names. They keep every rank's own order of creation, lower
        ranks first where that leaves a choice (PROFILE.md, communicators)."""
        numbers = {"-1": "-1", "0": "0", "1": "1"}
        left = {rank: list(names) for rank, names in self.created.items()}
        while any(left.values()):
            rank, name = next(
                (rank, names[0])
                for rank, names in sorted(left.items())
                if names and not any(names[0] in others[1:] for others in left.values())
            )
            numbers[name] = str(len(numbers) - 1)
            left = {rank: names[names[:1] == [name] :] for rank, names in left.items()}

        def numbered(label):
            return re.sub(r"comm=(@\w+)", lambda match: "comm=" + numbers[match[1]], label)

        for counts in self.calls, self.failed, self.or_unknown:
            renamed = {
                tuple(numbered(part) if isinstance(part, str) else part for part in key): n
                for key, n in counts.items()
            }
            counts.clear()
            counts.update(renamed)
        self.communicators = {
            int(numbers[name]): (kind, int(numbers[parent]), members)
            for name, (kind, parent, members) in self.communicators.items()
        }
        self.names = {int(numbers[name]): text for name, text in self.names.items()}


def table(file, name):
    """The rows of /scope_profile/NAME as dictionaries; none if there is no such table."""
    columns = {
        column: data.asstr()[:] if h5py.check_string_dtype(data.dtype) else data[:].tolist()
        for column, data in file["scope_profile"].get(name, {}).items()
    }
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def event_counts(results):
    """The events in the profile: {(rank, label): calls}."""
    return collections.Counter(
        {
            (rank, name): region[rank].num_calls
            for name in results.region_names
            if name.startswith("mpi:")
            for region in [results.get_region(name)]
            for rank in region.ranks
        }
    )


def table_counts(rows):
    return collections.Counter({(row["ranks"], row["regions"]): row["counts"] for row in rows})


def profile_counts(events, polls, unrecorded):
    """What the profile says: {(rank, label): calls}. A run of polls is one event: how many polls
    there were is in a table; so are calls that a full trace counted without events."""
    calls = collections.Counter(
        {key: count for key, count in events.items() if " kind=poll " not in key[1]}
    )
    return calls + table_counts(polls) + table_counts(unrecorded)


def profile_threads(file):
    """What the profile says of threads: {(rank, thread): [(start, end, label), ...]}."""
    names = file["region_table/names"].asstr()[:]
    index = (
        file["rank_region_index"][name][:].tolist()
        for name in ("region_ids", "ranks", "event_offsets", "event_counts")
    )
    events = {name: data[:] for name, data in file["events"].items()}
    lanes = events.get("thread_ids", [0] * len(events["durations"]))
    threads = collections.defaultdict(list)
    for region, rank, first, count in zip(*index):
        row = slice(first, first + count)
        starts = events["start_deltas"][row].cumsum()
        ends = starts + events["durations"][row]
        for start, end, lane in zip(starts.tolist(), ends.tolist(), lanes[row]):
            threads[rank, int(lane)].append((start, end, names[region]))
    return threads


def thread_differences(threads, tally):
    """Threads are told by what they called: 0 is the main thread, the others have any number."""

    def sorted_lanes(lanes):
        return sorted(
            ((rank, thread > 0), sorted(calls.items())) for (rank, thread), calls in lanes
        )

    program = tally.by_thread()
    ranks = {rank for rank, _ in program}
    counted = {
        key: collections.Counter(label for *_, label in calls if label.startswith("mpi:"))
        for key, calls in threads.items()
        if key[0] in ranks
    }
    said, has = sorted_lanes(program.items()), sorted_lanes(counted.items())
    if said != has:
        yield f"threads: program {said}"
        yield f"threads: profile {has}"
    for (rank, thread), calls in threads.items():
        ends = []
        for start, end, label in sorted(calls, key=lambda call: (call[0], -call[1])):
            while ends and ends[-1] <= start:
                ends.pop()
            if ends and end > ends[-1]:
                yield f"rank {rank} thread {thread}: {label} ends after the call it is in"
            ends.append(end)


def settle_unknown(calls, or_unknown, profile):
    """Decides for completions whose origin a profile need not know: what it has, up to their
    number, is as it should be, the others are "unknown"."""
    for (rank, label), count in or_unknown.items():
        known = min(count, max(0, profile[rank, label] - calls[rank, label]))
        calls[rank, label] += known
        unknown = re.sub(r"=[^ ]*", "=-1", label.split(" ", 2)[2]).replace(
            "request=-1", "request=unknown"
        )
        calls[rank, " ".join(label.split(" ", 2)[:2] + [unknown])] += count - known


def differences(profile, program):
    """One line for each region the two do not agree on, with the ranks where it is so."""
    ranks = collections.defaultdict(list)
    for rank, *region in sorted(profile.keys() | program.keys()):
        numbers = program[rank, *region], profile[rank, *region]
        if numbers[0] != numbers[1]:
            ranks[tuple(region), numbers].append(str(rank))
    return [
        f"rank {','.join(where)}: {' '.join(map(str, region))}: program {said}, profile {has}"
        for (region, (said, has)), where in ranks.items()
    ]


def members(text):
    """World ranks: "0-2:2,5" is [0, 2, 5]."""
    ranks = []
    for run in filter(None, text.split(",")):
        first, last, stride = re.fullmatch(r"(\d+)(?:-(\d+))?(?::(-?\d+))?", run).groups()
        step = int(stride or 1)
        ranks += range(int(first), int(last or first) + (1 if step > 0 else -1), step)
    return ranks


def communicator_differences(rows, tally):
    """Kind, parent, members and name of each communicator."""
    listed = {row["id"]: row for row in rows}
    for number, (kind, parent, ranks) in sorted(tally.communicators.items()):
        row = listed.get(number)
        if row is None:
            yield f"communicator {number} is not listed"
            continue
        groups = filter(None, [row["members"], row["remote_members"]])
        text = "|".join(" ".join(map(str, members(group))) for group in groups)
        found = row["kind"], row["parent"], text
        if found != (kind, parent, ranks):
            yield f"communicator {number}: program {kind, parent, ranks}, profile {found}"
    for number, name in sorted(tally.names.items()):
        found = listed[number]["name"]
        if found != name:
            yield f"communicator {number}: program names it {name}, profile {found}"


def compare(path, directory):
    """Every difference, one line each."""
    with h5py.File(path) as file:
        choice = Choice(str(file["metadata"].attrs["scope_profile_what"]))
        polls, unrecorded, failed, communicators = (
            table(file, name) for name in ("polls", "unrecorded", "failed", "communicators")
        )
        threads = profile_threads(file)
    tally = Tally(directory, choice)
    if not tally.calls:
        return [f"no tally in {directory}"], tally
    tally.number_communicators()
    events = event_counts(scope_profiler.read_h5(path))
    full = profile_counts(events, polls, unrecorded)
    program = tally.by_rank()
    settle_unknown(program, tally.or_unknown, full)
    found = differences(full, program)
    found += [
        "summary: " + line
        for line in differences(event_counts(scope_profiler.read_h5_summary(path)), events)
    ]
    if choice.each_poll:
        each = collections.Counter({k: n for k, n in events.items() if " kind=poll " in k[1]})
        found += ["polls=all: " + line for line in differences(each, table_counts(polls))]
    failures = collections.Counter(
        {(row["ranks"], row["regions"], row["error_classes"]): row["counts"] for row in failed}
    )
    found += ["failed: " + line for line in differences(failures, tally.failed)]
    found += communicator_differences(communicators, tally)
    found += thread_differences(threads, tally)
    return found, tally


def main():
    path, directory = sys.argv[1:]
    found, tally = compare(path, pathlib.Path(directory))
    for line in found[:60]:
        print(line)
    if found:
        sys.exit(f"{len(found)} differences")
    print(f"{len(tally.calls)} regions agree, {sum(tally.calls.values())} calls")


if __name__ == "__main__":
    main()
