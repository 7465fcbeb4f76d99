"""Which tests of whole systems judge the mutants that no unit test notices, and for how long."""
from . import running

PROGRAM = "spine_tests"
# What a job meets on its way through its life. Left out: what draws by chance, tries everything (crash points, losses), counts threads or bytes, or needs hosts.
SUITES = ("ClockJumps", "Completed", "DaemonHandles", "DaemonMistakes", "Disagreement", "EngineRestart", "EngineThatEnds", "FieldMistakes", "FourNodes", "Handles",
          "LastVersion", "ManyRegions", "MissingTierOfFour", "MissingTiers", "NodeLoss", "OrderlyClose", "RemovedStore", "RemovedStoreOfALeftEngine", "Replace", "ReplaceAlone", "Restart", "Retention",
          "Rewind", "Settlement", "SmallNodes", "SmallTiers", "Store", "StoreDamage", "ThreeNodes", "TierDamage", "TierFaults", "TwoLaunches", "UnreachableStore",
          "WentBack", "WrongUse")
LONGEST_TEST = 10  # seconds: one that takes longer judges nothing
LONGEST = 40  # seconds for one mutant, as its tests take without any
AT_ONCE = 2  # per processor: they wait more than they compute


def tests_of(program):
    """`Modes/Restart.AKilledRank/embedded` is of suite Restart."""
    return [test for test in running.tests_of(program) if test.split(".")[0].rpartition("/")[2] in SUITES]


def affordable(tests):
    """The quickest of the tests that reach a mutant, as many as there is time for."""
    chosen, total = [], 0.0
    for test in sorted(tests, key=lambda test: test[2]):
        if test[2] > LONGEST_TEST or total + test[2] > LONGEST:
            break
        chosen.append(test)
        total += test[2]
    return chosen


def judge(number, tests):
    """One test at a time: one that hangs costs its own limit only."""
    return running.judge_by(number, [(program, [name], seconds) for program, name, seconds in tests])
