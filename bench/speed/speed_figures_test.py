#!/usr/bin/env python3
"""Tests of speed_figures.py."""
import sys
import unittest

sys.dont_write_bytecode = True  # the tree is the user's
import speed_figures
import figures  # bench/redundancy's, which that one has found


def checkpoint(**others):
    return {"bytes_per_rank": 256 << 20, "repetitions": 7, "memcpy_s": 0.02, "blocking_s": 0.024, "restore_s": 0.03, "total_sum_s": 14.0,
            "store_write_sum_s": 20.0, "around_nothing_s": 0.00001, "first_level": "process", **others}


def lost(mode, losses):
    """A run of lost_time of one cell in which turns with a checkpoint took so much longer than one second."""
    return {"capture": mode, "bytes": 256 << 20, "turns": len(losses), "returned_early": mode == "cow",
            "cells": [{"fraction": 0.01, "order": "random", "undisturbed_s": [1.0] * len(losses), "disturbed_s": [1 + one for one in losses]}]}


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
        self.assertEqual(figures_["blocking_over_memcpy"]["reached"], "yes")  # a goal that is just met
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

    def test_the_table_has_a_column_of_what_was_before(self):
        table = figures.markdown(speed_figures.copy_figures([{"1": checkpoint()}], "run"))
        self.assertIn("| before | goal |", table)
        self.assertIn("| 1 1.55, 2 1.42, 4 1.43 | <= 1 1.2 | 1 1.2 | yes | `run` |", table)


if __name__ == "__main__":
    unittest.main()
