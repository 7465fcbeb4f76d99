"""Runs measuring scripts: their parts in turn, the file with the results, and the command line."""
import argparse
import json
import os
import sys
import time


def say(text):
    print(text, file=sys.stderr, flush=True)


def parts_of(run):
    """Returns the names of a class's parts: its methods."""
    return [name for name in vars(run) if not name.startswith("_")]


def measure(run, parts):
    for number, part in enumerate(parts, 1):
        say(f"[{number} of {len(parts)}] {part}")
        begin = time.monotonic()
        getattr(run, part)()
        say(f"  {time.monotonic() - begin:.0f} s")


def write(path, size, run):
    """Keeps the results of other parts from earlier runs; each says when it was measured."""
    whole = json.loads(path.read_text()) if path.exists() else {"figures": {}, "measured": {}}
    now = {"size": size, "at": time.strftime("%Y-%m-%d %H:%M"), "load": round(os.getloadavg()[0], 1)}
    whole["processors"] = os.cpu_count()
    whole["figures"].update({key: {**one, **now} for key, one in run.figures.items()})
    whole["measured"].update(run.measured)
    values = {key: one["value"] for key, one in whole["figures"].items()}
    path.write_text(json.dumps({**whole, **values}, indent=2) + "\n")


def command_line(description, parts, results):
    """`results`: the name of the file that is written."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true", help=f"only print what {results} holds, as Markdown")
    parser.add_argument("--only", type=lambda text: text.split(","), default=parts, help=", ".join(parts))
    arguments = parser.parse_args()
    if unknown := set(arguments.only) - set(parts):
        parser.error(f"there is no part {unknown.pop()}; there are {', '.join(parts)}")
    arguments.size = os.environ.get("PERDURE_BENCH_SIZE", "quick")
    if arguments.size not in ("quick", "full"):
        parser.error(f"PERDURE_BENCH_SIZE is quick or full, not {arguments.size}")
    return arguments
