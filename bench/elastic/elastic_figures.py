"""Compares the results of bench/elastic/run with their goals. Pure: results of the programs in, figures out."""
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "redundancy"))
import figures
from figures import figure, missing

GOALS = {"global_over_local_blocking": 1.03, "restore_4_to_2": 1.5, "restore_2_to_4": 1.5, "restore_4_to_3": 1.5,
         "store_read_over_plain": 0.7, "increase_perdure_over_shared_file": 1 / 3, "export_over_plain_hdf5": 0.5,
         "plan_16384_to_10000_s": 2.0, "plan_16384_to_10000_mib": 64, "list_10000_versions_s": 1.0}
OUTPUTS = ("none", "shared-file", "perdure")


def at_most(key, value, **others):
    return figures.at_most(round(value, 4), GOALS[key], **others)


def at_least(key, value, **others):
    return figure(round(value, 4), GOALS[key], at_least=True, **others)


def blocking_figure(results, command):
    """`results`: one of elastic_bench blocking for each number of boxes."""
    key = "global_over_local_blocking"
    worst = max(results, key=lambda one: one["median_of_ratios"])
    return {key: at_most(key, worst["median_of_ratios"], unit="time ratio", command=command,
                         reference="the checkpoint call of the same bytes as a region of the rank's own, in turn; the worst of "
                                   f"{', '.join(str(one['boxes']) for one in results)} boxes per rank: {worst['boxes']}")}


def restore_figures(cells, commands):
    """`cells`: [{"writers", "extents", "restore_s": {readers: [seconds, one per launch]}}]."""
    figures = {}
    for writers, readers in ((4, 2), (2, 4), (4, 3)):
        key, ratios = f"restore_{writers}_to_{readers}", {}
        for cell in cells:
            seconds = cell["restore_s"]
            if cell["writers"] == writers and readers in seconds:
                ratios[text_of(cell["extents"])] = (statistics.median(seconds[readers]) / statistics.median(seconds[writers]))
        if ratios:
            worst = max(ratios, key=ratios.get)
            figures[key] = at_most(key, ratios[worst], unit="time ratio", command=commands[writers, readers],
                                   reference=f"perdure_restore() on the {writers} ranks that wrote, out of memory, launches in "
                                             f"turn; the worst of the arrays {', '.join(ratios)}: {worst}")
    return figures


def store_figure(cells, command):
    """`cells`: [{"writers", "readers", "launches": [result of elastic_bench restore --plain-read]}]."""
    key = "store_read_over_plain"
    for cell in cells:
        cell["ratio"] = statistics.median(one["plain_read_s"] / one["restore_s"] for one in cell["launches"])
        cell["read_over_store_bytes"] = max(one["read_bytes"] / one["store_bytes"] for one in cell["launches"])
    worst = min(cells, key=lambda cell: cell["ratio"])
    one = at_least(key, worst["ratio"], unit="rate ratio", command=command,
                   reference="read() of the store's files by one process, in the page cache for both; the worst of "
                             + ", ".join(f"{cell['writers']} to {cell['readers']} ranks" for cell in cells)
                             + f": {worst['writers']} to {worst['readers']}")
    one["read_over_store_bytes"] = round(max(cell["read_over_store_bytes"] for cell in cells), 6)
    return {key: one}


def increases(cell, which):
    """Returns the increase of run time by an output. `which`: steps_s, or stored_s, which includes the wait for
    durability."""
    median = {output: statistics.median(one[which] for one in cell["runs"][output]) for output in OUTPUTS}
    return median, {output: median[output] - median["none"] for output in OUTPUTS[1:]}


def increase_ratio(cell, which):
    """Returns None if noise hides the shared file's increase."""
    _, increase = increases(cell, which)
    return max(increase["perdure"], 0) / increase["shared-file"] if increase["shared-file"] > 0 else None


def stencil_figure(cells, command):
    """`cells`: [{"ranks", "rows", "mib", "runs": {output: [result of elastic_bench stencil]}}]."""
    key, unit = "increase_perdure_over_shared_file", "ratio of increases"
    reference = "MPI_File_write_at_all and MPI_File_sync into one shared file; until all is stored"
    for cell in cells:
        cell["median_s"], cell["increase_s"] = increases(cell, "stored_s")
        cell["ratio"], cell["ratio_of_steps"] = increase_ratio(cell, "stored_s"), increase_ratio(cell, "steps_s")
    known = [cell for cell in cells if cell["ratio"] is not None]
    if not known:
        return {key: missing(GOALS[key], "no run was longer with the shared file than without output", unit=unit,
                             reference=reference, command=command)}
    worst = max(known, key=lambda cell: cell["ratio"])
    one = at_most(key, worst["ratio"], unit=unit, command=command,
                  reference=f"{reference}; the worst of {len(known)} cells: {worst['ranks']} ranks, {worst['mib']:g} MiB")
    one["of_the_steps_alone"] = max((cell["ratio_of_steps"] for cell in known if cell["ratio_of_steps"] is not None),
                                    default=None)
    one["cells_without_a_ratio"] = len(cells) - len(known)
    return {key: one}


def export_figure(pairs, command):
    """`pairs`: [(seconds of perdure export, seconds of the plain writer)], or a text that says why there are none."""
    key, unit = "export_over_plain_hdf5", "rate ratio"
    reference = "a C program that writes the same array, chunks and all, out of memory; both until fsync"
    if isinstance(pairs, str):
        return {key: missing(GOALS[key], pairs, unit=unit, reference=reference, command=command)}
    return {key: at_least(key, statistics.median(plain / export for export, plain in pairs), unit=unit,
                          reference=reference, command=command)}


def plan_figures(result, command):
    ranks = f"{result['writers']} ranks' blocks, for a node of {result['readers']} ranks; one core; "
    seconds, mib = "plan_16384_to_10000_s", "plan_16384_to_10000_mib"
    return {seconds: at_most(seconds, result["seconds"], unit="s", command=command,
                             reference=ranks + f"the slowest of {result['nodes_planned']} nodes"),
            mib: at_most(mib, result["peak_bytes"] / 2 ** 20, unit="MiB", command=command,
                         reference=ranks + "peak of the process's resident memory")}


def listing_figure(result, command):
    """`result`: that of elastic_bench list, with "ls_s", the times of perdure ls, or a text that says why there are
    none."""
    key, unit = "list_10000_versions_s", "s"
    reference = "perdure ls of a store on /dev/shm or the bench's directory, the whole program; the median"
    if isinstance(result, str):
        return {key: missing(GOALS[key], result, unit=unit, reference=reference, command=command)}
    one = at_most(key, statistics.median(result["ls_s"]), unit=unit, command=command,
                  reference=f"{reference} of {len(result['ls_s'])}, of {result['versions']} versions of one rank")
    plain, call = statistics.median(result["plain_s"]), statistics.median(result["call_s"])
    one["perdure_list_versions_s"] = round(call, 4)
    one["over_plain_reading"], one["call_over_plain_reading"] = round(one["value"] / plain, 2), round(call / plain, 2)
    return {key: one}


def text_of(extents):
    return "x".join(map(str, extents))
