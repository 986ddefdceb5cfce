#!/usr/bin/env python3
"""Measure `weir bench cycle` on generated clusters and print the table of docs/performance.md.

usage: cycle_table.py WEIR [RUNS] > table.md

Of RUNS runs (3) of 5 cycles each the one with the smallest median is taken: what else the machine did
can only add. Snapshots are made by gen_snapshot.py with seed 1, in a directory that is removed again.
"""
import json, os, subprocess, sys, tempfile

SIZES = {"fill": (100, 1000, 10000), "full": (100, 1000, 10000), "mixed": (100, 1000, 10000),
         "stuck": (100, 1000, 2000), "quiet": (100, 1000, 10000)}
ACTIONS = ("allocate", "consolidation", "reclaim", "preempt")


def measure(weir, path, runs):
    best = None
    for _ in range(runs):
        out = json.loads(subprocess.run([weir, "bench", "cycle", "--json", path], check=True, capture_output=True).stdout)
        best = out if best is None or out["total_ms"] < best["total_ms"] else best
    return best


def ms(value):
    return "%.2f" % value if value < 10 else "%.0f" % value


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    weir, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    gen = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gen_snapshot.py")
    print("| snapshot | pods | total ms | prepare | allocate | consolidate | reclaim | preempt | conclude | growth | bytes a pod | placed | pipelined | evicted |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as directory:
        for kind, sizes in SIZES.items():
            before = None
            for nodes in sizes:
                path = os.path.join(directory, "snapshot.json")
                with open(path, "w") as f:
                    subprocess.run([sys.executable, gen, kind, str(nodes), "1"], check=True, stdout=f)
                m = measure(weir, path, runs)
                growth = "%.1f" % (m["total_ms"] / before) if before else ""
                before = m["total_ms"]
                spans = [m["total_ms"], m["prepare_ms"]] + [m["actions_ms"][a] for a in ACTIONS] + [m["conclude_ms"]]
                cells = ["%s %s" % (kind, format(nodes, ",")), format(m["pods"], ",")] + [ms(x) for x in spans]
                cells += [growth, str(m["peak_bytes"] // m["pods"]), str(m["placed"]), str(m["pipelined"]), str(m["evicted"])]
                print("| " + " | ".join(cells) + " |", flush=True)


main()
