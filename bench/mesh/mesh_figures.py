"""Compares the results of bench/mesh/run with their goals. Pure: results of the programs in, figures out."""
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "redundancy"))
import figures
from figures import figure, missing

# Published for OPS, for programs of the same equations: the number of arrays, with halos of two cells on each side.
# Also how many of them a restart needs at least, and their share of all data.
PUBLISHED = {"clover3d": {"dimensions": 3, "arrays": 27, "needed": 5, "share": 0.18},
             "taylor_green": {"dimensions": 3, "arrays": 64, "needed": 5, "share": 0.077},
             "tealeaf": {"dimensions": 2, "arrays": 20, "needed": 1, "share": 0.051}}
HALO, REAL_BYTES = 2, 8
# Beside the needed arrays there may be strips of halos, at most a tenth.
GOALS = {"size_over_needed": 1.1, "size_over_published": {name: one["share"] for name, one in PUBLISHED.items()},
         "mesh_over_plain": 1.1, "tracking_overhead": 0.005, "blocking_over_copy": 1.6, "fast_forward_speedup": 10}


def _goals(key, values):
    """Returns one goal for all keys, or one for each."""
    return {name: GOALS[key][name] if isinstance(GOALS[key], dict) else GOALS[key] for name in values}


def at_most(key, values, **others):
    return figures.at_most(figures.rounded(values), _goals(key, values), **others)


def at_least(key, values, **others):
    return figure(figures.rounded(values), _goals(key, values), at_least=True, **others)


def checkpoint_of(output):
    """Returns a program's report on its last checkpoint: {"fraction", "before", "megabytes", "state_megabytes"}, or
    nothing."""
    found = re.search(r"The last one, before loop '([^']*)': ([\d.]+) MB, [\d.]+ % of the state of ([\d.]+) MB", output)
    if not found:
        return None
    size, state = float(found[2]), float(found[3])
    return {"fraction": size / state, "before": found[1], "megabytes": size, "state_megabytes": state}


def array_bytes(application, cells):
    """Returns the bytes of one array of the published program, with these cells in each dimension and its halo."""
    return REAL_BYTES * (cells + 2 * HALO) ** PUBLISHED[application]["dimensions"]


def size_figures(checkpoints, command):
    """`checkpoints`: {application: (checkpoint_of(), cells in each dimension)}."""
    references = {"size_over_needed": "the arrays that a restart needs at least, 5, 5 and 1, with halos of two cells on each side, as "
                                      "published for OPS; ",
                  "size_over_published": "all arrays of the programs that are published for OPS (27, 64, 20), with such halos, at as many "
                                         "cells; its automatic mode saved 0.30, 0.13 and 0.29; "}
    others = {"unit": "ratio of bytes", "command": command}
    if lacking := [name for name, (one, _) in checkpoints.items() if one is None]:
        return {key: missing(GOALS[key], f"no checkpoint was made by {', '.join(lacking)}",
                             reference=reference + "the last checkpoint", **others) for key, reference in references.items()}
    where = "the last checkpoint: " + ", ".join(f"{name} before loop '{one['before']}'" for name, (one, _) in checkpoints.items())
    arrays = {name: 1e6 * one["megabytes"] / array_bytes(name, cells) for name, (one, cells) in checkpoints.items()}
    return {key: at_most(key, {name: number / PUBLISHED[name][of] for name, number in arrays.items()}, reference=reference + where, **others)
            for (key, reference), of in zip(references.items(), ("needed", "arrays"))}


def ratio_of_medians(pairs):
    return statistics.median(one for one, _ in pairs) / statistics.median(two for _, two in pairs)


def speed_figure(pairs, cells, command):
    """`pairs`: {back end: [(seconds per step of clover2d, of the plain program)]}."""
    key = "mesh_over_plain"
    return {key: at_most(key, {name: ratio_of_medians(all_) for name, all_ in pairs.items()}, unit="time ratio",
                         command=command,
                         reference=f"CloverLeaf 2D in plain C++ with OpenMP and MPI, same kernels and bits, {cells} cells, in "
                                   "turn; ratio of the medians of wall-clock time per step")}


def tracking_figure(pairs, cells, command):
    """`pairs`: [(seconds per step with a follower, without one)]."""
    key = "tracking_overhead"
    return {key: at_most(key, {"clover2d": ratio_of_medians(pairs) - 1}, unit="more time", command=command,
                         reference=f"clover2d without a follower, {cells} cells, one rank, in turn; time per step, with what is "
                                   "learnt of the first 2048 loops")}


def blocking_figure(results, command):
    """`results`: printed by mesh_bench blocking, by number of ranks."""
    key, ratios = "blocking_over_copy", {}
    for one in results:
        name = f"{one['ranks']} rank{'s' if one['ranks'] > 1 else ''}"
        ratios[name] = statistics.median(a / b for a, b in zip(one["blocking_s"], one["copy_s"]))
    return {key: at_most(key, ratios, unit="time ratio", command=command,
                         reference=f"one memcpy of as many bytes, {results[0]['bytes_per_rank'] >> 20} MiB per rank, in the same "
                                   "process, in turn; medians of ratios, each of the slowest rank's times")}


def speedup_figure(launches, command):
    """`launches`: {way: (result of the run that computed, [results of restarts])}."""
    key = "fast_forward_speedup"
    values = {way: first["seconds"] / statistics.median(one["seconds"] for one in again)
              for way, (first, again) in launches.items()}
    steps = next(iter(launches.values()))[0]["step"]
    return {key: at_least(key, values, unit="time ratio", command=command,
                          reference=f"from the start until a run has computed {steps} steps, over from the start until a restart "
                                    "computes behind them; it grows with the steps")}
