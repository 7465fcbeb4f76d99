#!/usr/bin/env python3
"""Tests speed_figures.py."""
import sys
import unittest

sys.dont_write_bytecode = True  # leaves the user's tree unchanged
import speed_figures
import figures  # bench/redundancy's, found through the import above


def checkpoint(**others):
    return {"bytes_per_rank": 256 << 20, "repetitions": 7, "memcpy_s": 0.02, "blocking_s": 0.024, "restore_s": 0.03, "total_sum_s": 14.0,
            "store_write_sum_s": 20.0, "around_nothing_s": 0.00001, "first_level": "process", **others}


def lost(mode, losses):
    """Returns a run of lost_time with one cell, whose turns with a checkpoint took this much longer than one second."""
    return {"capture": mode, "bytes": 256 << 20, "turns": len(losses), "returned_early": mode == "cow",
            "cells": [{"fraction": 0.01, "order": "random", "undisturbed_s": [1.0] * len(losses), "disturbed_s": [1 + one for one in losses]}]}


def stored(direct_s, buffered_s, cached="nothing"):
    """Returns the output of stored_restore for two ways with these times."""
    return {"ranks": 1, "bytes_per_rank": 256 << 20, "repetitions": len(direct_s),
            "cells": [{"cached": cached, "direct": direct, "restore_s": times, "processor_s": [one / 2 for one in times],
                       "left_in_cache": [0 if direct else 256 << 20]} for direct, times in ((True, direct_s), (False, buffered_s))]}


def beside(direct, memory_s, cache_s, limit=0):
    """Returns a run of interference with steps of one second undisturbed, and these times beside each flush."""
    return {"direct": direct, "max_slowdown": limit, "ranks": 2, "bytes": 256 << 20, "turns": len(memory_s),
            "grid_bytes": {"memory": 128 << 20, "cache": 8 << 20},
            "cells": [{"grid": grid, "undisturbed_s": [1.0] * len(steps), "disturbed_s": steps, "flush_s": [0.25] * len(steps),
                       "lost_s": [0.25 * (step - 1) for step in steps]} for grid, steps in (("cache", cache_s), ("memory", memory_s))]}


class Figures(unittest.TestCase):
    def test_a_small_checkpoint_is_what_it_takes_beyond_a_barrier(self):
        one = checkpoint(bytes_per_rank=4096, blocking_s=0.00009)
        figure = speed_figures.small_figure([{"1": one}], "x")["small_checkpoint_ms"]
        self.assertEqual((figure["value"], figure["goal"], figure["reached"]), ({"1": 0.08}, {"1": 0.08}, "yes"))
        self.assertIn("4 KiB per rank", figure["reference"])

    def test_two_ranks_have_no_goal_for_small_checkpoints_and_a_value(self):
        small = checkpoint(blocking_s=0.00005)
        figure = speed_figures.small_figure([{"1": small, "2": checkpoint(blocking_s=1), "4": small}], "x")["small_checkpoint_ms"]
        self.assertEqual(set(figure["value"]), {"1", "2", "4"})
        self.assertEqual(figure["reached"], "yes")

    def test_copies_are_beside_memcpy_and_what_was_before(self):
        figures_ = speed_figures.copy_figures([{"4": checkpoint()}], "x")
        self.assertEqual(figures_["blocking_over_memcpy"]["value"], {"4": 1.2})
        self.assertEqual(figures_["blocking_over_memcpy"]["reached"], "yes")  # a value that equals its goal
        self.assertEqual((figures_["restore_over_memcpy"]["value"], figures_["restore_over_memcpy"]["reached"]), ({"4": 1.5}, "no"))
        self.assertEqual(figures_["restore_over_memcpy"]["before"]["4"], 1.48)

    def test_of_several_rounds_the_median_counts(self):
        rounds = [{"1": checkpoint(blocking_s=seconds)} for seconds in (0.05, 0.02, 0.03)]
        figure = speed_figures.copy_figures(rounds, "x")["blocking_over_memcpy"]
        self.assertEqual((figure["value"], figure["rounds"]), ({"1": 1.5}, {"1": [2.5, 1.0, 1.5]}))

    def test_durable_is_a_ratio_of_sums_whose_goal_goes_by_what_the_store_can(self):
        key, rounds = "durable_over_plain", [{"1": checkpoint()}]
        self.assertEqual(speed_figures.durable_figure(key, rounds, True, "x")[key]["value"], {"1": 0.7})
        self.assertEqual(speed_figures.durable_figure(key, rounds, True, "x")[key]["goal"], {"1": 0.7})
        refused = speed_figures.durable_figure(key, rounds, False, "x")[key]
        self.assertEqual(refused["goal"], {"1": 1.05})
        self.assertIn("refuses direct I/O", refused["reference"])

    def test_where_nothing_is_protected_there_is_no_figure_of_copies_on_write(self):
        figure = speed_figures.cow_figure([{"1": checkpoint()}], "x")["cow_blocking_over_memcpy"]
        self.assertEqual((figure["value"], figure["reached"]), (None, "no"))
        figure = speed_figures.cow_figure([{"1": checkpoint(blocking_s=0.002, first_level="none")}], "x")["cow_blocking_over_memcpy"]
        self.assertEqual((figure["value"], figure["reached"]), ({"1": 0.1}, "yes"))
        copied = {**lost("cow", [0.1]), "returned_early": False}
        self.assertIsNone(speed_figures.lost_figure({"copy": [lost("copy", [0.1])], "cow": [copied]}, "x")["cow_lost_over_copy_lost"]["value"])

    def test_lost_is_the_median_of_neighbouring_turns_of_all_runs(self):
        runs = {"copy": [lost("copy", [0.04, 0.05]), lost("copy", [0.9])], "cow": [lost("cow", [0.01, 0.0]), lost("cow", [0.01])]}
        figure = speed_figures.lost_figure(runs, "x")["cow_lost_over_copy_lost"]
        self.assertEqual(figure["value"], {"1 % random": 0.2})
        self.assertEqual(figure["copy_lost_ms"], {"1 % random": 50.0})
        self.assertEqual(figure["cow_lost_ms"], {"1 % random": 10.0})
        self.assertEqual(figure["scatter_ms"], {"1 % random": 10.0})
        self.assertEqual(figure["reached"], "yes")
        self.assertIn("| 1 % random | 50.0 | 10.0 | 10.0 |", speed_figures.lost_table(figure))

    def test_of_nothing_that_copy_lost_there_is_no_ratio(self):
        runs = {"copy": [lost("copy", [-0.001])], "cow": [lost("cow", [0.001])]}
        figure = speed_figures.lost_figure(runs, "x")["cow_lost_over_copy_lost"]
        self.assertEqual((figure["value"], figure["reached"], figure["copy_lost_ms"]), (None, "no", {"1 % random": -1.0}))
        self.assertIn("1 % random", figure["reason"])

    def test_a_stored_restore_is_beside_one_through_the_cache(self):
        key = "store_restore_direct_over_buffered"
        figure = speed_figures.stored_figure({"1": stored([0.1, 0.09, 0.3], [0.2, 0.2, 0.1])}, "x")[key]
        self.assertEqual((figure["value"], figure["goal"], figure["reached"]), ({"1, nothing cached": 0.5}, {"1, nothing cached": 1}, "yes"))
        self.assertEqual(figure["then_cached_mib"], {"direct": {"1, nothing cached": 0.0}, "buffered": {"1, nothing cached": 256.0}})
        self.assertIn("| 1, nothing cached | buffered | 200.0 | 100.0 | 256.0 |", speed_figures.stored_table(figure))
        slower = speed_figures.stored_figure({"2": stored([0.11], [0.1], "all")}, "x")[key]
        self.assertEqual((slower["goal"], slower["reached"]), ({"2, all cached": 1.05}, "no"))

    def test_beside_a_flush_direct_has_to_cost_no_more_than_buffered(self):
        runs = [beside(True, [1.2, 1.3], [1.1, 1.1]), beside(False, [1.4, 1.4], [1.2, 1.0]), beside(True, [1.3], [1.1])]
        figure = speed_figures.interference_figure("flush_slowdown", runs, "x")["flush_slowdown"]
        self.assertEqual(figure["value"], {"memory direct": 1.3, "memory buffered": 1.4, "cache direct": 1.1, "cache buffered": 1.1})
        self.assertEqual((figure["goal"], figure["reached"]), ({"memory direct": 1.4, "cache direct": 1.1}, "yes"))
        self.assertEqual(figure["lost_ms"]["memory buffered"], 100.0)
        self.assertIn("| memory direct | - | 1.3 | 0.0 | 250.0 | 75.0 |", speed_figures.interference_table({"flush_slowdown": figure}))
        worse = speed_figures.interference_figure("flush_slowdown", [beside(True, [1.5], [1]), beside(False, [1.4], [1])], "x")["flush_slowdown"]
        self.assertEqual(worse["reached"], "no")

    def test_with_a_limit_that_is_the_goal_of_both(self):
        runs = [beside(True, [1.05], [1.0], 0.1), beside(False, [1.2], [1.1], 0.1)]
        figure = speed_figures.interference_figure("limited_flush_slowdown", runs, "x")["limited_flush_slowdown"]
        self.assertEqual((set(figure["goal"].values()), len(figure["goal"]), figure["reached"]), ({1.1}, 4, "no"))
        self.assertIn("flush.max_slowdown 0.1", figure["reference"])

    def test_flushes_that_nobody_saw_have_no_figure(self):
        figure = speed_figures.interference_figure("flush_slowdown", [beside(True, [1.5], []), beside(False, [1.4], [1])], "x")["flush_slowdown"]
        self.assertEqual((figure["value"], figure["reached"]), (None, "no"))
        self.assertIn("cache direct", figure["reason"])

    def test_the_table_has_a_column_of_what_was_before(self):
        table = figures.markdown(speed_figures.copy_figures([{"1": checkpoint()}], "run"))
        self.assertIn("| before | goal |", table)
        self.assertIn("| 1 1.55, 2 1.42, 4 1.43 | <= 1 1.2 | 1 1.2 | yes | `run` |", table)


if __name__ == "__main__":
    unittest.main()
