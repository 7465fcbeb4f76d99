#!/usr/bin/env python3
"""Tests process_figures.py."""
import sys
import unittest

sys.dont_write_bytecode = True  # leaves the user's tree unchanged
import process_figures


def turn(checkpoint, frozen, restart):
    return {"checkpoint_s": checkpoint, "pre_copy_frozen_s": frozen, "restart_s": restart, "lazy_first_instruction_s": restart / 10,
            "mib": 1024, "threads": 2,
            "plain": {"memcpy_s": 0.1, "write_s": 0.4}}


def mode(kept, restart):
    return {"masks": 3, "masks_kept": 3, "pages": 1000, "pages_kept": kept, "restart_s": restart}


class Figures(unittest.TestCase):
    def test_speed_is_the_median_of_turns_beside_copies_of_each(self):
        figures = process_figures.speed_figures([turn(0.2, 0.01, 0.2), turn(0.3, 0.03, 0.25), turn(0.2, 0.02, 0.9)], "x")
        self.assertEqual([figures[key]["value"] for key in ("checkpoint_s", "frozen_s", "restart_s")], [0.2, 0.02, 0.25])
        self.assertEqual(figures["frozen_s"]["reached"], "yes")
        self.assertIn("2.00 times a memcpy and 0.50 times a write", figures["checkpoint_s"]["reference"])
        self.assertEqual((figures["lazy_first_instruction_s"]["value"], figures["lazy_first_instruction_s"]["goal"]), (0.025, 0.03))

    def test_affinity_is_what_was_kept_of_all(self):
        of = lambda seconds, record: {"checkpoint_s": seconds, "record_bytes": record, "page_bytes": 10_000}
        turns = [{"nodes": 2, "keep": mode(1000, 0.21), "none": mode(400, 0.2), "captured": {"keep": of(0.51, 10), "none": of(0.5, 0)}}]
        figures = process_figures.affinity_figures(turns, "x")
        self.assertEqual(figures["pages_kept"]["value"], 1.0)
        self.assertEqual(figures["pages_kept_agnostic"]["value"], 0.4)
        self.assertEqual((figures["restart_overhead"]["value"], figures["restart_overhead"]["reached"]), (0.05, "no"))
        self.assertEqual((figures["checkpoint_overhead"]["value"], figures["checkpoint_overhead"]["reached"]), (0.02, "yes"))
        self.assertEqual((figures["size_overhead"]["value"], figures["size_overhead"]["reached"]), (0.001, "yes"))

    def test_iterations_are_those_before_and_behind_the_capture(self):
        lines = ["# cg: size 1", *(f"{i:6} 1.5e-01 {0.1 if i <= 3 else 0.2:.6f} s" for i in range(1, 7)), "verified: yes"]
        self.assertEqual(process_figures.before_and_after(lines, 3), (0.1, 0.2))

    def test_a_kernel_is_a_row_with_its_change_as_the_paper_has_it(self):
        one = {"page_bytes": 2**20, "checkpoint_s": 0.1, "frozen_s": 0.1, "restart_s": 0.1, "migrations": 1, "before_s": 0.1,
               "after_s": 0.1}
        table = process_figures.kernel_table({"cg": {"keep": one, "agnostic": {**one, "after_s": 0.4, "migrations": 9}}})
        self.assertIn("| 1 / 9 |", table)
        self.assertIn("75.0 %", table)


if __name__ == "__main__":
    unittest.main()
