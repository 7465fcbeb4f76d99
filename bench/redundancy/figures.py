"""Compares the results of bench/redundancy/run with their goals. Pure: results of the programs in, figures out."""
import re
import statistics

PAPER_TABLE_1 = {"2": 1.95, "4": 1.62, "8": 1.18, "16": 1.34}
LEVEL_NODE_GOALS = {"partner": 2.5, "buddy": 1.8, "xor": 1.6, "reed-solomon": 2.2}
REBUILD_GOALS = {"xor": 2.0, "buddy": 2.0, "reed-solomon": 1.2}
REDUNDANT = ("partner", "buddy", "xor", "reed-solomon")


def reaches(value, goal, at_least):
    return value >= goal if at_least else value < goal


def pairs_of(value, goal):
    """Returns pairs of a value and its goal. Both are numbers, or objects with the same keys, where some may have no
    goal."""
    return [(value[key], goal[key]) for key in goal] if isinstance(goal, dict) else [(value, goal)]


def figure(value, goal, *, unit, reference, command, at_least):
    """`value` and `goal` are numbers, or objects with the same keys; all of them must be reached. Figures without a
    value are made by missing()."""
    return {"value": value, "unit": unit, "reference": reference, "goal": goal,
            "comparison": ">=" if at_least else "<",
            "reached": "yes" if all(reaches(one, wanted, at_least) for one, wanted in pairs_of(value, goal)) else "no",
            "command": command}


def at_most(value, goal, **others):
    """A value that equals its goal reaches it."""
    one = figure(value, goal, at_least=False, **others)
    return {**one, "comparison": "<=", "reached": "yes" if all(one <= wanted for one, wanted in pairs_of(value, goal)) else "no"}


def missing(goal, why, **others):
    return {"value": None, "goal": goal, "reached": "no", "reason": why, **others}


def rounded(values):
    return {key: round(value, 4) for key, value in values.items()}


def of_schemes(results, key):
    by_name = {one["scheme"]: one for result in results for one in result["schemes"]}
    return rounded({scheme: by_name[scheme][key] for scheme in REDUNDANT if scheme in by_name})


def level_node_figure(key, goals, reference, cell):
    """`cell`: [(result of level_node, command)], each with other schemes."""
    ratios = of_schemes([result for result, _ in cell], key)
    return figure(ratios, {scheme: goals[scheme] for scheme in ratios}, unit="time ratio", at_least=False,
                  reference=reference, command="; ".join(command for _, command in cell))


def size_of(nodes, cell):
    return f"{cell[0][0]['settings']['bytes_per_rank'] >> 20} MiB per rank, {nodes} single-rank nodes"


def over_plain_write(nodes, cell):
    return level_node_figure("level_node_over_plain_write", LEVEL_NODE_GOALS,
                             "a plain write of the same bytes to fresh files in the same memory file system; "
                             + size_of(nodes, cell), cell)


def level_node_figures(cells):
    """`cells`: {"4": [(result, command)], "8": ...} by number of nodes."""
    figures = {}
    for nodes, cell in cells.items():
        figures[f"level_node_over_plain_write_{nodes}_nodes"] = over_plain_write(nodes, cell)
        figures[f"level_node_over_plain_sends_{nodes}_nodes"] = level_node_figure(
            "level_node_over_plain_sends", dict.fromkeys(REDUNDANT, 3.0),
            "MPI sends of the same bytes to the next node; " + size_of(nodes, cell), cell)
    figures["blocking_redundant_over_single"] = level_node_figure(
        "blocking_over_single", dict.fromkeys(REDUNDANT, 1.05),
        "the checkpoint call with scheme single, in turn within each repetition; " + size_of("4", cells["4"]), cells["4"])
    return figures


def overhead_figure(result, command):
    schemes = {one["scheme"]: one for one in result["schemes"]}
    until = {name: one.get("level_node_s", one["blocking_s"]) * 1e3 for name, one in schemes.items()}
    one = figure(rounded(until), dict.fromkeys(until, 5.0), unit="ms", command=command, at_least=False,
                 reference="8 ranks, 4 nodes, 4 KiB per rank: from the call until level node (single: until it returns); "
                           "the paper's SCR took 125 ms")
    one["blocking_ms"] = rounded({name: entry["blocking_s"] * 1e3 for name, entry in schemes.items()})
    return one


def kernel_figures(result, command):
    goals = {"xor_over_memcpy": 0.6, "rs_8_2_over_memcpy": 0.6, "xor_decode_over_memcpy": 0.5,
             "rs_8_2_decode_over_memcpy": 0.5}
    return {key: figure(round(result[key], 4), goal, unit="rate ratio", command=command, at_least=True,
                        reference="memcpy of the same bytes on one core, in turn") for key, goal in goals.items()}


def table_1_figure(times, command):
    """`times`: {nodes: {scheme: [seconds of a checkpoint until level node, one per run]}}; runs alternate."""
    ratios = {nodes: statistics.median(a / b for a, b in zip(of["partner"], of["buddy"])) for nodes, of in times.items()}
    goals = {nodes: PAPER_TABLE_1[nodes] for nodes in ratios}
    one = figure(rounded(ratios), goals, unit="time ratio by number of nodes", command=command, at_least=True,
                 reference="nbody without computation (Table 1 of D5.4), checkpoints until level node inside the call")
    one["medians_s"] = {nodes: rounded({scheme: statistics.median(all_) for scheme, all_ in of.items()})
                        for nodes, of in times.items()}
    return one


def rebuilt_ms(reports, rank):
    """Returns how long the engine of `rank` took to rebuild everything, from Perdure's own report on the restart."""
    for report in reports:
        found = re.search(rf"recovered: .*rank {rank}: [^,]* rebuilt, .* in (\d+) ms", report)
        if found:
            return max(1, int(found[1]))
    raise ValueError(f"no report says that rank {rank} was rebuilt: {reports}")


def rebuild_figures(runs, bytes_lost, rank, command):
    """`runs`: {scheme: [result of the second launch]}."""
    rates, ratios = {}, {}
    for scheme, results in runs.items():
        seconds = [rebuilt_ms(one["reports"], rank) * 1e-3 for one in results]
        rates[scheme] = bytes_lost / statistics.median(seconds) * 1e-9
        ratios[scheme] = statistics.median(one["memcpy_s"] / took for one, took in zip(results, seconds))
    one = figure(rounded(rates), {scheme: REBUILD_GOALS[scheme] for scheme in rates}, unit="GB/s of lost data",
                 command=command, at_least=True,
                 reference=f"a node with {bytes_lost >> 20} MiB lost, restart with a spare; by Perdure's own report")
    one["over_memcpy"] = rounded(ratios)
    one["restore_s"] = rounded({scheme: statistics.median(entry["restore_s"] for entry in results)
                                for scheme, results in runs.items()})
    return {"rebuild_rate": one}


def guard_figure(result, command):
    return figure(round(result["median_of_ratios"], 4), 1.02, unit="time ratio", command=command, at_least=False,
                  reference="ping-pong between engines without the connection guard, in turn; median of the ratios of the rounds")


def parity_server_figures(result, command):
    """`result`: the output of parity_server_bench, or a text that says why there is none."""
    pulled = "this project's xor between the nodes, which pulls like the server does"
    ring = "distributed xor as in the paper: parts go round a ring of the nodes"
    bandwidth, cpu = "bandwidth ratio", "ratio of the nodes' processor time"
    goals = {"parity_server_over_xor_bandwidth": (2.0, True, bandwidth, pulled),
             "parity_server_over_xor_members_cpu": (0.1, False, cpu, pulled),
             "parity_server_over_ring_bandwidth": (2.0, True, bandwidth, ring),
             "parity_server_over_ring_members_cpu": (0.1, False, cpu, ring)}
    figures = {}
    for key, (goal, at_least, unit, beside) in goals.items():
        others = {"unit": unit, "command": command,
                  "reference": f"{beside}; the same bytes over the same endpoints; the worst of all group sizes"}
        if isinstance(result, str):
            figures[key] = missing(goal, result, **others)
        elif key not in result:
            figures[key] = missing(goal, f"the program's result has no {key}", **others)
        else:
            figures[key] = figure(result[key], goal, at_least=at_least, **others)
    return figures


def shown(value):
    if isinstance(value, dict):
        return ", ".join(f"{name} {shown(entry)}" for name, entry in value.items())
    return "-" if value is None else f"{value:.4g}"


def text(key, one):
    reason = f" ({one['reason']})" if one.get("reason") else ""
    return (f"{key}: {shown(one['value'])} {one['unit']}; goal {one.get('comparison', '')} {shown(one['goal'])}: "
            f"{'reached' if one['reached'] == 'yes' else 'NOT REACHED'}{reason}")


def markdown(figures):
    """Returns the table of a page of docs/results; with a column of earlier values if figures have them."""
    before = any("before" in one for one in figures.values())
    columns = ["figure", "unit, and beside what", *(["before"] if before else []), "goal", "measured", "reached", "command"]
    lines = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    for key, one in figures.items():
        measured = shown(one["value"]) if one["value"] is not None else one["reason"]
        reached = "yes" if one["reached"] == "yes" else "**no**"
        cells = [f"`{key}`", f"{one['unit']}; {one['reference']}", *([shown(one.get("before"))] if before else []),
                 f"{one.get('comparison', '')} {shown(one['goal'])}", measured, reached, f"`{one['command']}`"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
