#!/usr/bin/env python3
"""Tests mesh_figures.py."""
import sys
import unittest

sys.dont_write_bytecode = True  # leaves the user's tree unchanged
import mesh_figures

SAID = """ Checkpoints: 2
 The last one, before loop 'reset density0': 18.000 MB, 18.00 % of the state of 100.000 MB; the longest blocked for 3.1 ms
"""


class Figures(unittest.TestCase):
    def test_what_a_program_says_of_its_checkpoint_is_read(self):
        self.assertEqual(mesh_figures.checkpoint_of(SAID), {"fraction": 0.18, "before": "reset density0", "megabytes": 18.0,
                                                            "state_megabytes": 100.0})
        self.assertIsNone(mesh_figures.checkpoint_of(" Checkpoints: 0\n"))

    def test_sizes_are_told_in_arrays_of_the_published_programs(self):
        self.assertEqual(mesh_figures.array_bytes("clover3d", 192), 8 * 196 ** 3)
        self.assertEqual(mesh_figures.array_bytes("tealeaf", 2000), 8 * 2004 ** 2)
        five = {"megabytes": 5 * 8e-6 * 68 ** 3, "before": "reset"}  # five arrays with halos, of 64 cells
        found = mesh_figures.size_figures({"clover3d": (five, 64), "taylor_green": (five, 64)}, "x")
        needed, published = found["size_over_needed"], found["size_over_published"]
        self.assertEqual((needed["value"], needed["reached"]), ({"clover3d": 1.0, "taylor_green": 1.0}, "yes"))
        self.assertAlmostEqual(published["value"]["clover3d"], 5 / 27, 3)
        self.assertAlmostEqual(published["value"]["taylor_green"], 5 / 64, 3)
        self.assertEqual(published["reached"], "no", "18.5 % of 18")

    def test_each_application_has_a_goal_of_its_own(self):
        ten = {"megabytes": 10 * 8e-6 * 68 ** 3, "before": "reset"}  # twice what is needed
        found = mesh_figures.size_figures({"clover3d": (ten, 64), "taylor_green": (ten, 64)}, "x")
        self.assertEqual(found["size_over_needed"]["reached"], "no")
        self.assertEqual(found["size_over_published"]["goal"], {"clover3d": 0.18, "taylor_green": 0.077})
        self.assertEqual(found["size_over_published"]["reached"], "no")

    def test_an_application_without_a_checkpoint_is_named(self):
        for figure in mesh_figures.size_figures({"clover3d": (None, 64)}, "x").values():
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
