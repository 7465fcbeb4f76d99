"""A machine in QEMU that has our build in its memory, runs one script, and ends."""
import dataclasses
import os
import shutil
import stat
import subprocess

TIMEOUT_S = 1200  # far beyond what a loaded host without KVM needs

# Debian has these everywhere; the script needs them.
TOOLS = ["sh", "mount", "mkdir", "cat", "sleep", "tar", "rm", "ls", "grep", "env", "sync", "timeout"]

INIT = """#!/bin/sh
export PATH=/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
exec </dev/null >/dev/ttyS0 2>&1
echo HUGE > /sys/kernel/mm/transparent_hugepage/enabled  # by itself not below 512 MiB of memory
cd /tmp
. /script
echo perdure-numa: end
echo o > /proc/sysrq-trigger
sleep 100
"""


class Missing(Exception):
    """Something that this system lacks."""


@dataclasses.dataclass
class Machine:
    nodes: int
    cpus: int
    node_mib: int = 256
    huge_pages: str = "madvise"

    def name(self):
        return f"{self.nodes} nodes, {self.cpus} processors" + (", THP always" if self.huge_pages == "always" else "")

    def arguments(self):
        each = self.cpus // self.nodes
        words = ["-smp", str(self.cpus), "-m", str(self.nodes * self.node_mib)]
        for node in range(self.nodes):
            last = self.cpus - 1 if node == self.nodes - 1 else (node + 1) * each - 1
            words += ["-object", f"memory-backend-ram,id=m{node},size={self.node_mib}M",
                      "-numa", f"node,nodeid={node},memdev=m{node},cpus={node * each}-{last}"]
        for one in range(self.nodes):
            for other in range(self.nodes):
                if one != other:
                    near = one // 2 == other // 2  # two in a package
                    words += ["-numa", f"dist,src={one},dst={other},val={16 if near else 32}"]
        return words


def libraries(program):
    """Those that it is linked to: path there, file here."""
    found = {}
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        words = line.split()
        if "=>" in words and words[words.index("=>") + 1].startswith("/"):
            found["lib/" + words[0]] = words[words.index("=>") + 1]
        elif words and words[0].startswith("/"):  # what loads them
            found[words[0].lstrip("/")] = words[0]
    return found


class Archive:
    """cpio, as the kernel takes it for its first file system (newc)."""

    def __init__(self, path):
        self.file = open(path, "wb")  # pylint: disable=consider-using-with
        self.count = 0
        self.folders = set()

    def entry(self, name, mode, content=b""):
        self.count += 1
        fields = [self.count, mode, 0, 0, 1, 1_700_000_000, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        self.file.write(b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0")
        self.file.write(b"\0" * (-self.file.tell() % 4) + content)
        self.file.write(b"\0" * (-self.file.tell() % 4))

    def folder(self, name):
        if name and name not in self.folders:
            self.folder(os.path.dirname(name))
            self.folders.add(name)
            self.entry(name, stat.S_IFDIR | 0o755)

    def program(self, name, content):
        self.folder(os.path.dirname(name))
        self.entry(name, stat.S_IFREG | 0o755, content)

    def close(self):
        self.entry("TRAILER!!!", 0)
        self.file.close()


def stripped(path, work):
    """Without what a debugger needs, which is most of it."""
    target = os.path.join(work, "stripped")
    if shutil.which("strip") and subprocess.run(["strip", "-o", target, path], check=False).returncode == 0:
        path = target
    with open(path, "rb") as file:
        return file.read()


def make_archive(path, programs, script, huge_pages, work):
    archive = Archive(path)
    for folder in ["proc", "sys", "dev", "tmp", "bin", "lib"]:
        archive.folder(folder)
    files = {}
    for tool in TOOLS:
        program = shutil.which(tool)
        if program is None:
            raise Missing(f"there is no program '{tool}'")
        programs = {**programs, tool: os.path.realpath(program)}
    for name, program in programs.items():
        files["bin/" + name] = program
        files.update(libraries(program))
    for name, file in sorted(files.items()):
        archive.program(name, stripped(file, work))
    archive.program("init", INIT.replace("HUGE", huge_pages).encode())
    archive.program("script", script.encode())
    archive.close()


def accelerator():
    """A /dev/kvm that is there may hang, as where the host is a guest itself: who knows better says PERDURE_TEST_KVM=1."""
    kvm = ["-accel", "kvm"] if os.environ.get("PERDURE_TEST_KVM") == "1" else []
    return kvm + ["-accel", "tcg"]


def boot(kernel, machine, programs, script, work, disk):
    """Gives what its console shows. `disk` is its /dev/nvme0n1."""
    qemu = shutil.which("qemu-system-x86_64")
    if qemu is None:
        raise Missing("there is no qemu-system-x86_64 (Debian: qemu-system-x86)")
    archive = os.path.join(work, "initramfs")
    make_archive(archive, programs, script, machine.huge_pages, work)
    if not os.path.exists(disk):
        with open(disk, "wb") as file:
            file.truncate(256 << 20)
    console = os.path.join(work, "console")
    options = "console=ttyS0 quiet panic=-1 numa_balancing=disable"
    command = [qemu, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", f"file:{console}",
               *accelerator(), "-cpu", "max", *machine.arguments(),
               "-drive", f"file={disk},format=raw,if=none,id=disk", "-device", "nvme,drive=disk,serial=perdure",
               "-kernel", kernel, "-initrd", archive, "-append", options]
    said = ""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=TIMEOUT_S, check=False)
        said = done.stderr
    except subprocess.TimeoutExpired:
        said = f"it did not end within {TIMEOUT_S} s\n"
    if not os.path.exists(console):
        return said
    with open(console, encoding="utf-8", errors="replace", newline="") as file:
        return file.read().replace("\r", "") + said
