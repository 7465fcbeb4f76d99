#!/usr/bin/env python3
"""Tests of mesh_figures.py."""
import sys
import unittest

sys.dont_write_bytecode = True  # the tree is the user's
import mesh_figures

SAID = """ Checkpoints: 2
 The last one, before loop 'reset density0': 18.000 MB, 18.00 % of the state of 100.000 MB; the longest blocked for 3.1 ms
"""


class Figures(unittest.TestCase):
    def test_what_a_program_says_of_its_checkpoint_is_read(self):
        self.assertEqual(mesh_figures.checkpoint_of(SAID), {"fraction": 0.18, "before": "reset density0", "megabytes": 18.0,
                                                            "state_megabytes": 100.0})
        self.assertIsNone(mesh_figures.checkpoint_of(" Checkpoints: 0\n"))

    def test_each_application_has_a_goal_of_its_own(self):
        one = mesh_figures.checkpoint_of(SAID)
        figure = mesh_figures.size_figure({"clover3d": one}, "x")["size_over_state"]
        self.assertEqual((figure["value"], figure["reached"]), ({"clover3d": 0.18}, "yes"))
        figure = mesh_figures.size_figure({"clover3d": one, "tealeaf": one}, "x")["size_over_state"]
        self.assertEqual(figure["reached"], "no")

    def test_an_application_without_a_checkpoint_is_named(self):
        figure = mesh_figures.size_figure({"clover3d": None}, "x")["size_over_state"]
        self.assertIsNone(figure["value"])
        self.assertIn("clover3d", figure["reason"])

    def test_ratios_are_those_of_medians_and_the_worst_back_end_counts(self):
        figure = mesh_figures.speed_figure({"serial": [(1, 1), (9, 1), (1, 1)], "2 ranks": [(2.4, 2)]}, "8x8", "x")["mesh_over_plain"]
        self.assertEqual((figure["value"], figure["reached"]), ({"serial": 1.0, "2 ranks": 1.2}, "no"))

    def test_overhead_is_what_comes_on_top(self):
        figure = mesh_figures.tracking_figure([(1.004, 1)], "8x8", "x")["tracking_overhead"]
        self.assertEqual((figure["value"], figure["reached"]), ({"clover2d": 0.004}, "yes"))

    def test_blocking_is_the_median_of_ratios(self):
        one = {"ranks": 2, "bytes_per_rank": 1 << 20, "blocking_s": [1, 3, 9], "copy_s": [1, 2, 1]}
        self.assertEqual(mesh_figures.blocking_figure([one], "x")["blocking_over_copy"]["value"], {"2 ranks": 1.5})

    def test_a_restart_is_compared_with_the_run_that_computed(self):
        launches = {"replay": ({"seconds": 10, "step": 5}, [{"seconds": 1}, {"seconds": 0.5}, {"seconds": 9}])}
        figure = mesh_figures.speedup_figure(launches, "x")["fast_forward_speedup"]
        self.assertEqual((figure["value"], figure["reached"], figure["comparison"]), ({"replay": 10}, "yes", ">="))


if __name__ == "__main__":
    unittest.main()
