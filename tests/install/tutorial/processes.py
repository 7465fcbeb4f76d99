"""Processes of one test: who descends from whom, and the end of all that work in the test's own directories."""
import os
import pathlib
import shutil
import signal
import time


def _link(pid, name):
    try:
        return os.readlink(f"/proc/{pid}/{name}")
    except OSError:
        return ""  # it ended, or is not ours


def program_of(pid):
    return _link(pid, "exe")


def _pids():
    return [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]


def _parent(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def descendants(ancestor):
    parents = {pid: _parent(pid) for pid in _pids()}
    found, grown = {ancestor}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found, grown = found | more, bool(more)
    return found - {ancestor}


def working_in(directories):
    """Processes whose program or working directory is below one of these: nobody else's can be."""
    prefixes = tuple(f"{directory}/" for directory in directories)
    mine = {os.getpid(), os.getppid()}
    return [pid for pid in _pids()
            if pid not in mine and any((path + "/").startswith(prefixes) for path in (program_of(pid), _link(pid, "cwd")))]


def end_all(directories):
    """Ends them by id, in order where they can, and removes the directories."""
    for sign, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
        deadline = time.monotonic() + patience
        asked = set()
        while (left := working_in(directories)) and time.monotonic() < deadline:
            for pid in set(left) - asked:
                asked.add(pid)
                try:
                    os.kill(pid, sign)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)  # wait: until the patience with this signal is over
    for directory in directories:
        shutil.rmtree(directory, ignore_errors=True)


def _wait_and_tidy_up(lifeline, directories):
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):  # ctest shall not wait for us because of its pipes
        os.dup2(nothing, stream)
    while os.read(lifeline, 1):
        pass
    end_all(directories)


def tidy_up_afterwards(directories):
    """Starts a process that does end_all() as soon as this one has ended, however: also when it is killed with all its
    children, as ctest does when time is up. So it is nobody's child. Returns a function that ends that wait and
    returns when all is done."""
    lifeline, ours = os.pipe()
    done, janitors = os.pipe()  # ends with the janitor
    first = os.fork()
    if first == 0:
        try:
            os.close(ours)
            os.close(done)
            os.setsid()
            for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(sign, signal.SIG_IGN)
            if os.fork() == 0:
                _wait_and_tidy_up(lifeline, directories)
        finally:
            os._exit(0)
    os.close(lifeline)
    os.close(janitors)
    os.waitpid(first, 0)

    def finish():
        os.close(ours)
        while os.read(done, 1):
            pass
        os.close(done)
    return finish
