"""Chooses the tests of whole systems that judge mutants which no unit test notices, and limits their time."""
from . import running

PROGRAM = "spine_tests"
# Suites about ordinary events of a job. Left out are suites that draw by chance, try everything (crash points, losses),
# count threads or bytes, or need hosts.
SUITES = ("ClockJumps", "Completed", "DaemonHandles", "DaemonMistakes", "Disagreement", "EngineRestart", "EngineThatEnds", "FieldMistakes", "FourNodes", "Handles",
          "LastVersion", "ManyRegions", "MissingTierOfFour", "MissingTiers", "NodeLoss", "OrderlyClose", "RemovedStore", "RemovedStoreOfALeftEngine", "Replace", "ReplaceAlone", "Restart", "Retention",
          "Rewind", "Settlement", "SmallNodes", "SmallTiers", "Store", "StoreDamage", "ThreeNodes", "TierDamage", "TierFaults", "TwoLaunches", "UnreachableStore",
          "WentBack", "WrongUse")
LONGEST_TEST = 10  # seconds: a longer one judges nothing
LONGEST = 40  # seconds for one mutant, by its tests' usual times
AT_ONCE = 2  # per processor: they wait more than they compute


def tests_of(program):
    """`Modes/Restart.AKilledRank/embedded` belongs to suite Restart."""
    return [test for test in running.tests_of(program) if test.split(".")[0].rpartition("/")[2] in SUITES]


def affordable(tests):
    """Returns the quickest of the tests that reach a mutant, as many as fit into the time."""
    chosen, total = [], 0.0
    for test in sorted(tests, key=lambda test: test[2]):
        if test[2] > LONGEST_TEST or total + test[2] > LONGEST:
            break
        chosen.append(test)
        total += test[2]
    return chosen


def judge(number, tests):
    """Runs one test at a time: one that hangs only uses its own limit."""
    return running.judge_by(number, [(program, [name], seconds) for program, name, seconds in tests])
