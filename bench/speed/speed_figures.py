"""Compares the results of bench/speed/run with their goals and earlier values. Pure: output of the programs in, figures
out."""
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "redundancy"))
import figures as others_figures
from figures import at_most, missing, rounded

RANKS = ("1", "2", "4")
MODES = ("copy", "cow")
GOALS = {"small_checkpoint_ms": {"1": 0.08, "4": 0.3}, "blocking_over_memcpy": dict.fromkeys(RANKS, 1.2),
         "restore_over_memcpy": dict.fromkeys(RANKS, 1.3), "durable_over_plain": dict.fromkeys(RANKS, 0.7),
         "durable_buffered_over_plain": dict.fromkeys(RANKS, 1.05), "cow_blocking_over_memcpy": dict.fromkeys(RANKS, 0.15),
         "cow_lost_over_copy_lost": {0.01: 0.2, 0.1: 0.4, 1: 1.1},
         # The ratio of restores past the cache to those through it, by the cached share. Also the ratio of steps beside
         # a flush to undisturbed ones. It is at most that of flushes through the cache, or with flush.max_slowdown the
         # limit.
         "store_restore_direct_over_buffered": {"nothing": 1, "all": 1.05}, "flush_slowdown": None, "limited_flush_slowdown": None}
# Values from docs/results/peers.json (22 November 2026; on 1 rank the issue), and docs/results/redundancy.md (25
# November).
BEFORE = {"small_checkpoint_ms": {"1": 0.45, "4": 1.95}, "blocking_over_memcpy": {"1": 1.55, "2": 1.42, "4": 1.43},
          "restore_over_memcpy": {"1": 1.5, "2": 1.64, "4": 1.48}, "durable_over_plain": {"1": 1.18, "2": 1.24, "4": 1.2},
          "durable_buffered_over_plain": {"1": 1.18, "2": 1.24, "4": 1.2},
          "level_node_overhead_ms": {"single": 2.013, "partner": 7.89, "buddy": 8.428, "xor": 8.874, "reed-solomon": 8.401},
          "rebuild_gb_per_s": {"xor": 0.5836, "buddy": 0.4793, "reed-solomon": 0.5162}}


def _by_ranks(key, rounds, value, goal=None, **others):
    """`rounds`: one per measurement of all ranks, {ranks: output of async_checkpoint}; the median of their values
    counts."""
    values = {ranks: [value(one[ranks]) for one in rounds] for ranks in rounds[0]}
    wanted = goal or GOALS[key]
    figure = at_most(rounded({ranks: statistics.median(all_) for ranks, all_ in values.items()}),
                     {ranks: wanted[ranks] for ranks in wanted if ranks in values}, **others)
    if len(rounds) > 1:
        figure["rounds"] = {ranks: [round(one, 4) for one in all_] for ranks, all_ in values.items()}
    return {key: {**figure, **before(key)}}


def before(key):
    return {"before": BEFORE[key]} if key in BEFORE else {}


def _ratio(above, below):
    return lambda one: one[above] / one[below]


def size_of(rounds):
    one = next(iter(rounds[0].values()))
    mib = one["bytes_per_rank"] / (1 << 20)
    return f"{mib:g} MiB per rank, {one['repetitions']} repetitions"


def small_figure(rounds, command):
    one = next(iter(rounds[0].values()))
    return _by_ranks("small_checkpoint_ms", rounds, lambda one: (one["blocking_s"] - one["around_nothing_s"]) * 1e3, unit="ms by ranks",
                     reference=f"{one['bytes_per_rank'] >> 10} KiB per rank, {one['repetitions']} repetitions: from the first rank's start to the "
                               "last one's end, beyond the same around a barrier alone", command=command)


def copy_figures(rounds, command):
    common = {"unit": "time ratio by ranks", "command": command}
    return {**_by_ranks("blocking_over_memcpy", rounds, _ratio("blocking_s", "memcpy_s"), **common,
                        reference=f"memcpy to warm memory; {size_of(rounds)}, ratio of the medians"),
            **_by_ranks("restore_over_memcpy", rounds, _ratio("restore_s", "memcpy_s"), **common,
                        reference="the same; out of the memory tier, every byte verified")}


def durable_figure(key, rounds, takes_direct, command):
    """`takes_direct`: the store's file system can be written past the page cache."""
    goal = GOALS[key] if takes_direct else GOALS["durable_buffered_over_plain"]
    way = "" if takes_direct else "; its file system refuses direct I/O"
    if key == "durable_buffered_over_plain":
        way = "; store.direct off"
    return _by_ranks(key, rounds, _ratio("total_sum_s", "store_write_sum_s"), goal, unit="time ratio by ranks", command=command,
                     reference=f"buffered write and fsync of the same bytes beside the store, sums; {size_of(rounds)}{way}")


def cow_figure(rounds, command):
    key, unit = "cow_blocking_over_memcpy", "time ratio by ranks"
    if not any(one["first_level"] == "none" for one in rounds[0].values()):
        return {key: missing(GOALS[key], "this system cannot protect memory: the calls copied", unit=unit, reference="memcpy", command=command)}
    return _by_ranks(key, rounds, _ratio("blocking_s", "memcpy_s"), unit=unit, command=command,
                     reference=f"memcpy to warm memory; {size_of(rounds)}, ratio of the medians")


def name_of(cell):
    return f"{cell['fraction'] * 100:g} % {cell['order']}"


def _losses(runs):
    """Returns {cell: [how many seconds longer a turn with a checkpoint took than its neighbour]} of all runs."""
    losses = {}
    for run in runs:
        for cell in run["cells"]:
            losses.setdefault(name_of(cell), []).extend(
                with_ - without for with_, without in zip(cell["disturbed_s"], cell["undisturbed_s"]))
    return losses


def scatter(values):
    """Returns the median distance to the median."""
    middle = statistics.median(values)
    return statistics.median(abs(value - middle) for value in values)


def lost_figure(runs, command):
    """`runs`: {"copy": [output of lost_time], "cow": [...]}, which alternated."""
    key, unit = "cow_lost_over_copy_lost", "ratio of lost times by fraction"
    goals = {name_of(cell): GOALS[key][cell["fraction"]] for cell in runs["copy"][0]["cells"]}
    first = runs["copy"][0]
    reference = (f"what a turn loses with capture.mode copy; {first['bytes'] / (1 << 20):g} MiB, medians of "
                 f"{first['turns'] * len(runs['copy'])} turns beside undisturbed ones")
    if not all(run["returned_early"] for run in runs["cow"]):
        return {key: missing(goals, "this system cannot protect memory: the calls copied", unit=unit, reference=reference, command=command)}
    losses = {mode: _losses(runs[mode]) for mode in MODES}
    lost_ms = {mode: {name: statistics.median(losses[mode][name]) * 1e3 for name in goals} for mode in MODES}
    common = {"unit": unit, "reference": reference, "command": command}
    nothing = [name for name in goals if lost_ms["copy"][name] <= 0]
    if nothing:  # a zero has no ratio
        figure = missing(goals, f"copy lost nothing: {', '.join(nothing)}", **common)
    else:
        figure = at_most({name: round(lost_ms["cow"][name] / lost_ms["copy"][name], 4) for name in goals}, goals, **common)
    for mode in MODES:
        figure[f"{mode}_lost_ms"] = {name: round(value, 2) for name, value in lost_ms[mode].items()}
    figure["scatter_ms"] = {name: round(max(scatter(losses[mode][name]) for mode in MODES) * 1e3, 2) for name in goals}
    return {key: figure}


def stored_figure(results, command):
    """`results`: {ranks: output of stored_restore}."""
    key, goals = "store_restore_direct_over_buffered", GOALS["store_restore_direct_over_buffered"]
    cells = {(ranks, cell["cached"], cell["direct"]): cell for ranks, one in results.items() for cell in one["cells"]}
    names = {(ranks, cached): f"{ranks}, {cached} cached" for ranks, cached, direct in cells if direct}

    def medians(what, scale, digits):
        return {way: {name: round(statistics.median(cells[(*place, direct)][what]) * scale, digits) for place, name in names.items()}
                for way, direct in (("direct", True), ("buffered", False))}

    took = medians("restore_s", 1e3, 2)
    one = next(iter(results.values()))
    figure = at_most({name: round(took["direct"][name] / took["buffered"][name], 4) for name in names.values()},
                     {name: goals[cached] for (_, cached), name in names.items()}, unit="time ratio by ranks and what the cache has of the store",
                     reference=f"a restore with store.direct off; {one['bytes_per_rank'] / (1 << 20):g} MiB per rank, medians of {one['repetitions']}",
                     command=command)
    return {key: {**figure, "restore_ms": took, "processor_ms": medians("processor_s", 1e3, 2), "then_cached_mib": medians("left_in_cache", 2**-20, 1)}}


def _beside_flushes(runs):
    """Returns {"memory direct": {"slowdown": [of each flush], "flush_ms": [...], "lost_ms": [...]}} of all runs."""
    beside = {}
    for run in runs:
        for cell in run["cells"]:
            one = beside.setdefault(f"{cell['grid']} {'direct' if run['direct'] else 'buffered'}", {"slowdown": [], "flush_ms": [], "lost_ms": []})
            one["slowdown"].extend(beside_it / alone for beside_it, alone in zip(cell["disturbed_s"], cell["undisturbed_s"]))
            one["flush_ms"].extend(seconds * 1e3 for seconds in cell["flush_s"])
            one["lost_ms"].extend(seconds * 1e3 for seconds in cell["lost_s"])
    return dict(sorted(beside.items(), key=lambda item: item[0].split()[0] != "memory"))


def interference_figure(key, runs, command):
    """`runs`: output of interference, all with the same flush.max_slowdown."""
    first, beside = runs[0], _beside_flushes(runs)
    limit = first["max_slowdown"]
    grids = {name: size / (1 << 20) for name, size in first["grid_bytes"].items()}
    common = {"unit": "time ratio by what bounds the stencil and how the store is written", "command": command,
              "reference": f"a step of the stencil undisturbed; {first['ranks']} ranks, a checkpoint of {first['bytes'] / (1 << 20):g} MiB, grids of "
                           f"{grids['memory']:g} and {grids['cache']:g} MiB, medians of {first['turns'] * len(runs) // 2} flushes"
                           + (f"; flush.max_slowdown {limit:g}" if limit else "")}
    names = [f"{grid} {way}" for grid in grids for way in ("direct", "buffered")]
    none = [name for name in names if not beside.get(name, {}).get("slowdown")]
    if none:
        return {key: missing({name: 1 + limit for name in names} if limit else None,
                             f"its flushes ended before a look at them: {', '.join(none)}", **common)}
    values = {name: round(statistics.median(one["slowdown"]), 4) for name, one in beside.items()}
    goals = {name: 1 + limit for name in values} if limit else {
        name: values[name.replace("direct", "buffered")] for name in values if name.endswith("direct")}
    figure = at_most(values, goals, **common)
    for what in ("flush_ms", "lost_ms"):
        figure[what] = {name: round(statistics.median(one[what]), 2) for name, one in beside.items()}
    return {key: {**figure, "scatter": {name: round(scatter(one["slowdown"]), 4) for name, one in beside.items()}}}


def overhead_figure(result, command):
    key = "level_node_overhead_ms"
    return {key: {**others_figures.overhead_figure(result, command), **before(key)}}


def rebuild_figure(runs, bytes_lost, victim, command):
    key = "rebuild_gb_per_s"
    return {key: {**others_figures.rebuild_figures(runs, bytes_lost, victim, command)["rebuild_rate"], **before(key)}}


def interference_table(figures):
    """Returns the data behind both figures of flushes, as Markdown."""
    lines = ["| beside a flush | flush.max_slowdown | step, times undisturbed | scatter | a flush, ms | lost by it, ms |", "|" + " --- |" * 6]
    for key, limit in (("flush_slowdown", "-"), ("limited_flush_slowdown", "set")):
        one = figures.get(key, {})
        for name, value in (one.get("value") or {}).items():
            lines.append(f"| {name} | {limit} | {value} | {one['scatter'][name]} | {one['flush_ms'][name]} | {one['lost_ms'][name]} |")
    return "\n".join(lines)


def stored_table(figure):
    """Returns the data behind the ratios, as Markdown."""
    lines = ["| ranks, in the cache | way | restore, ms | processors, ms | then in the cache, MiB |", "|" + " --- |" * 5]
    for way, times in figure.get("restore_ms", {}).items():
        for name, value in times.items():
            lines.append(f"| {name} | {way} | {value} | {figure['processor_ms'][way][name]} | {figure['then_cached_mib'][way][name]} |")
    return "\n".join(lines)


def lost_table(figure):
    """Returns the data behind the ratios, as Markdown."""
    lines = ["| rewritten | lost with copy, ms | lost with cow, ms | scatter, ms |", "| --- | --- | --- | --- |"]
    for name, copy in figure.get("copy_lost_ms", {}).items():
        lines.append(f"| {name} | {copy} | {figure['cow_lost_ms'][name]} | {figure['scatter_ms'][name]} |")
    return "\n".join(lines)
