"""Types commands as a user would: in a terminal, one after another; directory and variables persist in between."""
import os
import pathlib
import pty
import re
import select
import shlex
import signal
import subprocess
import time

from blocks import Wrong
from processes import descendants, program_of

PATIENCE_S = 120  # far beyond the need of a loaded machine; far below the test's own limit, which names no command


class Shell:
    def __init__(self, directory, environment, state):
        self.directory = str(directory)
        self.environment = dict(environment)
        self.state = pathlib.Path(state)  # a file in which bash leaves directory and variables
        self.terminals = []               # terminals of commands that left background processes

    def type(self, command, kill=None, after=None):
        """Runs one line; returns (exit status, output). With `kill`, kills one process of that program with SIGKILL as
        soon as the output matches `after`. Without `kill`, presses Ctrl-C then."""
        script = f'{command}\n__status=$?\n{{ pwd; echo "$!"; env -0; }} >{shlex.quote(str(self.state))}\nexit $__status\n'
        master, slave = pty.openpty()
        process = subprocess.Popen(["bash", "-c", script], cwd=self.directory, env=self.environment, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, preexec_fn=_hear_ctrl_c)
        os.close(slave)
        try:
            output = self._follow(process, master, command, kill, after)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        background = self._take_state()
        if background:
            self.terminals.append(master)
        else:
            os.close(master)
        return (process.returncode if process.returncode >= 0 else 128 - process.returncode), output

    def _follow(self, process, terminal, command, kill, after):
        raw, deadline = b"", time.monotonic() + PATIENCE_S
        while True:
            ended = process.poll() is not None  # checked first, because output written before the end is read below
            more = _available(terminal)
            raw += more
            if after and re.search(after, _plain(raw), re.MULTILINE) and _stop(kill, process, ended):
                after = None
            if ended and not more:
                break
            if time.monotonic() > deadline:
                raise Wrong(f"`{command}` did not end within {PATIENCE_S} s; so far:\n{_plain(raw)}")
        if after:
            stopped = f"no process of {kill} was killed" if kill else "Ctrl-C was not pressed"
            raise Wrong(f"`{command}`: {stopped}: it ended before, or the output did not match '{after}':\n{_plain(raw)}")
        return _plain(raw)

    def _take_state(self):
        """Reads the shell's state after a line; a killed shell leaves it unchanged. Returns its background process."""
        if not self.state.exists():
            return ""
        directory, background, variables = self.state.read_text(errors="surrogateescape").split("\n", 2)
        self.state.unlink()
        self.directory = directory
        self.environment = dict(entry.split("=", 1) for entry in variables.split("\0") if "=" in entry)
        return background


def _hear_ctrl_c():
    """Background processes ignore Ctrl-C, and so would all their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _available(terminal):
    """Returns the output that can be read within a moment. A terminal without writers gives an error, which counts as
    no output."""
    if not select.select([terminal], [], [], 0.05)[0]:
        return b""
    try:
        return os.read(terminal, 65536)
    except OSError:
        time.sleep(0.05)  # wait: as long as select() waits where it can
        return b""


def _plain(raw):
    """Returns the text without control sequences that move the cursor."""
    return re.sub("\r|\x1b\\[[0-9;]*[A-Za-z]", "", raw.decode(errors="replace"))


def _waits(pid):
    """Whether bash sleeps. Before bash waits for its command, Ctrl-C ends bash itself; a command may print before that."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] == "S"


def _stop(program, shell, ended):
    """Kills one process of the program, or presses Ctrl-C if no program is named; returns whether it still ran."""
    if program is None:
        if ended or not _waits(shell.pid):
            return False
        os.killpg(shell.pid, signal.SIGINT)
        return True
    for pid in sorted(descendants(shell.pid), reverse=True):
        if os.path.basename(program_of(pid)) == program:
            os.kill(pid, signal.SIGKILL)
            return True
    return False
