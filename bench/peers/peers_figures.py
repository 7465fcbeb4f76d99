"""Makes the table of docs/results/peers.md from the results of bench/peers/run. Pure: results of the program in, rows
out."""
import statistics

# Columns, in order. `program`: the system's name in the program; `settings`: its run-time settings.
COLUMNS = {
    "perdure": {"title": "Perdure", "program": "perdure", "settings": []},
    "perdure-daemon": {"title": "Perdure, daemon", "program": "perdure", "settings": ["engine.mode=daemon"]},
    "perdure-cow": {"title": "Perdure, copy on write", "program": "perdure", "settings": ["capture.mode=cow"]},
    "veloc": {"title": "VeloC", "program": "veloc", "settings": []},
    "veloc-sums": {"title": "VeloC, checksums", "program": "veloc", "settings": ["chksum=true"]},
    "scr": {"title": "SCR", "program": "scr", "settings": []},
    "fti": {"title": "FTI", "program": "fti", "settings": []},
}
MISSING = {program: f"{title}: not found on this machine; how to point at it: -D{title.upper()}_ROOT=..., or {title.upper()}_ROOT=... make bench-peers"
           for program, title in (("veloc", "VeloC"), ("scr", "SCR"), ("fti", "FTI"))}
NOTES = {
    "perdure": "Perdure hashes every byte while it captures, verifies it when it restores, calls fsync, and all ranks agree before the call returns.",
    "perdure-cow": "Perdure, copy on write: nothing writes to the memory while it is copied here; what a program that does loses is "
                   "in docs/results/speed.md.",
    "veloc": "VeloC neither hashes nor agrees, and does not call fsync: \"durable\" adds the benchmark's own.",
    "veloc-sums": "VeloC, checksums: computed behind the transfer, and verified at a restart.",
    "scr": "SCR: SINGLE, two versions in its cache, flushed by threads; the write to its cache is the benchmark's. It calls fsync. It is "
           "finalised and initialised before each restore, outside of its time.",
    "fti": "FTI: without processes of its own. Blocking and restore are of a checkpoint of level 1; the store gets one of level 4, by a call that "
           "blocks until it is there. \"Durable\" adds the benchmark's own fsync.",
}
# Figure: (its name, kind of run, the values of each repetition, digits).
RATIOS = (("blocking / memcpy", "blocking", "memcpy"),
          ("blocking / write to a fresh tmpfs file", "blocking", "fresh_write"),
          ("restore from the node / memcpy", "restore", "memcpy"),
          ("at the store, as the system says / write + fsync", "stored", "store_write"),
          ("durable (fsync added) / write + fsync", "durable", "store_write"))
MILLISECONDS = (("blocking, ms", "blocking"), ("durable, ms", "durable"), ("write + fsync beside it, ms", "store_write"),
                ("memcpy beside it, ms", "memcpy"))
SMALL_MILLISECONDS = (("blocking, ms", "blocking"), ("at the store, as the system says, ms", "stored"))


def available(listed, asked):
    """Returns (columns that can be measured, lines about the others), from the program's list."""
    columns = [name for name in asked if COLUMNS[name]["program"] in listed]
    programs = {COLUMNS[name]["program"] for name in asked}
    return columns, [line for program, line in MISSING.items() if program in programs and program not in listed]


def turns(columns, ranks, rounds):
    """Returns [(round, ranks, column)] in the order of execution: columns alternate, and every second round is
    reversed."""
    return [(number, count, column) for number in range(rounds) for count in ranks
            for column in (columns if number % 2 == 0 else columns[::-1])]


def spread(values):
    """Takes one value per round."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "rounds": len(values)}


def ratio(times, above, below):
    """Returns the median over a run's repetitions; each value is divided by the one that was measured beside it."""
    return statistics.median(a / b for a, b in zip(times[above], times[below], strict=True))


def sums(runs):
    """Sums over all repetitions of all rounds."""
    return sum(sum(times["durable"]) for times in runs) / sum(sum(times["store_write"]) for times in runs)


def cells_of(runs, kind, ranks, value):
    """Returns {column: the result of `value` for the times of its runs of that kind on so many ranks}."""
    found = {}
    for column in COLUMNS:
        times = [one["result"]["times_s"] for one in runs
                 if (one["column"], one["kind"], one["ranks"]) == (column, kind, ranks)]
        if times:
            found[column] = value(times)
    return found


def row(name, ranks, cells):
    return {"figure": name, "ranks": ranks, "cells": cells}


def per_round(value):
    return lambda all_times: spread([value(times) for times in all_times])


def rows(runs, size):
    """`runs`: [{"column", "kind": "large" or "small", "ranks", "round", "result": the program's output}]; `size`:
    {"bytes", "small_bytes"}."""
    counts = sorted({one["ranks"] for one in runs})
    all_rows = []

    def add(name, kind, value):
        for count in counts:
            if cells := cells_of(runs, kind, count, value):
                all_rows.append(row(name, count, cells))

    for name, above, below in RATIOS:
        add(name, "large", per_round(lambda times, above=above, below=below: ratio(times, above, below)))
    add("durable / write + fsync, sums over all repetitions", "large",
        lambda all_times: {"median": sums(all_times), "rounds": len(all_times)})
    for name, key in MILLISECONDS:
        add(name, "large", per_round(lambda times, key=key: 1e3 * statistics.median(times[key])))
    for name, key in SMALL_MILLISECONDS:
        add(f"{bytes_text(size['small_bytes'])} per rank: {name}", "small",
            per_round(lambda times, key=key: 1e3 * statistics.median(times[key])))
    return all_rows


def bytes_text(count):
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << power and count % (1 << power) == 0:
            return f"{count >> power} {unit}"
    return f"{count} B"


def several(count, what):
    return f"{count} {what}" + ("" if count == 1 else "s")


def number(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def cell_text(cell):
    """One round, or a sum over all, has no spread."""
    if cell is None:
        return "-"
    if cell["rounds"] == 1 or "min" not in cell:
        return number(cell["median"])
    return f"{number(cell['median'])} ({number(cell['min'])} to {number(cell['max'])})"


def markdown(whole):
    """Returns the table, with a line about each missing system and one on how to read each present one."""
    columns = [name for name in COLUMNS if any(name in one["cells"] for one in whole["rows"])]
    titles = " | ".join(COLUMNS[name]["title"] for name in columns)
    lines = [f"| figure | ranks | {titles} |", "| --- " * (2 + len(columns)) + "|"]
    for one in whole["rows"]:
        cells = " | ".join(cell_text(one["cells"].get(name)) for name in columns)
        lines.append(f"| {one['figure']} | {one['ranks']} | {cells} |")
    lines.append("")
    settings = whole["settings"]
    lines.append(f"{bytes_text(settings['bytes'])} per rank unless said, {several(settings['repetitions'], 'repetition')} after one to warm up, "
                 f"{several(settings['rounds'], 'round')}: median over the rounds of each run's median (smallest to largest).")
    if busy := whole.get("busy_runs"):
        lines.append(f"- **{several(busy, 'run')} of {len(whole['runs'])} began while others used the processors.**")
    lines += [f"- {line}" for line in whole["missing"]]
    lines += [f"- {NOTES[name]}" for name in columns if name in NOTES]
    return "\n".join(lines)


def defect(result, repetitions):
    """Returns the missing part of a run's result, or None."""
    for key in ("memcpy", "fresh_write", "store_write", "blocking", "stored", "durable", "restore"):
        seconds = result["times_s"].get(key, [])
        if len(seconds) != repetitions or not all(one > 0 for one in seconds):
            return f"{result['system']}: {key} is {seconds}"
    times = result["times_s"]
    for blocking, stored, durable in zip(times["blocking"], times["stored"], times["durable"]):
        if not blocking <= stored <= durable:
            return f"{result['system']}: blocking {blocking}, stored {stored} and durable {durable} do not follow each other"
    return None
