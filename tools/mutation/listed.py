"""Reads the mutants of tests/mutants.toml, each with the promise that it breaks, and the changes that no test can
notice."""
import tomllib

from .operators import Change
from .source import Source


def read(root, path):
    """Returns (mutants, equivalent ones: the key of a change to the reason)."""
    with open(path, "rb") as file:
        content = tomllib.load(file)
    sources = {}
    mutants = [located(root, sources, entry) for entry in content.get("mutant", [])]
    return mutants, content.get("equivalent", [])


def located(root, sources, entry):
    name, old = entry["file"], entry["old"].strip()
    if name not in sources:
        sources[name] = Source(name, (root / name).read_text())
    source = sources[name]
    start = source.text.find(entry["after"]) if "after" in entry else 0
    found = source.text.count(old, start) if start >= 0 else 0
    if found == 0 or (found > 1 and "after" not in entry):
        raise ValueError(f"{name}: what mutant '{entry['breaks']}' changes is there {found} times: {old}")
    begin = source.text.index(old, start)
    kind = "statement" if old.endswith((";", "}")) else "expression"
    return Change(name, source.line(begin), entry["breaks"], begin, begin + len(old), kind, entry["new"].strip(), listed=True)


def is_equivalent(change, entries):
    return any(change.path == e["file"] and change.what == e["what"] and e.get("in", "") in change.text for e in entries)
