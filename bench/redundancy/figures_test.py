#!/usr/bin/env python3
"""Tests figures.py."""
import sys
import unittest

sys.dont_write_bytecode = True  # leaves the user's tree unchanged
import figures


def level_node(**ratios):
    return {"settings": {"bytes_per_rank": 64 << 20},
            "schemes": [{"scheme": "single", "blocking_s": 0.001}] +
                       [{"scheme": scheme, "blocking_s": 0.002, "level_node_s": 0.004, "blocking_over_single": ratio,
                         "level_node_over_plain_write": ratio, "level_node_over_plain_sends": ratio}
                        for scheme, ratio in ratios.items()]}


class Figures(unittest.TestCase):
    def test_one_scheme_that_misses_its_goal_makes_the_figure_miss_it(self):
        cells = {"4": [(level_node(buddy=1.79), "x"), (level_node(xor=1.59), "y")]}
        self.assertEqual(figures.level_node_figures(cells)["level_node_over_plain_write_4_nodes"]["reached"], "yes")
        cells = {"4": [(level_node(buddy=1.79, xor=1.61), "x")]}
        self.assertEqual(figures.level_node_figures(cells)["level_node_over_plain_write_4_nodes"]["reached"], "no")

    def test_blocking_may_grow_by_less_than_five_percent(self):
        for ratio, reached in ((1.04, "yes"), (1.05, "no")):
            cells = {"4": [(level_node(buddy=ratio), "x")]}
            self.assertEqual(figures.level_node_figures(cells)["blocking_redundant_over_single"]["reached"], reached)

    def test_the_overhead_counts_until_level_node(self):
        one = figures.overhead_figure(level_node(buddy=1), "x")
        self.assertEqual(one["value"], {"single": 1.0, "buddy": 4.0})
        self.assertEqual(one["blocking_ms"], {"single": 1.0, "buddy": 2.0})

    def test_table_1_takes_the_median_of_the_ratios_of_neighbouring_runs(self):
        one = figures.table_1_figure({"2": {"partner": [4, 9, 2], "buddy": [2, 3, 2]}}, "x")
        self.assertEqual((one["value"], one["reached"]), ({"2": 2.0}, "yes"))

    def test_a_rebuild_is_timed_by_the_report_that_names_the_rank(self):
        reports = ["bench version 1 recovered: rank 0: 0 B rebuilt, 1 B moved, in 9 ms",
                   "bench version 1 recovered: rank 2: 64.0 MiB rebuilt, 0 B moved, in 50 ms"]
        self.assertEqual(figures.rebuilt_ms(reports, 2), 50)
        one = figures.rebuild_figures({"xor": [{"reports": reports, "memcpy_s": 0.025, "restore_s": 0.1}]}, 10 ** 8, 2, "x")
        self.assertEqual(one["rebuild_rate"]["value"], {"xor": 2.0})
        self.assertEqual(one["rebuild_rate"]["over_memcpy"], {"xor": 0.5})
        with self.assertRaises(ValueError):
            figures.rebuilt_ms(reports, 3)

    def test_what_could_not_be_measured_is_null_with_the_reason_and_not_reached(self):
        one = figures.parity_server_figures("it is not built", "x")["parity_server_over_xor_bandwidth"]
        self.assertEqual((one["value"], one["reached"], one["reason"]), (None, "no", "it is not built"))
        self.assertIn("NOT REACHED (it is not built)", figures.text("key", one))

    def test_the_table_shows_what_is_worse_than_its_goal(self):
        one = figures.figure({"xor": 1.5}, {"xor": 2}, unit="GB/s", reference="none", command="run", at_least=True)
        self.assertIn("| `rate` | GB/s; none | >= xor 2 | xor 1.5 | **no** | `run` |", figures.markdown({"rate": one}))
        gone = figures.missing(2, "not built", unit="GB/s", reference="none", command="run")
        self.assertIn("| not built | **no** |", figures.markdown({"rate": gone}))

    def test_a_parity_server_is_judged_beside_both_kinds_of_xor_each_by_both_figures(self):
        result = {"parity_server_over_xor_bandwidth": 2.0, "parity_server_over_xor_members_cpu": 0.1,
                  "parity_server_over_ring_bandwidth": 1.9, "parity_server_over_ring_members_cpu": 0.09}
        every = figures.parity_server_figures(result, "x")
        self.assertEqual([one["reached"] for one in every.values()], ["yes", "no", "no", "yes"])
        self.assertIn("a ring", every["parity_server_over_ring_bandwidth"]["reference"])


if __name__ == "__main__":
    unittest.main()
