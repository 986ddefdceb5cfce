#!/usr/bin/env python3
"""Write a synthetic cluster as one case file (format: tests/cases/FORMAT.md), for timing.

usage: gen_snapshot.py KIND NODES SEED > snapshot.json

KIND   what is running and what waits (8 GPUs a node)
fill     empty cluster; one pending pod per GPU in 1-, 2-, 4- and 8-GPU workloads and gangs of 2 to 16 nodes
full     every GPU taken by preemptible 1-GPU workloads of half the projects, each far over quota;
         the other projects wait with work inside their quota (reclaim)
mixed    85 % taken by a spread of sizes, fragmented; pending work of all kinds (every action has something to do)
quiet    10 pods a node run, one GPU of each node is free, and a handful waits that fits (the cost of a calm cycle)
stuck    full of work inside its quota; 5 pending pods per GPU that can never start now (the cost of looking)
"""
import json, random, sys


def quota(q, limit=-1, w=None):
    return {"quota": q, "limit": limit, "over_quota_weight": q if w is None else w}


def main():
    kind, n, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rnd = random.Random(seed)
    gpus = 8
    total = n * gpus
    depts = max(2, n // 50)
    per = 8
    projects = ["p%03d-%d" % (d, i) for d in range(depts) for i in range(per)]
    share = total / len(projects)
    unlimited = {"cpu": quota(-1, -1, 1), "memory": quota(-1, -1, 1)}
    queues = [{"name": "d%03d" % d, "gpu": quota(total / depts), **unlimited} for d in range(depts)]
    for p in projects:
        queues.append({"name": p, "parent": "d" + p[1:4], "gpu": quota(share), **unlimited})
    nodes = [{"name": "node-%05d" % i, "gpus": gpus, "gpu_memory_mib": 81920, "cpu_milli": 192000, "memory_bytes": 2e12, "max_pods": 110,
              "labels": {"topology/block": "b%03d" % (i // 128), "topology/rack": "r%04d" % (i // 16)}} for i in range(n)]
    free = {x["name"]: gpus for x in nodes}
    names = [x["name"] for x in nodes]
    work, k = [], 0

    def add(queue, pods, gpu, prio=50, pre=True, age=60, on=None, topo=None):
        nonlocal k
        k += 1
        name = "w%06d" % k
        w = {"name": name, "queue": queue, "priority": prio, "preemptible": pre, "created_s": -age, "gpu": gpu, "cpu_milli": 4000 * max(gpu, 1),
             "memory_bytes": 32e9}
        if topo:
            w["group"] = {"name": "", "topology": topo, "pods": [{"name": "default", "min": pods}]}
        ps = []
        for i in range(pods):
            p = {"name": "%s-%d" % (name, i), "state": "running" if on else "pending"}
            if on:
                p["node"] = on[i]
                free[on[i]] -= gpu
            ps.append(p)
        w["pods"] = ps
        work.append(w)

    half = len(projects) // 2
    if kind == "fill":
        left = total
        while left > 0:
            r = rnd.random()
            if r < 0.6:
                g = rnd.choice([1, 1, 1, 2, 4, 8])
                add(rnd.choice(projects), 1, g, age=rnd.randrange(60, 86400))
                left -= g
            else:
                m = rnd.choice([2, 2, 4, 8, 16])
                add(rnd.choice(projects), m, 8, age=rnd.randrange(60, 86400))
                left -= 8 * m
    elif kind == "full":
        i = 0
        for nm in names:
            for _ in range(gpus):
                add(projects[i % half], 1, 1, age=3600 + i, on=[nm])
                i += 1
        for p in projects[half:]:
            add(p, 1, 1, age=30)
            add(p, 1, 4, age=20)
            if share >= 16:
                add(p, 2, 8, age=10)
    elif kind == "mixed":
        for nm in names:
            while free[nm] > rnd.choice([0, 0, 1, 2, 3]):
                g = rnd.choice([x for x in (1, 1, 2, 4) if x <= free[nm]])
                add(rnd.choice(projects), 1, g, prio=rnd.choice([50, 50, 75]), pre=rnd.random() < 0.9, age=rnd.randrange(600, 86400), on=[nm])
        for p in projects:
            for _ in range(6):
                add(p, 1, rnd.choice([1, 1, 2, 4, 8]), prio=rnd.choice([50, 75, 90]), age=rnd.randrange(1, 600))
            add(p, rnd.choice([2, 4]), 8, prio=60, age=rnd.randrange(1, 600), topo={"name": "net", "preferred": "topology/rack"} if rnd.random() < .5 else None)
    elif kind == "quiet":
        i = 0
        for nm in names:
            for g in [1] * (gpus - 1) + [0] * 3:
                add(projects[i % len(projects)], 1, g, age=3600 + i, on=[nm])
                i += 1
        for p in projects[:8]:
            add(p, 1, 1, age=30)
    elif kind == "stuck":
        i = 0
        for nm in names:
            for _ in range(gpus):
                add(projects[i % len(projects)], 1, 1, age=3600, on=[nm])
                i += 1
        for _ in range(5 * total):
            add(rnd.choice(projects), 1, 1, age=rnd.randrange(1, 600))
    else:
        sys.exit(__doc__)
    case = {"id": "%s-%d-%d" % (kind, n, seed), "area": "cycle", "actions": ["allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"],
            "rounds": 1, "stable_rounds": 0, "nodes": nodes, "queues": queues,
            "topologies": [{"name": "net", "levels": ["topology/block", "topology/rack"]}], "workloads": work, "expect": {}}
    json.dump(case, sys.stdout)
    sys.stdout.write("\n")


main()
