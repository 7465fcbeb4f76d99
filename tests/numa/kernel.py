"""Debian's kernel: what the system has in /boot, or its package, unpacked into build/kernel and not installed."""
import glob
import os
import shutil
import subprocess
import tempfile

from machine import Missing

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "build", "kernel")
# They depend on the one of today. The first has what `perdure capture --pre-copy` needs.
PACKAGES = ["linux-image-6.12-cloud-amd64", "linux-image-cloud-amd64", "linux-image-amd64"]


def readable(pattern):
    return sorted(path for path in glob.glob(pattern) if os.access(path, os.R_OK))


def find():
    given = os.environ.get("PERDURE_TEST_KERNEL")
    if given:
        if not os.access(given, os.R_OK):
            raise Missing(f"PERDURE_TEST_KERNEL={given} cannot be read")
        return given
    found = readable(f"{FOLDER}/vmlinuz-*") or fetch() or readable("/boot/vmlinuz-*-amd64")
    if not found:
        raise Missing("there is no kernel: none in /boot, and apt-get cannot fetch " + PACKAGES[0])
    return found[-1]


def said(command, folder=None):
    """Gives the output of a command; nothing when it fails, or waits."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def fetch():
    for package in PACKAGES:
        depends = [line.split()[-1] for line in said(["apt-cache", "depends", package]).splitlines()
                   if "Depends: linux-image-" in line]
        with tempfile.TemporaryDirectory(prefix="perdure-kernel-") as work:
            if not depends or not said(["apt-get", "download", depends[0]], work):
                continue
            for file in readable(f"{work}/*.deb"):
                said(["dpkg-deb", "--extract", file, work])
            images = readable(f"{work}/boot/vmlinuz-*")
            if images:
                os.makedirs(FOLDER, exist_ok=True)
                target = os.path.join(FOLDER, os.path.basename(images[-1]))
                shutil.copy(images[-1], target + ".part")
                os.replace(target + ".part", target)  # another build may do the same now
                return [target]
    return []
