"""Makes the mutated copy of the tree: all mutants in one build, each behind a switch (switch.hpp). Lines keep their
numbers."""
import pathlib
import re
import subprocess

from .operators import changes_of
from .source import Source

SWITCH = pathlib.Path(__file__).with_name("switch.hpp")
FOLDERS = ("src/store", "src/segment", "src/catalog", "src/plan", "src/redundancy", "src/client", "src/client/write", "src/engine/ledger", "src/os", "src/network",
           "src/array", "src/reader", "src/portable", "src/capi", "src/inspect", "src/node", "src/engine/serve", "src/engine/upkeep")
# Files with mutants in folders that are not mutated as a whole. In the network, the files that decide which peers may
# talk at all; elsewhere, those that decide which checkpoints users keep.
CHOSEN = {"src/network": {"handshakes.cpp", "core_sessions.cpp", "proof.cpp"}, "src/capi": {"capi.cpp", "goodbye.cpp"},
          "src/inspect": {"prune_plan.cpp"}, "src/node": {"store_look.cpp"}, "src/engine/serve": {"capture_steps.cpp", "skipped_versions.cpp"},
          "src/engine/upkeep": {"janitor.cpp"}}


def sources(root):
    for folder in FOLDERS:
        for file in sorted((root / folder).glob("*.cpp")):
            if not file.stem.endswith("_test") and file.name in CHOSEN.get(folder, {file.name}):
                yield file.relative_to(root)


def numbered(root, files, listed=()):
    """Returns all changes of the files, numbered from 1 on in order: those of the list, and those that the operators
    make."""
    changes = []
    for file in files:
        source = Source(str(file), (root / file).read_text())
        kept = [change for change in listed if change.path == str(file)]
        for change in changes_of(source):
            if not any(cross(change, other) for other in kept):
                kept.append(change)
        changes += sorted(kept, key=lambda c: (c.begin, -c.end, c.what))
    for number, change in enumerate(changes, 1):
        change.number = number
    return changes


def cross(a, b):
    """Whether the regions overlap and neither is within the other."""
    return a.begin < b.end and b.begin < a.end and not (a.begin <= b.begin and b.end <= a.end) and not (b.begin <= a.begin and a.end <= b.end)


def in_macro(source, position):
    """Whether a position is in the arguments of PERDURE_TRY(...) or a similar macro, where no #line may be."""
    for i, token in enumerate(source.tokens):
        if token.begin <= position < token.end or token.begin >= position:
            while token.outer >= 0:
                if source.is_text(token.outer, "(") and source.tokens[token.outer - 1].text.isupper():
                    return True
                token = source.tokens[token.outer]
            return False
    return False


class MutatedFile:
    """One source with all its changes behind their switches. The compiler calls each alternative "mutant", line NUMBER."""

    def __init__(self, path, text, changes, place):
        self.source, self.place = Source(path, text), place
        self.regions = {}
        for change in changes:
            self.regions.setdefault((change.begin, change.end, change.kind), []).append(change)

    def render(self):
        # From outside to inside.
        order = sorted(self.regions, key=lambda r: (r[0], -r[1], r[2] != "statement"))
        return f'#include "{self.place}/perdure_mutation.hpp"\n#line 1\n' + self._between(0, len(self.source.text), order)

    def _between(self, begin, end, todo):
        out, at = [], begin
        while todo:
            first, *rest = todo
            inside = [r for r in rest if r[0] < first[1] and r[1] <= first[1]]
            out += [self.source.text[at : first[0]], self._switched(first, self._between(first[0], first[1], inside))]
            at, todo = first[1], rest[len(inside) :]
        return "".join(out) + self.source.text[at:end]

    def _switched(self, region, original):
        begin, _, kind = region
        changes = self.regions[region]
        back = f'\n#line {self.source.line(begin)} "{self.place}/{self.source.path}"\n'
        shown = "{text}" if in_macro(self.source, begin) else '\n#line {number} "mutant"\n{text}' + back
        text = {c.number: shown.format(number=c.number, text=c.text) for c in changes}
        if kind == "beginning":
            return "".join(f" if (perdure_mutant({n})) {{ {text[n]} }}" for n in text)
        if kind == "statement":
            return "{ " + "".join(f"if (perdure_mutant({n})) {{ {text[n]} }} else " for n in text) + f"{{ {original} }} }}"
        same = "static_cast<bool>" if kind == "condition" else ""
        return "(" + "".join(f"perdure_mutant({n}) ? ({text[n]}) : " for n in text) + f"{same}({original}))"


def write(root, copy, changes):
    """Makes `copy` the mutated tree of `root`; writes only files that differ, so that little is compiled again."""
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True).stdout
    by_file = {}
    for change in changes:
        by_file.setdefault(change.path, []).append(change)
    expected = {"perdure_mutation.hpp"}
    replace(copy / "perdure_mutation.hpp", SWITCH.read_bytes())
    for name in filter(None, listing.split("\n")):
        file = root / name
        if not file.is_file() or file.is_symlink():
            continue
        content = file.read_bytes()
        if name in by_file:
            content = MutatedFile(name, content.decode(), by_file[name], copy).render().encode()
        replace(copy / name, content, file.stat().st_mode)
        expected.add(name)
    for folder in (entry for entry in copy.iterdir() if entry.is_dir() and entry.name != "build"):
        for file in list(folder.rglob("*")):
            if file.is_file() and str(file.relative_to(copy)) not in expected:
                file.unlink()


def replace(path, content, mode=0o644):
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode & 0o777)


MUTANT = re.compile(r"^(?:In file included from )?mutant:(\d+)[:,]", re.M)
PLACE = re.compile(r"^(\S+\.cpp):(\d+):\d+: error", re.M)


def blamed(said, copy, changes):
    """Returns the numbers of the changes that the compiler rejects. Changes in a macro's arguments only have a line."""
    numbers = {int(number) for number in MUTANT.findall(said)}
    if numbers:
        return numbers
    places = {(path.removeprefix(f"{copy}/"), int(line)) for path, line in PLACE.findall(said)}
    return {c.number for c in changes if any((c.path, line) in places for line in range(c.line - 3, c.line + 4))}
