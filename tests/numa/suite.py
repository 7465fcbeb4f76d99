"""Says what a machine is to do, and judges its output."""
import re

MODES = ["keep", "cores", "pages", "none", "reset"]
EVERYDAY = ["keep", "none"]  # each takes seconds where processors are emulated
# Other ways to capture and to resume, after which all is to be where `keep` brings it.
WAYS = ["lazy", "pre-copy", "tree"]
FIRST = "first"  # the image that travels
LEAST = 0.999  # of pages on their nodes

COPIES_AHEAD = (6, 7)  # kernels that tell which pages were written (PAGEMAP_SCAN)
COMMON = """
echo "perdure-numa: kernel $(cat /proc/sys/kernel/osrelease)"
export PERDURE_STORE_PATH=/tmp/store PERDURE_CHUNK_BYTES=4MiB PERDURE_TIER_ORDER=memory
export PERDURE_TIER_MEMORY_PATH=/dev/shm/perdure PERDURE_TIER_MEMORY_MAX_BYTES=128MiB
say() { echo "perdure-numa: $*"; }
show() { say "begin $1"; cat "$2"; say "end $1"; }
# NAME TITLE MODE [OPTION]: resumed in this mode; it writes what is where it was.
resumed() {
  rm -f /tmp/report /tmp/go-$1
  echo /tmp/report > /tmp/go-$1
  PERDURE_AFFINITY=$3 timeout 200 perdure resume $1 $4 > /tmp/resume.log 2>&1
  say "status $1 $2 $?"
  show "notes $1 $2" /tmp/resume.log
  show "report $1 $2" /tmp/report
}
# NAME PROCESS [OPTION]: captured, and ended, when it is ready.
captured() {
  while ! grep -q ready /tmp/ready-$1; do sleep 0.1; done
  show ready /tmp/ready-$1
  perdure capture $2 --name $1 --stop $3 > /tmp/capture.log 2>&1
  say "captured $1 $?"
  show "capture $1" /tmp/capture.log
}
"""

CAPTURE = """
spread /tmp/go-NAME THREADS > /tmp/ready-NAME &
captured NAME $!
"""

# The tree is a shell and its child, which is spread.
OTHER_WAYS = """
resumed NAME lazy keep --lazy
spread /tmp/go-copied THREADS > /tmp/ready-copied &
captured copied $! --pre-copy
resumed copied pre-copy keep
sh -c 'spread /tmp/go-tree THREADS > /tmp/ready-tree & wait' &
captured tree $! --tree
resumed tree tree keep
"""

# A checkpoint that a program makes of its own regions and threads, and restores of it.
REGIONS = """
regions write > /tmp/regions 2>&1
show "regions write" /tmp/regions
again() { regions $2 > /tmp/regions 2>&1; show "regions $1" /tmp/regions; }
again keep read
PERDURE_AFFINITY=none again none read
again touched read-touched
PERDURE_RESTORE_MOVE_PAGES=true again moved read-touched
"""

TESTS = """
test_process --gtest_brief=1 --gtest_filter='RoundTrips*:Tracee*:MemoryPolicies*:Machines*:PageWriters*'
say "tests $?"
"""


def script(threads, modes, travels, tests):
    """`travels`: the image of the first machine is resumed here, too; else this is the first one."""
    name = "here" if travels else FIRST
    text = COMMON
    if travels:
        text += f"tar xf /dev/nvme0n1 -C /tmp\n: > /tmp/ready-{FIRST}\n"
    if not travels:
        text += "echo 5000 > /proc/sys/kernel/ns_last_pid\n"  # so that its numbers are free on the other machines
    text += CAPTURE
    text += "".join(f"resumed NAME {mode} {mode}\n" for mode in modes)
    text += f"resumed {FIRST} keep keep\n" if travels else "tar cf /dev/nvme0n1 -C /tmp store\nsync\n"
    text += OTHER_WAYS
    return text.replace("NAME", name).replace("THREADS", str(threads)) + REGIONS + (TESTS if tests else "")


def image_of(way, name):
    """The image that is brought back in this way, where `name` is that of the modes."""
    return {"pre-copy": "copied", "tree": "tree"}.get(way, name)


def section(output, title):
    found = re.search(rf"perdure-numa: begin {title}\r?\n(.*?)perdure-numa: end {title}", output, re.S)
    return found.group(1) if found else ""


def of(text, key):
    """'key 3 of 4' as numbers."""
    found = re.search(rf"^{key} (\d+) of (\d+)", text, re.M)
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def all_of(text, key):
    some, every = of(text, key)
    return every > 0 and some == every


def share(text, key):
    some, every = of(text, key)
    return some / every if every else 0


def judge_mode(machine, mode, report, several):
    """Texts of what is wrong."""
    wrong = []
    if "content right" not in report:
        wrong.append("its memory has another content")
    if mode in ("keep", "cores", *WAYS) and not all_of(report, "masks_kept"):
        wrong.append(f"masks: {of(report, 'masks_kept')}")
    if mode in ("keep", "pages", *WAYS):
        if share(report, "pages_kept") < LEAST:
            wrong.append(f"pages: {of(report, 'pages_kept')}")
        wrong += [f"policies: {of(report, 'policies_kept')}"] if several and not all_of(report, "policies_kept") else []
        wrong += [f"memory touched later: {line}" for line in re.findall(r"^later_\w+ .*$", report, re.M)
                  if several and not all_of(line, line.split()[0])]
    if mode == "none" and several and share(report, "pages_kept") > 0.9:
        wrong.append(f"the test shows nothing: {of(report, 'pages_kept')} pages without affinity")
    return [f"{machine.name()}, {mode}: {text}" for text in wrong]


def judge_regions(machine, output):
    """Tells what is wrong with checkpoints of the ordinary API."""
    wrong, several = [], machine.nodes > 1
    for title in ["write", "keep", "none", "touched", "moved"]:
        report = section(output, f"regions {title}")
        if "content right" not in report:
            wrong.append(f"{title}: no content, or another one: {report}")
        if title != "none" and not all_of(report, "masks_kept"):
            wrong.append(f"{title}: masks: {of(report, 'masks_kept')}")
        if title in ("write", "keep", "moved") and several and share(report, "pages_kept") < LEAST:
            wrong.append(f"{title}: pages: {of(report, 'pages_kept')}")
        if title in ("none", "touched") and several and share(report, "pages_kept") > 0.9:
            wrong.append(f"{title}: the test shows nothing: {of(report, 'pages_kept')} pages")
        if title == "none" and machine.cpus > 1 and of(report, "masks_kept")[0] > 0:
            wrong.append(f"{title}: masks came back: {of(report, 'masks_kept')}")
    return [f"{machine.name()}, regions, {text}" for text in wrong]


def judge_ways(machine, output):
    """Tells which captures fell back to the ordinary way."""
    wrong = []
    release = re.search(r"perdure-numa: kernel (\d+)\.(\d+)", output)
    if release and (int(release[1]), int(release[2])) >= COPIES_AHEAD and "stood still for all" in section(output, "capture copied"):
        wrong.append(f"pre-copy: {section(output, 'capture copied')}")
    if "and 1 others" not in section(output, "capture tree"):
        wrong.append(f"the tree is none: {section(output, 'capture tree')}")
    return [f"{machine.name()}, {text}" for text in wrong]


def judge(machine, threads, modes, output, travels):
    """Tells what is wrong, and gives rows of the table."""
    wrong, rows = [], []
    name = "here" if travels else FIRST
    several = machine.nodes > 1
    if not re.search("perdure-numa: end(?! )", output):  # the kernel may say that it goes down before the line has ended
        wrong.append(f"{machine.name()}: it did not come to its end")
    for image in (name, "copied", "tree"):
        if f"perdure-numa: captured {image} 0" not in output:
            wrong.append(f"{machine.name()}: a capture failed: {section(output, f'capture {image}')}")
    wrong += judge_ways(machine, output)
    for mode in modes + WAYS:
        image = image_of(mode, name)
        if f"perdure-numa: status {image} {mode} 0" not in output:
            wrong.append(f"{machine.name()}, {mode}: the resume failed, or what was resumed")
        report = section(output, f"report {image} {mode}")
        wrong += judge_mode(machine, mode, report, several)
        rows.append((machine.name(), threads, mode, report))
    if travels:
        report, notes = section(output, f"report {FIRST} keep"), section(output, f"notes {FIRST} keep")
        rows.append((machine.name(), "of the first machine", "keep", report))
        if "content right" not in report or not all_of(report, "local"):
            wrong.append(f"{machine.name()}: of another machine: {of(report, 'local')} pages beside their threads")
        if "this machine is another one: nodes " not in notes:
            wrong.append(f"{machine.name()}: nobody says which nodes were folded: {notes}")
    wrong += judge_regions(machine, output)
    if "perdure-numa: tests" in output and "perdure-numa: tests 0" not in output:
        wrong.append(f"{machine.name()}: unit tests fail there")
    return wrong, rows


def table(rows):
    lines = ["| machine | threads | mode | pages on their node | masks | policies | pages beside their thread |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for name, threads, mode, report in rows:
        cells = [f"{of(report, key)[0]} of {of(report, key)[1]}"
                 for key in ("pages_kept", "masks_kept", "policies_kept", "local")]
        lines.append(f"| {name} | {threads} | `{mode}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)
