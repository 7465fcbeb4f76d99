"""Compares the results of bench/process/run with their goals. Pure: output of the programs in, figures out."""
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "redundancy"))
import figures
from figures import figure, missing

GOALS = {"checkpoint_s": 0.25, "frozen_s": 0.02, "restart_s": 0.25, "lazy_first_instruction_s": 0.03, "masks_kept": 1.0, "pages_kept": 0.999, "size_overhead": 0.002,
         "checkpoint_overhead": 0.02, "restart_overhead": 0.02}
OTHERS = {"checkpoint_s": "CRIU 0.46 s, DMTCP 0.78 s", "frozen_s": "CRIU 0.45 s, DMTCP 0.40 s", "restart_s": "CRIU 0.49 s, DMTCP 0.67 s"}


def median(values):
    return round(statistics.median(values), 4)


def at_most(key, value, **others):
    return figures.at_most(value, GOALS[key], **others)


def beside(turns, key):
    """Returns the medians of the ratios to a plain copy and a plain write of as many bytes, each measured in the same
    turn."""
    return (f"{statistics.median(one[key] / one['plain']['memcpy_s'] for one in turns):.2f} times a memcpy and "
            f"{statistics.median(one[key] / one['plain']['write_s'] for one in turns):.2f} times a write of as many bytes to the same file "
            "system")


def speed_figures(turns, command):
    """`turns`: [{"checkpoint_s", "frozen_s", "pre_copy_frozen_s", "restart_s", "plain", ...}]; each is one process."""
    size = f"{turns[0]['mib']} MiB touched by {turns[0]['threads']} threads; "
    figures = {}
    for key, measured, what in (("checkpoint_s", "checkpoint_s", "until the image is whole in memory that outlives the process; "),
                                ("frozen_s", "pre_copy_frozen_s", "with --pre-copy, 1 % of the pages written all the time; "),
                                ("restart_s", "restart_s", "until it runs; "),
                                ("lazy_first_instruction_s", "lazy_first_instruction_s", "resume --lazy, until its first instruction; ")):
        figures[key] = at_most(key, median([one[measured] for one in turns]), unit="s", command=command,
                               reference=f"{size}{what}{OTHERS[key] + ' (elsewhere); ' if key in OTHERS else ''}here {beside(turns, measured)}")
    return figures


def share(kept, of):
    return round(kept / of, 5) if of else None


def overhead(turns, key, digits=4):
    """Returns the median of the ratios of alternating modes, less 1."""
    return round(statistics.median(one["keep"][key] / one["none"][key] for one in turns) - 1, digits)


def affinity_figures(turns, command):
    """`turns`: [{"keep": {"restart_s", "masks", "masks_kept", "pages", "pages_kept"}, "none": ..., "captured":
    {"keep": {"checkpoint_s", "record_bytes", "page_bytes"}, "none": ...}}], of one process each."""
    keep, none = ({key: sum(one[mode][key] for one in turns) for key in ("masks", "masks_kept", "pages", "pages_kept")}
                  for mode in ("keep", "none"))
    others = {"unit": "share", "at_least": True, "command": command}
    nodes = f"{turns[0]['nodes']} node{'s' if turns[0]['nodes'] > 1 else ''} of memory"
    figures = {
        "masks_kept": figure(share(keep["masks_kept"], keep["masks"]), GOALS["masks_kept"],
                             reference="threads whose processors are those that they had", **others),
        "pages_kept": figure(share(keep["pages_kept"], keep["pages"]), GOALS["pages_kept"],
                             reference=f"pages on the node where they were; {nodes}", **others),
        "pages_kept_agnostic": figure(share(none["pages_kept"], none["pages"]), 0, reference=f"the same with none; {nodes}", **others),
        "restart_overhead": at_most("restart_overhead", overhead(turns, "restart_s"), unit="more time", command=command,
                                    reference="keep beside none, in turn; median of the ratios")}
    captured = [one["captured"] for one in turns]
    bytes_of = lambda one: {"bytes": one["record_bytes"] + one["page_bytes"]}
    sizes = [{mode: bytes_of(one[mode]) for mode in one} for one in captured]
    for key, value, unit in (("size_overhead", overhead(sizes, "bytes", 6), "more bytes"), ("checkpoint_overhead", overhead(captured, "checkpoint_s"), "more time")):
        figures[key] = at_most(key, value, unit=unit, command=command, reference="captures with keep beside none, in turn; median of the ratios")
    return figures


def no_affinity(why, command):
    return {key: missing(GOALS.get(key, 0), why, unit="share", command=command, reference="keep beside none") for key in
            ("masks_kept", "pages_kept", "pages_kept_agnostic", "size_overhead", "checkpoint_overhead", "restart_overhead")}


def iterations(lines):
    """Returns {number: seconds} from a kernel's output with --times."""
    found = (re.match(r"\s*(\d+) \S+ ([\d.]+) s$", line) for line in lines)
    return {int(one[1]): float(one[2]) for one in found if one}


def before_and_after(lines, seen):
    """Returns medians of seconds per iteration before the capture request, and from the second iteration after it on."""
    seconds = iterations(lines)
    before = [value for number, value in seconds.items() if number <= seen]
    after = [value for number, value in seconds.items() if number > seen + 1]
    return median(before), median(after)


def change(agnostic, keep):
    """Returns, as in the paper, by how many percent it is less than the agnostic one."""
    return None if not agnostic else round(100 * (agnostic - keep) / agnostic, 2)


def kernel_table(kernels):
    """Returns tables like 5.2 and 5.3. `kernels`: {name: {"keep": {...}, "agnostic": {...}}}, medians."""
    lines = ["| kernel | pages | checkpoint s | frozen s | restart s keep / agnostic | migrations keep / agnostic | s per iteration before | "
             "after, keep | after, agnostic | change of it |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name, one in kernels.items():
        keep, other = one["keep"], one.get("agnostic")
        pair = lambda key: f"{keep[key]} / {other[key] if other else '-'}"
        lines.append(f"| `{name}` | {keep['page_bytes'] / 2**20:.1f} MiB | {keep['checkpoint_s']} | {keep['frozen_s']} | {pair('restart_s')} | "
                     f"{pair('migrations')} | {keep['before_s']} | {keep['after_s']} | {other['after_s'] if other else '-'} | "
                     f"{str(change(other['after_s'], keep['after_s'])) + ' %' if other else '-'} |")
    return "\n".join(lines)
