"""Tests that the judge of a machine's output notices errors."""
import os
import subprocess
import tempfile
import unittest

import suite
from machine import Archive, Machine


def report(pages="1000 of 1000", masks="4 of 4", policies="9 of 9", later="256 of 256", content="right"):
    return (f"region_bind 256 of 256 policy kept\npages_kept {pages}\nmasks_kept {masks}\npolicies_kept {policies}\n"
            f"local 10 of 10\nlater_bind {later}\ncontent {content}\n")


def of_regions(pages="90 of 90", masks="4 of 4", content="right"):
    return f"pages_kept {pages}\nmasks_kept {masks}\ncontent {content}\n"


def of_tree(processes="process 70 and 1 others"):
    return f"perdure-numa: begin capture tree\r\ntree@1: {processes} with 5 threads\r\nperdure-numa: end capture tree\r\n"


def console(regions=None, **reports):
    """Returns the output of a machine of two nodes; by default it has no errors."""
    regions = {"write": of_regions(), "keep": of_regions(), "none": of_regions("45 of 90", "0 of 4"),
               "touched": of_regions("45 of 90"), "moved": of_regions(), **(regions or {})}
    good = {"keep": report(), "cores": report(pages="300 of 1000", policies="1 of 9"),
            "pages": report(masks="0 of 4"), "none": report(pages="300 of 1000", masks="0 of 4", policies="1 of 9"),
            "reset": report(pages="300 of 1000", masks="0 of 4"), **{way: report() for way in suite.WAYS}}
    text = "".join(f"perdure-numa: captured {image} 0\r\n" for image in ("here", "copied", "tree"))
    text += of_tree()
    text += "".join(f"perdure-numa: status {suite.image_of(mode, 'here')} {mode} 0\r\n" for mode in suite.MODES + suite.WAYS)
    for mode, said in {**good, **reports}.items():
        title = f"report {suite.image_of(mode, 'here')} {mode}"
        text += f"perdure-numa: begin {title}\r\n{said}perdure-numa: end {title}\r\n"
    for title in ["write", "keep", "none", "touched", "moved"]:
        text += f"perdure-numa: begin regions {title}\r\n{regions.get(title)}perdure-numa: end regions {title}\r\n"
    return text + "perdure-numa: end\r\n"


def wrong(text, travels=True):
    """Returns the errors of a machine other than the first, without those about the image that travelled."""
    found = suite.judge(Machine(2, 4), 4, suite.MODES, text, travels)[0]
    return [line for line in found if "nobody says" not in line and "of another machine" not in line]


class Judging(unittest.TestCase):
    def test_finds_nothing_where_all_is_right(self):
        self.assertEqual(wrong(console()), [])

    def test_notices_what_is_not(self):
        for mode, said in [("keep", report(pages="998 of 1000")), ("keep", report(masks="3 of 4")),
                           ("cores", report(masks="3 of 4")), ("pages", report(pages="998 of 1000")),
                           ("keep", report(policies="8 of 9")), ("pages", report(later="255 of 256")),
                           ("lazy", report(pages="998 of 1000")), ("pre-copy", report(masks="3 of 4")),
                           ("tree", report(policies="8 of 9")), ("tree", ""), ("reset", report(content="wrong")), ("none", report(pages="901 of 1000")), ("keep", "")]:
            with self.subTest(mode=mode, said=said):
                found = wrong(console(**{mode: said}))
                self.assertTrue(found)
                self.assertIn(f"2 nodes, 4 processors, {mode}: ", found[0])

    def test_notices_regions_and_threads_that_are_elsewhere(self):
        for title, said in [("write", of_regions("80 of 90")), ("keep", of_regions("80 of 90")),
                            ("keep", of_regions(masks="3 of 4")), ("keep", of_regions(content="wrong")),
                            ("none", of_regions("90 of 90", "0 of 4")), ("none", of_regions("45 of 90", "4 of 4")),
                            ("touched", of_regions("90 of 90")), ("moved", of_regions("80 of 90")), ("moved", "")]:
            with self.subTest(title=title, said=said):
                found = wrong(console(regions={title: said}))
                self.assertTrue(found)
                self.assertIn(f"2 nodes, 4 processors, regions, {title}: ", found[0])

    def test_notices_a_machine_that_ends_early(self):
        self.assertIn("did not come to its end", wrong(console().replace("perdure-numa: end\r\n", ""))[0])
        self.assertEqual(wrong(console().replace("perdure-numa: end\r\n", "perdure-numa: end[   56.7] sysrq: Power Off\r\n")), wrong(console()))

    def test_wants_to_be_told_what_was_folded(self):
        text = console()
        notes = "perdure: this machine is another one: nodes 0, 1: all on node 0\r\n"
        travels = (f"perdure-numa: begin notes first keep\r\n{notes}perdure-numa: end notes first keep\r\n"
                   f"perdure-numa: begin report first keep\r\n{report()}perdure-numa: end report first keep\r\n")
        judged = lambda said: suite.judge(Machine(2, 4), 4, suite.MODES, said, True)[0]  # noqa: E731
        self.assertEqual(judged(travels + text), [])
        self.assertIn("nobody says", judged(travels.replace(notes, "") + text)[0])
        self.assertIn("beside their threads", judged(travels.replace("local 10", "local 9") + text)[0])

    def test_notices_captures_and_resumes_that_fail(self):
        for image in ("here", "copied", "tree"):
            said = console().replace(f"captured {image} 0", f"captured {image} 3")
            self.assertIn("a capture failed", wrong(said)[0])
        self.assertIn("keep: the resume failed", wrong(console().replace("here keep 0", "here keep 3"))[0])
        self.assertIn("lazy: the resume failed", wrong(console().replace("here lazy 0", "here lazy 3"))[0])
        alone = ("perdure-numa: begin capture copied\r\nperdure: it stood still for all of its pages: ...\r\n"
                 "perdure-numa: end capture copied\r\n")
        self.assertEqual(wrong("perdure-numa: kernel 6.1.0-57\r\n" + alone + console()), [])
        self.assertIn("stood still", wrong("perdure-numa: kernel 6.12.117\r\n" + alone + console())[0])
        self.assertIn("the tree is none", wrong(console().replace(of_tree(), of_tree("process 70")))[0])

    def test_notices_unit_tests_that_fail(self):
        self.assertEqual(wrong("perdure-numa: tests 0\r\n" + console()), [])
        self.assertIn("unit tests", wrong("perdure-numa: tests 1\r\n" + console())[0])


class Tables(unittest.TestCase):
    def test_have_a_row_for_each_mode(self):
        rows = suite.judge(Machine(2, 4), 4, suite.MODES, console(), True)[1]
        lines = suite.table(rows).splitlines()
        self.assertEqual(len(lines), 3 + len(suite.MODES) + len(suite.WAYS))
        self.assertIn("| 2 nodes, 4 processors | 4 | `keep` | 1000 of 1000 | 4 of 4 | 9 of 9 | 10 of 10 |", lines)


class Machines(unittest.TestCase):
    def test_share_their_processors_among_their_nodes(self):
        words = " ".join(Machine(3, 8).arguments())
        for cpus in ["nodeid=0,memdev=m0,cpus=0-1", "nodeid=1,memdev=m1,cpus=2-3", "nodeid=2,memdev=m2,cpus=4-7"]:
            self.assertIn(cpus, words)
        self.assertIn("dist,src=0,dst=2,val=32", words)


class Archives(unittest.TestCase):
    def test_are_such_as_cpio_reads(self):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "archive")
            archive = Archive(path)
            archive.program("bin/one", b"12345")
            archive.close()
            with open(path, "rb") as file:
                content = file.read()
            self.assertEqual(content.count(b"070701"), 3)  # folder, file, end
            self.assertEqual(len(content) % 4, 0)
            try:
                listed = subprocess.run(["cpio", "-it", "--quiet"], input=content, capture_output=True, check=True)
            except OSError:
                return  # this system has no cpio
            self.assertEqual(listed.stdout.decode().split(), ["bin", "bin/one"])


if __name__ == "__main__":
    unittest.main()
