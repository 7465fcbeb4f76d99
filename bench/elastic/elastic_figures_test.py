#!/usr/bin/env python3
"""Tests elastic_figures.py."""
import sys
import unittest

sys.dont_write_bytecode = True  # leaves the user's tree unchanged
import elastic_figures


def cell(none, shared, perdure):
    runs = {"none": none, "shared-file": shared, "perdure": perdure}
    return {"ranks": 2, "rows": 8, "mib": 1,
            "runs": {output: [{"steps_s": one, "stored_s": one} for one in times] for output, times in runs.items()}}


class Figures(unittest.TestCase):
    def test_the_worst_number_of_boxes_counts(self):
        results = [{"boxes": 1, "median_of_ratios": 1.0}, {"boxes": 1000, "median_of_ratios": 1.04}]
        one = elastic_figures.blocking_figure(results, "x")["global_over_local_blocking"]
        self.assertEqual((one["value"], one["reached"]), (1.04, "no"))

    def test_a_goal_that_is_just_met_is_reached(self):
        results = [{"boxes": 1, "median_of_ratios": 1.03}]
        one = elastic_figures.blocking_figure(results, "x")["global_over_local_blocking"]
        self.assertEqual((one["comparison"], one["reached"]), ("<=", "yes"))

    def test_a_restore_is_compared_with_one_on_the_ranks_that_wrote(self):
        cells = [{"writers": 4, "extents": [8, 8], "restore_s": {4: [1, 2, 9], 2: [2, 2, 2], 3: [4, 4, 4]}},
                 {"writers": 4, "extents": [4, 4, 4], "restore_s": {4: [1], 2: [1.4], 3: [1]}}]
        figures = elastic_figures.restore_figures(cells, {(4, 2): "x", (4, 3): "y"})
        self.assertEqual({key: one["value"] for key, one in figures.items()}, {"restore_4_to_2": 1.4, "restore_4_to_3": 2.0})
        self.assertIn("4x4x4", figures["restore_4_to_2"]["reference"].split(":")[-1])

    def test_the_slowest_restore_from_the_store_counts_and_the_most_that_was_read(self):
        def launch(restore_s, read):
            return {"plain_read_s": 1, "restore_s": restore_s, "read_bytes": read, "store_bytes": 100}
        cells = [{"writers": 4, "readers": 2, "launches": [launch(1, 100), launch(2, 101), launch(2, 90)]},
                 {"writers": 2, "readers": 4, "launches": [launch(1, 100)]}]
        one = elastic_figures.store_figure(cells, "x")["store_read_over_plain"]
        self.assertEqual((one["value"], one["reached"], one["read_over_store_bytes"]), (0.5, "no", 1.01))

    def test_increases_are_of_medians_and_what_noise_hides_is_left_out(self):
        cells = [cell([10, 10, 19], [13, 13, 13], [11, 11, 11]), cell([10], [9], [12])]
        one = elastic_figures.stencil_figure(cells, "x")["increase_perdure_over_shared_file"]
        self.assertEqual((one["value"], one["reached"], one["cells_without_a_ratio"]), (0.3333, "yes", 1))
        one = elastic_figures.stencil_figure(cells[1:], "x")["increase_perdure_over_shared_file"]
        self.assertEqual((one["value"], one["reached"]), (None, "no"))

    def test_an_export_that_cannot_be_measured_is_null_with_the_reason(self):
        one = elastic_figures.export_figure("there is no verb", "x")["export_over_plain_hdf5"]
        self.assertEqual((one["value"], one["reason"], one["reached"]), (None, "there is no verb", "no"))
        one = elastic_figures.export_figure([(2, 1), (4, 1), (1, 1)], "x")["export_over_plain_hdf5"]
        self.assertEqual((one["value"], one["reached"]), (0.5, "yes"))

    def test_a_listing_is_the_whole_programs_beside_plain_reading(self):
        one = elastic_figures.listing_figure({"versions": 9, "ls_s": [3, 1, 0.5], "call_s": [0.5], "plain_s": [0.25]}, "x")
        one = one["list_10000_versions_s"]
        self.assertEqual((one["value"], one["reached"], one["over_plain_reading"]), (1, "yes", 4.0))
        self.assertEqual((one["perdure_list_versions_s"], one["call_over_plain_reading"]), (0.5, 2.0))
        one = elastic_figures.listing_figure("there is no perdure", "x")["list_10000_versions_s"]
        self.assertEqual((one["value"], one["reached"]), (None, "no"))


if __name__ == "__main__":
    unittest.main()
