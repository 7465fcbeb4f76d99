#!/usr/bin/env python3
"""Tests peers_figures.py."""
import sys
import unittest

sys.dont_write_bytecode = True  # leaves the user's tree unchanged
import peers_figures


def times(blocking, **others):
    """Returns times as the program prints them: 1 s each by default."""
    keys = ("memcpy", "fresh_write", "store_write", "stored", "durable", "restore")
    return {"blocking": blocking, **{key: others.get(key, [1.0] * len(blocking)) for key in keys}}


def run(column, blocking, ranks=1, kind="large", round_=0, **others):
    return {"column": column, "kind": kind, "ranks": ranks, "round": round_,
            "result": {"system": column, "times_s": times(blocking, **others)}}


SIZE = {"bytes": 256 << 20, "small_bytes": 4096}


def cells(runs, figure, ranks=1):
    return next(one["cells"] for one in peers_figures.rows(runs, SIZE) if (one["figure"], one["ranks"]) == (figure, ranks))


class Figures(unittest.TestCase):
    def test_each_repetition_is_compared_with_what_was_measured_beside_it(self):
        runs = [run("perdure", [2, 4, 9], memcpy=[1, 4, 3])]
        self.assertEqual(cells(runs, "blocking / memcpy")["perdure"]["median"], 2)

    def test_a_cell_is_the_median_of_the_rounds_with_the_smallest_and_the_largest(self):
        runs = [run("scr", [seconds], round_=number) for number, seconds in enumerate((5, 3, 9))]
        self.assertEqual(cells(runs, "blocking / memcpy")["scr"], {"median": 5, "min": 3, "max": 9, "rounds": 3})

    def test_sums_are_over_all_repetitions_of_all_rounds(self):
        runs = [run("veloc", [1, 1], durable=[2, 2], store_write=[1, 3]), run("veloc", [1, 1], durable=[8, 4], store_write=[2, 2], round_=1)]
        self.assertEqual(cells(runs, "durable / write + fsync, sums over all repetitions")["veloc"]["median"], 2)

    def test_small_and_large_runs_and_numbers_of_ranks_are_kept_apart(self):
        runs = [run("perdure", [0.5]), run("perdure", [0.25], ranks=4), run("perdure", [0.001], ranks=4, kind="small")]
        self.assertEqual(cells(runs, "blocking, ms")["perdure"]["median"], 500)
        self.assertEqual(cells(runs, "blocking, ms", 4)["perdure"]["median"], 250)
        self.assertEqual(cells(runs, "4 KiB per rank: blocking, ms", 4)["perdure"]["median"], 1)
        self.assertFalse(any(one["ranks"] == 1 and one["figure"].startswith("4 KiB") for one in peers_figures.rows(runs, SIZE)))

    def test_systems_take_turns_and_every_second_round_begins_from_behind(self):
        order = peers_figures.turns(["a", "b"], [1, 2], 2)
        self.assertEqual([f"{number}{count}{column}" for number, count, column in order],
                         ["01a", "01b", "02a", "02b", "11b", "11a", "12b", "12a"])

    def test_what_the_program_was_built_without_becomes_a_line(self):
        columns, missing = peers_figures.available(["perdure", "scr"], list(peers_figures.COLUMNS))
        self.assertEqual(columns, ["perdure", "perdure-daemon", "perdure-cow", "scr"])
        self.assertEqual([line.split(":")[0] for line in missing], ["VeloC", "FTI"])
        self.assertIn("-DVELOC_ROOT=", missing[0])
        self.assertEqual(peers_figures.available(["perdure"], ["perdure"]), (["perdure"], []))

    def whole(self):
        runs = [run("perdure", [1.5]), run("perdure", [1.7], round_=1), run("scr", [200.4]), run("perdure", [1.0], kind="small")]
        return {"rows": peers_figures.rows(runs, SIZE), "missing": ["FTI: not found on this machine"],
                "settings": {**SIZE, "repetitions": 1, "rounds": 2}}

    def test_the_table_has_columns_of_what_was_measured_and_lines_for_the_rest(self):
        text = peers_figures.markdown(self.whole())
        self.assertIn("| figure | ranks | Perdure | SCR |\n| --- | --- | --- | --- |\n", text)
        self.assertIn("| blocking / memcpy | 1 | 1.6 (1.5 to 1.7) | 200 |", text)
        self.assertIn("| 4 KiB per rank: blocking, ms | 1 | 1000 | - |", text)
        self.assertIn("- FTI: not found on this machine", text)
        self.assertIn("256 MiB per rank unless said, 1 repetition after one to warm up, 2 rounds", text)
        self.assertNotIn("VeloC", text)

    def test_the_table_says_how_many_runs_began_beside_others(self):
        self.assertNotIn("used the processors", peers_figures.markdown(self.whole()))
        whole = {**self.whole(), "busy_runs": 1, "runs": [None] * 4}
        self.assertIn("1 run of 4 began while others used", peers_figures.markdown(whole))

    def test_a_result_lacks_nothing_only_if_every_repetition_was_timed_in_order(self):
        good = {"system": "scr", "times_s": times([0.5, 0.5])}
        self.assertIsNone(peers_figures.defect(good, 2))
        self.assertIn("memcpy", peers_figures.defect(good, 3))
        bad = {"system": "scr", "times_s": times([0.5, 0.5], stored=[0.4, 0.5])}
        self.assertIn("do not follow", peers_figures.defect(bad, 2))


if __name__ == "__main__":
    unittest.main()
