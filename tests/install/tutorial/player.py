"""Carries out the mark of each block of a page."""
import os
import pathlib
import re
import time

from blocks import Wrong
from shell import PATIENCE_S

FRAMES = pathlib.Path(__file__).resolve().parent / "frames"
PLACE = re.compile(r"^.*THE PAGE'S LINES.*\n", re.MULTILINE)
# The tutorial's compilers; frames of listings that use MPI have _mpi in their names.
COMPILERS = {".c": "cc -Wall", ".cpp": "c++ -std=c++17 -Wall", ".f90": "mpifort -Wall",
             "_mpi.c": "mpicc -Wall", "_mpi.cpp": "mpicxx -std=c++17 -Wall"}
PACKAGES = {".c": "perdure", ".cpp": "perdure", ".f90": "perdure_fortran", "_mpi.c": "perdure_mpi", "_mpi.cpp": "perdure_mpi"}


def compile_line(name):
    ending = next(ending for ending in sorted(COMPILERS, key=len, reverse=True) if name.endswith(ending))
    return f"{COMPILERS[ending]} {name} -o {name}.program $(pkg-config --cflags --libs {PACKAGES[ending]})"


def framed(name, lines):
    """Makes a program of the lines. Includes go to the top; a whole program needs no frame."""
    if re.search(r"\bmain\s*\(|^\s*program\s", lines, re.MULTILINE):
        return lines
    frame = (FRAMES / name).read_text()
    if not PLACE.search(frame):
        raise Wrong(f"{FRAMES / name} has no line \"THE PAGE'S LINES\"")
    top = "".join(line for line in lines.splitlines(True) if line.startswith("#include"))
    rest = "".join(line for line in lines.splitlines(True) if not line.startswith("#include"))
    return top + PLACE.sub(lambda _: rest, frame)


def commands(text):
    """Returns (number of the first line, command) of each command. A trailing backslash continues a line; empty lines
    are ignored."""
    number, command = 0, ""
    for at, line in enumerate(text.splitlines(), 1):
        number, command = number or at, command + line + "\n"
        if not line.endswith("\\"):
            if command.strip() and not command.lstrip().startswith("#"):
                yield number, command.rstrip("\n")
            number, command = 0, ""


class Player:
    def __init__(self, shell, page):
        self.shell = shell
        self.page = page
        self.counts = {}

    def play(self, block):
        {"file": self._file, "fragment": self._fragment, "run": self._run, "skip": self._skip}[block.kind](block)
        self.counts[block.kind] = self.counts.get(block.kind, 0) + 1

    def _skip(self, block):
        if block.target in ("", "yes"):
            raise Wrong(f"{self.page}:{block.line}: skipped without a reason")

    def _file(self, block):
        (pathlib.Path(self.shell.directory) / block.target).write_text(block.text)

    def _fragment(self, block):
        self.compile_framed(block.target, block.text)
        self._type(f"./{block.target}.program", block.wish(0), block.line)

    def compile_framed(self, name, lines):
        (pathlib.Path(self.shell.directory) / name).write_text(framed(name, lines))
        self._type(compile_line(name), {}, name)

    def run_framed(self, name, line):
        """Runs the program on two ranks, with its own store, which must hold the last version at the end. A first run
        is killed."""
        store = f"store-of-{name}"
        run = f"PERDURE_STORE_PATH={store} mpirun -n 2 --oversubscribe ./{name}.program"
        self._type(f"FRAME_ENDS_AT=950 {run}", {"status": "137"}, line)
        self._type(run, {}, line)
        self._type(f"perdure ls {store}", {"expect": r"^run +1000 +complete"}, line)

    def _run(self, block):
        before = dict(self.shell.environment)
        unused = set(block.wishes) - {0}
        for number, command in commands(block.text):
            self._type(command, block.wish(number), block.line + number - 1)
            unused.discard(number)
        if unused:
            raise Wrong(f"{self.page}:{block.line}: the mark speaks of lines {sorted(unused)}, which are no commands")
        if block.wish(0).get("local"):
            self.shell.environment = before

    def _type(self, command, wish, line):
        begin = time.monotonic()
        print(f"{self.page}:{line}: $ {command}", flush=True)
        status, output = self.shell.type(command, wish.get("kill"), wish.get("after"))
        print(output, end="" if output.endswith("\n") or not output else "\n")
        print(f"  (status {status}, {time.monotonic() - begin:.1f} s)", flush=True)
        if str(status) not in wish.get("status", "0").split(","):
            raise Wrong(f"{self.page}:{line}: `{command}` ended with status {status} instead of {wish.get('status', '0')}")
        if not re.search(wish.get("expect", ""), output, re.MULTILINE):
            raise Wrong(f"{self.page}:{line}: the output of `{command}` does not match '{wish['expect']}'")
        if "until" in wish:
            self._await(os.path.expandvars(wish["until"].replace("~", self.shell.environment["HOME"], 1)), command, line)

    def _await(self, path, command, line):
        deadline = time.monotonic() + PATIENCE_S
        while not os.path.exists(path):
            if time.monotonic() > deadline:
                raise Wrong(f"{self.page}:{line}: `{command}` did not make {path}")
            time.sleep(0.02)  # wait: until PATIENCE_S is over, with a text
