"""Runs test programs of a mutated tree: finds which tests reach which mutant, and whether they notice one that is on."""
import ctypes
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
MOST_MEMORY = 8 << 30
MOST_FILE = 8 << 30
LONGEST_TEST = 120  # seconds, as for ctest
FAILED = re.compile(r"^\[  FAILED  \] ([\w/.]+)", re.M)


class Worker:
    """Runs tests one after the other. Every worker is a process with its own directory, and ends processes that its
    tests left running."""

    def __init__(self, base):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.home = pathlib.Path(base) / f"w{os.getpid()}"
        os.chmod(base, 0o711)  # some tests have children of another user

    def run(self, program, tests, limit, mutant=0, reached=0):
        """Returns (status, seconds, output, reached numbers). Status: 0 good, "late" after the limit, else the exit
        status."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        env = {**os.environ, "PERDURE_TEST_DIRECTORY": str(self.home), "PERDURE_TEST_MUTANT": str(mutant)}
        marks = self.home / "reached"
        if reached:
            marks.write_bytes(bytes(reached + 1))
            env["PERDURE_TEST_MUTANTS_REACHED"] = str(marks)
        command = [program, "--gtest_brief=1", "--gtest_fail_fast", "--gtest_filter=" + ":".join(tests)]
        begin = time.monotonic()
        with open(self.home / "said", "w+b") as said:
            process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=self.home, start_new_session=True,
                                       preexec_fn=limits)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = "late"
            self.end_all(process)
            said.seek(0)
            text = said.read().decode(errors="replace")
        seconds = time.monotonic() - begin
        numbers = [n for n, mark in enumerate(marks.read_bytes()) if mark] if reached else []
        shutil.rmtree(self.home, ignore_errors=True)
        return status, seconds, text, numbers

    def end_all(self, process):
        """Processes that the program started are this process's children by now, or will be when their parent has
        ended."""
        if process.poll() is None:
            process.kill()
            process.wait()
        while children := own_children():
            for child in children:
                try:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                except (ProcessLookupError, ChildProcessError):
                    pass


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_FILE, MOST_FILE))


def own_children():
    mine, found = str(os.getpid()), []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[1] == mine:
            found.append(int(stat.parent.name))
    return found


worker = None


def begin_worker(base):
    global worker
    worker = Worker(base)


def tests_of(program):
    """Returns the names of its tests, as a filter takes them."""
    said = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    names, suite = [], ""
    for line in said.splitlines():
        word = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = word if word.endswith(".") else ""
        elif suite and word:
            names.append(suite + word)
    return names


def measure(program, test, count):
    for _ in range(2):  # a test is not left out because the machine is busy
        status, seconds, _, reached = worker.run(program, [test], LONGEST_TEST, reached=count)
        if status == 0:
            break
    return program, test, status, seconds, reached


def batches(tests):
    """Returns the quick tests first: (program, names, seconds). `tests`: (program, name, seconds), the nearest program
    first."""
    programs = list(dict.fromkeys(program for program, _, _ in tests))
    budgets, begin = (1, 8, float("inf")), {program: 0 for program in programs}
    own = {program: sorted([t for t in tests if t[0] == program], key=lambda t: t[2]) for program in programs}
    for budget in budgets:
        for program in programs:
            names, total = [], 0.0
            for _, name, seconds in own[program][begin[program] :]:
                if names and total + seconds > budget:
                    break
                names.append(name)
                total += seconds
            begin[program] += len(names)
            if names:
                yield program, names, total


def judge(number, tests):
    return judge_by(number, batches(tests))


def judge_by(number, runs):
    """Returns (number, verdict, by whom): "failed" or "late" if a test noticed it, else "survived". `runs`: (program,
    names, seconds)."""
    for program, names, seconds in runs:
        for _ in range(2):  # a test that failed by chance has noticed nothing
            status, _, said, _ = worker.run(program, names, 15 + 6 * seconds, mutant=number)
            if status == 0:
                break
        if status == "late":
            return number, "late", pathlib.Path(program).name
        if status != 0:
            first = FAILED.search(said)
            return number, "failed", f"{pathlib.Path(program).name}: {first.group(1) if first else f'ended with {status}'}"
    return number, "survived", ""
