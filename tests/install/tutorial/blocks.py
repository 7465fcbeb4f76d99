"""Reads the code blocks of a page, each with the mark that tells a test what to do with it.

A mark is an HTML comment right before its block, so that the rendered page does not show it. Each of its lines is a list
of words and key=value pairs, quoted as in a shell. A line that begins with a number and a colon is about that line of
the block.

    <!-- test: file=tutorial.c -->              the block is this file
    <!-- test: fragment=sizes.c -->             the block is put into frames/sizes.c, compiled and run
    <!-- test: run                              the block's lines are typed, one after another
    2: kill=tutorial after="step 200" status=137
    3: expect="going on at step" -->
    <!-- test: skip="needs a cluster" -->       the block is not run, and why
"""
import re
import shlex
from dataclasses import dataclass, field


class Wrong(Exception):
    """Reports a difference from the page's promises; the text names it and its place."""


KINDS = ("file", "fragment", "run", "skip")
# The keys that a mark may use for a block, or for one of its lines.
KEYS = {
    "expect",  # a regular expression that the output must match
    "status",  # valid exit statuses, separated by commas, instead of 0
    "kill",    # the program of which one process is killed with SIGKILL ...
    "after",   # ... as soon as the output matches this; without `kill`: when Ctrl-C is pressed
    "until",   # a file that must exist before the next line is typed, for background programs
    "local",   # variables set by the line are forgotten after the block
}


@dataclass
class Block:
    line: int
    language: str
    text: str
    kind: str = ""
    target: str = ""
    wishes: dict = field(default_factory=dict)  # for line 0, which is the whole block, and single lines from 1 on

    def wish(self, number):
        """Returns the value of a key for line `number`: the line's own, or that of the whole block."""
        return {**self.wishes.get(0, {}), **self.wishes.get(number, {})}


def words(text, where):
    """Parses `a=b c` into a dictionary; a word alone gets "yes"."""
    try:
        return dict((word + "=yes").split("=", 1) if "=" not in word else word.split("=", 1) for word in shlex.split(text))
    except ValueError as error:
        raise Wrong(f"{where}: the mark cannot be read: {error}") from None


def apply_mark(block, mark, where):
    for number, line in enumerate(mark.strip().splitlines()):
        numbered = re.match(r"\s*([1-9]\d*):(.*)", line)
        found = words(numbered[2] if numbered else line, where)
        if number == 0 and not numbered:
            kinds = [kind for kind in KINDS if kind in found]
            if len(kinds) != 1:
                raise Wrong(f"{where}: a mark has one of {', '.join(KINDS)}; this has {', '.join(kinds) or 'none'}")
            block.kind = kinds[0]
            block.target = found.pop(block.kind)
        unknown = set(found) - KEYS
        if unknown:
            raise Wrong(f"{where}: the mark asks for {', '.join(sorted(unknown))}; it may ask for {', '.join(sorted(KEYS))}")
        block.wishes.setdefault(int(numbered[1]) if numbered else 0, {}).update(found)
    if not block.kind:
        raise Wrong(f"{where}: the mark does not say what is done with the block")


def raw_blocks(lines):
    """Yields (first line number, language, text, and the line before) of fenced and of indented blocks."""
    at = 0
    while at < len(lines):
        begin, fence = at, re.match(r"(```+|~~~+)\s*([\w+-]*)", lines[at])
        at += 1
        if fence:
            while at < len(lines) and not lines[at].startswith(fence[1]):
                at += 1
            yield begin, fence[2], "\n".join(lines[begin + 1:at]) + "\n"
            at += 1
        elif lines[begin].startswith("    ") and (begin == 0 or not lines[begin - 1].strip()):
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            yield begin, "", "\n".join(line[4:] for line in lines[begin:at]).rstrip() + "\n"


def mark_before(lines, begin):
    """Returns the text of the comment that ends right before line `begin`, and where it begins; None if there is none."""
    end = begin
    while end > 0 and not lines[end - 1].strip():
        end -= 1
    if end == 0 or not lines[end - 1].rstrip().endswith("-->"):
        return None
    first = end - 1
    while first > 0 and "<!--" not in lines[first]:
        first -= 1
    found = re.fullmatch(r"\s*<!--\s*test:(.*)-->\s*", "\n".join(lines[first:end]), re.DOTALL)
    return (found[1], first) if found else None


def read_blocks(text, name="page", marked=True):
    """Returns all blocks in order. With `marked`, a block without a mark is an error, and so is a mark without a block."""
    lines = text.splitlines()
    blocks, used = [], set()
    for begin, language, body in raw_blocks(lines):
        block = Block(begin + 1, language, body)
        mark = mark_before(lines, begin)
        if mark:
            used.add(mark[1])
            apply_mark(block, mark[0], f"{name}:{mark[1] + 1}")
        elif marked:
            raise Wrong(f"{name}:{begin + 1}: this block has no mark; say before it how it is tested "
                        f"(tests/install/tutorial/blocks.py), or skip=\"why it is not\"")
        blocks.append(block)
    lost = [number for number, line in enumerate(lines) if re.match(r"\s*<!--\s*test:", line) and number not in used]
    if marked and lost:
        raise Wrong(f"{name}:{lost[0] + 1}: this mark has no block behind it")
    return blocks
