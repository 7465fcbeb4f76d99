"""Finds the processes of one test by descent and working directory, and ends them."""
import os
import pathlib
import shutil
import signal
import time


def _link(pid, name):
    try:
        return os.readlink(f"/proc/{pid}/{name}")
    except OSError:
        return ""  # it ended, or belongs to another user


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
    """Returns the processes whose program or working directory is below one of these directories; only this test has
    such processes."""
    prefixes = tuple(f"{directory}/" for directory in directories)
    mine = {os.getpid(), os.getppid()}
    return [pid for pid in _pids()
            if pid not in mine and any((path + "/").startswith(prefixes) for path in (program_of(pid), _link(pid, "cwd")))]


def end_all(directories):
    """Ends these processes by id, in order if they can, and removes the directories."""
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
    for stream in range(3):  # ctest must not wait for this process because of its pipes
        os.dup2(nothing, stream)
    while os.read(lifeline, 1):
        pass
    end_all(directories)


def tidy_up_afterwards(directories):
    """Starts a process that calls end_all() once this one has ended, even if ctest kills it with all its children at a
    time-out. So that process is an orphan. Returns a function that ends this watch and returns once everything is
    cleaned up."""
    lifeline, ours = os.pipe()
    done, janitors = os.pipe()  # closes when the janitor ends
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
