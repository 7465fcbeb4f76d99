"""Starts the programs of bench/redundancy/run, and destroys nodes in between."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

# nbody's state is nearly all trajectory: this many bytes per step and rank.
BODIES_PER_RANK = 64
STEP_BYTES = BODIES_PER_RANK * 3 * 8


class Failed(Exception):
    """A program ended otherwise than it should."""


class Launcher:
    """Starts programs of one build; all their files are under one temporary directory per launch."""

    def __init__(self, build, parent):
        self.build, self.parent = build, parent
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("PERDURE_")}
        # Open MPI unloads its plug-ins before the leak check, so their leaks cannot be excluded by name.
        self.environment["ASAN_OPTIONS"] = self.environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        if os.geteuid() == 0:
            self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def program(self, name):
        for folder in ("bench", "bin", "apps"):
            path = self.build / folder / name
            if path.is_file():
                return path
        return None

    def directory(self):
        return tempfile.TemporaryDirectory(prefix="perdure-redundancy-", dir=self.parent, ignore_cleanup_errors=True)

    def words(self, name, arguments, ranks=None):
        path = self.program(name)
        if path is None:
            raise Failed(f"there is no {name} in {self.build}; build it first (make build)")
        launcher = [os.environ.get("PERDURE_TEST_MPIRUN", "mpirun"), "-n", str(ranks), "--oversubscribe"] if ranks else []
        return [*launcher, str(path), *map(str, arguments)]

    def start(self, words, more_environment=None, may_die=False):
        done = subprocess.run(words, env={**self.environment, **(more_environment or {})}, capture_output=True, text=True)
        if done.returncode != 0 and not may_die:
            raise Failed(f"{' '.join(words)} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def json(self, name, arguments, ranks=None):
        """Returns the result of a program that prints one JSON object, and the command that repeats it."""
        words = self.words(name, [*arguments, "--json"], ranks)
        return json.loads(self.start(words)), shown(words[:-1], self.build)

    def json_in_directory(self, name, arguments, ranks):
        return self.json(name, [*arguments, "--directory", self.parent], ranks)


def shown(words, build):
    """Returns a command as a reader of the results would type it in the root of the tree."""
    return " ".join(words).replace(str(build), "build/release").replace(os.environ.get("PERDURE_TEST_MPIRUN", "mpirun"),
                                                                      "mpirun")


def nbody_checkpoint_s(launcher, nodes, scheme, mib, steps):
    """Returns median seconds of a checkpoint until level node, of nbody on `nodes` nodes with one rank each, without
    computation."""
    with launcher.directory() as name:
        memory = pathlib.Path(name)
        (memory / "input.txt").write_text(
            f"bodies = {BODIES_PER_RANK * nodes}\ncompute = 0\nsteps = {steps}\ncheckpoint_every = 1\nreport_every = 0\n"
            f"trajectory_steps = {(mib << 20) // STEP_BYTES}\nwait_for_store = 1\n")
        settings = {
            "PERDURE_STORE_PATH": name + "/store", "PERDURE_NODE_PATH": name, "PERDURE_TIER_ORDER": "memory",
            "PERDURE_NODE_RANKS_PER_NODE": "1", "PERDURE_REDUNDANCY_SCHEME": scheme, "PERDURE_REDUNDANCY_IN_CALL": "true",
            # Two nodes can only lose one. With more parities they would never reach level node.
            "PERDURE_REDUNDANCY_PARITIES": str(min(2, nodes - 1)),
            "PERDURE_RETENTION_KEEP_LAST": "1", "PERDURE_FLUSH_MAX_BANDWIDTH": str(2 * mib << 20)}
        words = launcher.words("nbody", [memory / "input.txt", "--json-stats", memory / "statistics.json"], nodes)
        launcher.start(words, settings)
        statistics = json.loads((memory / "statistics.json").read_text())
    if statistics["failed_checkpoints"] or statistics["checkpoints"] != steps:
        raise Failed(f"nbody with {scheme} on {nodes} nodes: not all checkpoints were made: {statistics}")
    return statistics["blocking_median_s"]


def lose_a_node(launcher, nodes, victim, arguments):
    """Returns the second launch's result: all ranks were killed and the data of `victim` is gone; a spare replaces it."""
    with launcher.directory() as name:
        common = ["--directory", name, *arguments]
        kept = json.loads(launcher.start(launcher.words("rebuild", ["--keep", *common], nodes), may_die=True) or "null")
        if kept is None or len(kept["node_directories"]) != nodes:
            raise Failed(f"the launch that was to be killed did not reach level node: {kept}")
        lost = pathlib.Path(kept["node_directories"][victim])
        if pathlib.Path(name).resolve() not in lost.resolve().parents:
            raise Failed(f"{lost} is not in {name}")
        shutil.rmtree(lost)
        shutil.rmtree(pathlib.Path(name) / "store-rebuild", ignore_errors=True)
        replaced = ",".join(str(nodes if node == victim else node) for node in range(nodes))
        return json.loads(launcher.start(launcher.words("rebuild", [*common, "--nodes", replaced], nodes)))


def fixed_overhead(launcher, size, schemes):
    """Measures how long a version of 4 KiB per rank takes to level node, with two ranks on each node. Returns
    level_node's result and its command."""
    return launcher.json_in_directory("level_node", ["--bytes", "4KiB", "--ranks-per-node", 2, "--repetitions", size["repetitions"],
                                                     "--schemes", ",".join(schemes), "--flush", 0], size["ranks"])


def touch_memory(directory, mebibytes):
    """Makes the system give this much memory to a file, and takes it back: at most half of the free memory."""
    room = os.statvfs(directory)
    block = bytes(1 << 20)
    with tempfile.NamedTemporaryFile(prefix="perdure-touched-", dir=directory) as file:
        for _ in range(min(mebibytes, room.f_bavail * room.f_frsize // 2 >> 20)):
            file.write(block)


def rebuilds(launcher, size, victim, say):
    """Returns {scheme: [result of the second launch]}, of four nodes with one rank each."""
    # A virtual machine may get each page from its host at the first touch. Without this, the first scheme would pay for
    # that. Four nodes have data, expected data, slots and redundancy.
    touch_memory(launcher.parent, 4 * 6 * size["mib"])
    runs = {}
    for scheme in size["schemes"]:
        say(f"  {scheme}, 4 nodes, {size['mib']} MiB each")
        arguments = ["--scheme", scheme, "--bytes", f"{size['mib']}MiB"]
        runs[scheme] = [lose_a_node(launcher, 4, victim, arguments) for _ in range(size["runs"])]
    return runs
