#!/usr/bin/env python3
"""Checks the metrics that a command prints: Prometheus' own client library must read them.

check_metrics.py [--engines N] [--save FILE] [--since FILE] COMMAND [EXPECTATION...]

Runs COMMAND (one argument). Beyond the library's checks, every sample must belong to a family with help and type. None
may appear twice, and buckets must be cumulative and end with the count.

EXPECTATION is NAME=VALUE, NAME>=VALUE, or NAME{LABEL=VALUE,...}=VALUE. It must hold for each engine, that is, for every
sample of that name with these labels; there must be at least one. --engines N: N engines with N different nodes must
answer. --save FILE saves the counters; --since FILE: no counter saved there may be missing or lower.
"""
import argparse
import json
import re
import shlex
import subprocess
import sys

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError as error:
    sys.exit(f"FAILED: {error}; install Debian's python3-prometheus-client (tools/bootstrap), for {sys.executable}")


def fail(text):
    sys.exit("FAILED: " + text)


def read(text):
    """Returns all samples by name and labels, and the names of counters."""
    samples, counters = {}, set()
    for family in text_string_to_metric_families(text):
        if not family.documentation or family.type not in ("counter", "gauge", "histogram"):
            fail(f"{family.name} has type '{family.type}' and help '{family.documentation}'")
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            if key in samples:
                fail(f"{key} is there twice")
            samples[key] = sample.value
            if family.type == "counter" or sample.name.endswith(("_bucket", "_count", "_sum")):
                counters.add(key)
        if family.type == "histogram":
            check_buckets(family)
    return samples, counters


def check_buckets(family):
    buckets, counts = {}, {}
    for sample in family.samples:
        labels = tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le"))
        if sample.name.endswith("_bucket"):
            buckets.setdefault(labels, []).append((float(sample.labels["le"]), sample.value))
        elif sample.name.endswith("_count"):
            counts[labels] = sample.value
    if not buckets or buckets.keys() != counts.keys():
        fail(f"{family.name}: {len(buckets)} sets of buckets, {len(counts)} counts")
    for labels, found in buckets.items():
        bounds, values = zip(*found)
        if list(bounds) != sorted(bounds) or list(values) != sorted(values):
            fail(f"{family.name}{labels}: its buckets are not cumulative: {found}")
        if bounds[-1] != float("inf") or values[-1] != counts[labels]:
            fail(f"{family.name}{labels}: its last bucket {found[-1]} is not its count {counts[labels]}")


def expect(samples, expectation):
    match = re.fullmatch(r"(\w+)(?:\{(.*)\})?(>?=)([-+.\w]+)", expectation)
    if not match:
        fail(f"'{expectation}' is no expectation")
    name, wanted, relation, value = match.groups()
    labels = dict(part.split("=") for part in wanted.split(",")) if wanted else {}
    found = [v for (n, l), v in samples.items() if n == name and labels.items() <= dict(l).items()]
    good = [v == float(value) if relation == "=" else v >= float(value) for v in found]
    if not found or not all(good):
        fail(f"expected {expectation}, found {found}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engines", type=int, default=1)
    parser.add_argument("--save")
    parser.add_argument("--since")
    parser.add_argument("command")
    parser.add_argument("expectations", nargs="*")
    arguments = parser.parse_args()
    ran = subprocess.run(shlex.split(arguments.command), capture_output=True, timeout=60, check=False)
    # A complaint about a slow engine is no fault of the text; whether all engines are up is checked below.
    sys.stderr.write(ran.stderr.decode(errors="replace"))
    if ran.returncode != 0:
        fail(f"{arguments.command} ended with {ran.returncode}")
    samples, counters = read(ran.stdout.decode("utf-8"))
    nodes = {dict(l).get("node") for (n, l) in samples if n == "perdure_engine_up"}
    expect(samples, f"perdure_engines={arguments.engines}")
    expect(samples, "perdure_engine_up=1")
    if len(nodes) != arguments.engines:
        fail(f"{arguments.engines} nodes were expected, found {nodes}")
    for expectation in arguments.expectations:
        expect(samples, expectation)
    if arguments.since:
        for name, labels, value in json.load(open(arguments.since, encoding="utf-8")):
            key = (name, tuple(tuple(label) for label in labels))
            if not samples.get(key, -1) >= value:
                fail(f"{key} was {value}, is {samples.get(key)}")
    if arguments.save:
        with open(arguments.save, "w", encoding="utf-8") as file:
            json.dump([(n, l, samples[n, l]) for (n, l) in counters], file)


if __name__ == "__main__":
    main()
