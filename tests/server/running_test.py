#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What becomes of work that runs: drains, sick devices, budgets, checkpoints, NUMA nodes. Against the real executable; prints TAP.

usage: running_test.py WEIR NVML_DIR"""

import json
import os
import re
import signal
import subprocess
import sys

from world import DEADLINE_S, PLAN, WEIR, Server, Skip, check, main, test, until

NVML_DIR = os.path.abspath(sys.argv[2])
NODE = "n1"


class World(Server):
    """A server of one node `n1`, with the plan, and the ordinary command line."""

    def __init__(self, home, gpus="fake:4", flags=(), env=None):
        super().__init__(home, flags=["--node-name", NODE, *flags], env=env)
        self.gpus = gpus

    def command(self):
        command = super().command()
        command[command.index("--gpus") + 1] = self.gpus
        return command

    def begin(self):
        self.start()
        check(self.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
        return self

    def cli(self, *words, ok=True):
        done = subprocess.run([WEIR, "--socket", self.socket, "--config-path", self.home, *words],
                              capture_output=True, text=True, timeout=DEADLINE_S,
                              stdin=subprocess.DEVNULL, env=self.env)
        check((done.returncode == 0) == ok, f"weir {words}: {done.returncode}: {done.stderr}")
        return done.stdout if ok else done.stderr

    def run(self, name, *flags, command=("sleep", "600")):
        self.cli("training", "submit", name, "-p", "p", "--termination-grace-period", "1s",
                 *flags, "--", *command)

    def job(self, name):
        return self.ask("GET", f"/workloads/p/{name}")[1]

    def pod(self, name):
        return self.job(name)["pods"][0]

    def runs(self, *names):
        until(f"{names} run", lambda: all(self.pod(n)["phase"] == "Running" for n in names))

    def node(self):
        return self.ask("GET", f"/nodes/{NODE}")[1]

    def device(self, uuid):
        return next(d for d in self.node()["devices"] if d["uuid"] == uuid)

    def why_stopped(self, name):
        return [e["why"]["code"] for e in self.job(name)["events"] if e["kind"] == "evicted"]

    def end(self):
        self.delete_all()
        check(self.stop() == 0, "exit status")


@test
def a_drained_device_is_left_for_another_and_stays_drained(home):
    s = World(home).begin()
    s.run("one", "-g", "1", "--preemptibility", "preemptible")
    s.runs("one")
    was = s.pod("one")["devices"][0]
    said = s.cli("node", "drain", NODE, "--device", str(s.device(was)["index"]), "--reason", "ECC")
    check("drain" in said and "ECC" in said, said)
    until("it runs elsewhere", lambda: s.pod("one")["phase"] == "Running"
          and s.pod("one")["devices"] != [was])
    check(s.why_stopped("one") == ["EvictedForDeviceDrain"], s.job("one")["events"])
    check([e for e in s.job("one")["events"] if e["kind"] == "draining"], "no notice")
    check(s.device(was)["status"] == "drained" and s.device(was)["drain"]["reason"] == "ECC",
          s.device(was))
    for how in (signal.SIGKILL, signal.SIGTERM):
        s.stop(how)
        s.start()
        check(s.device(was)["status"] == "drained", "the drain is forgotten")
    s.delete_all()
    s.run("large", "-g", "4")
    why = until("it says why it waits", lambda: s.job("large")["why"])
    check(why["code"] == "NoNodeFits" and why["nodes"][0]["code"] == "DevicesUnhealthy", why)
    check("would do with all its GPUs healthy and open" in s.cli("why", "large", "-p", "p"), "why")
    s.cli("node", "undrain", NODE, "--device", was)
    s.runs("large")
    s.end()


@test
def scheduling_rules_stop_what_runs_and_say_so(home):
    s = World(home).begin()
    s.run("before", "-g", "1")
    plan = os.path.join(home, "rules.yaml")
    with open(plan, "w", encoding="utf-8") as f:
        f.write("organization:\n  departments:\n    - name: ruling\n"
                "      scheduling_rules: {training_run_limit: 4s}\n      projects:\n"
                "        - name: ruled\n"
                "          scheduling_rules: {training_run_limit: 1h, workspace_node_types: [h100]}\n")
    s.cli("plan", "apply", plan, "--yes")
    told = s.cli("project", "describe", "ruled")
    check(re.search(r"Training may run +4s", told) and "h100" in told, told)
    s.cli("training", "submit", "short", "-p", "ruled", "--termination-grace-period", "1s",
          "--", "sleep", "600")
    check("Stops, by a rule" in s.cli("training", "describe", "short", "-p", "ruled"), "no time")
    until("it is stopped", lambda: s.ask("GET", "/workloads/ruled/short")[1]["phase"] == "Stopped")
    events = s.ask("GET", "/workloads/ruled/short")[1]["events"]
    check([e for e in events if e["kind"] == "limit-near"], events)
    check([e["why"]["code"] for e in events if e["kind"] == "evicted"] == ["RunTimeLimitReached"],
          events)
    check("no longer than 4s" in s.cli("why", "short", "-p", "ruled"), "why does not say it")
    s.stop(signal.SIGKILL)
    s.start()
    check(s.ask("GET", "/workloads/ruled/short")[1]["phase"] == "Stopped", "it runs again")
    s.cli("training", "resume", "short", "-p", "ruled")
    until("it runs once more",
          lambda: s.ask("GET", "/workloads/ruled/short")[1]["phase"] == "Running")
    check(s.job("before")["phase"] == "Running", "what was there before has no such rule")
    status, refused = s.ask("POST", "/workloads", json.dumps({
        "name": "w", "project": "ruled", "kind": "workspace", "spec": {"command": ["true"]}}))
    check((status, refused["field"]) == (400, "spec.node_type") and "h100" in refused["hint"], refused)
    s.end()


@test
def a_drained_node_is_empty_by_its_deadline(home):
    s = World(home).begin()
    s.run("plain", "-g", "1", "--preemptibility", "preemptible")
    s.run("firm", "-g", "1", "--preemptibility", "non-preemptible",
          command=("sh", "-c", "trap 'echo told; exit 1' TERM; while :; do sleep 0.05; done"))
    s.runs("plain", "firm")
    check("cordoned" in s.cli("node", "cordon", NODE), "cordon")
    s.run("late", "-g", "1")
    until("it says why it waits", lambda: (s.job("late")["why"] or {}).get("code") == "NoNodes")
    check(s.pod("plain")["phase"] == "Running", "closing stops nothing")
    s.cli("node", "drain", NODE, "--reason", "new driver")
    check(s.node()["status"] == "draining" and s.node()["drain"]["pods_left"] == 2, s.node())
    listed = s.cli("node", "list")
    check(re.search(r"n1 +default +draining", listed), listed)
    check("new driver" in s.cli("why", "firm", "-p", "p"), "the story leaves the drain out")
    check(s.pod("firm")["phase"] == "Running", "there is nowhere to go, and time enough")
    s.cli("node", "drain", NODE, "--deadline", "1s", "--reason", "new driver")
    until("it is empty", lambda: s.node()["status"] == "drained")
    for name in ("plain", "firm"):
        check(s.why_stopped(name) == ["EvictedAtDrainDeadline"], s.job(name)["events"])
        check(s.job(name)["phase"] == "Pending", s.job(name))
    check("told" in s.cli("training", "logs", "firm", "-p", "p"), "it was not told to stop")
    s.stop(signal.SIGKILL)
    s.start()
    check(s.node()["status"] == "drained" and s.node()["gpus_held"] == 0, s.node())
    check("is ready" in s.cli("node", "undrain", NODE), "undrain")
    s.runs("plain", "firm", "late")
    said = s.cli("node", "drain", "n2", ok=False)
    check('there is no node "n2"' in said and "n1" in said, said)
    said = s.cli("node", "drain", NODE, "--device", "9", ok=False)
    check('no device "9"' in said and "device" in said, said)
    s.end()


@test
def a_budget_is_honoured(home):
    s = World(home).begin()
    s.run("many", "--parallelism", "4", "--min-pods", "1", "--min-available", "3", "-g", "1",
          "--priority", "low", "--preemptibility", "preemptible")
    until("all run", lambda: s.job("many")["pods_running"] == 4)
    s.run("first", "-g", "1", "--priority", "high", "--preemptibility", "preemptible")
    s.runs("first")
    s.run("second", "-g", "1", "--priority", "high", "--preemptibility", "preemptible")
    until("the budget is why it waits",
          lambda: (s.job("second")["why"] or {}).get("code") == "VictimsInDisruptionBudget")
    check("disruption budget" in s.cli("why", "second", "-p", "p"), "why")
    check(s.job("many")["pods_running"] == 3, s.job("many"))
    check("3 kept running" in s.cli("workload", "describe", "many", "-p", "p"), "describe")
    s.end()


@test
def who_has_saved_its_work_is_stopped_first(home):
    s = World(home, gpus="fake:2").begin()
    saves = 'while :; do touch "$WEIR_CHECKPOINT_FILE"; sleep 0.2; done'
    for name, script in (("saved", saves), ("unsaved", "sleep 600")):  # the newer of equals would go
        s.run(name, "-g", "1", "--priority", "low", "--preemptibility", "preemptible",
              command=("sh", "-c", script))
        s.runs(name)
    until("its word has come", lambda: (s.job("saved")["checkpoint_at"] or "")
          > s.job("unsaved")["started_at"])
    check(s.job("unsaved")["checkpoint_at"] is None, s.job("unsaved"))
    check("Work saved" in s.cli("workload", "describe", "saved", "-p", "p"), "describe")
    s.stop(signal.SIGKILL)
    s.start()
    s.run("urgent", "-g", "1", "--priority", "high", "--preemptibility", "preemptible")
    s.runs("urgent", "unsaved")
    check(s.why_stopped("saved") == ["EvictedForPriority"], s.job("saved")["events"])
    s.end()


@test
def one_numa_node_for_devices_and_processors(home):
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("the machine has one processor")
    first, second = sorted(os.sched_getaffinity(0))[:2]
    shape = {"HWLOC_SYNTHETIC": "numa:2(memory=4GiB) pu:1(indexes=%d,%d)" % (first, second)}
    s = World(home, env=shape).begin()
    zones = {z["numa_node"]: z["cpus"] for z in s.node()["zones"]}
    if len(zones) != 2:
        raise Skip("built without hwloc")
    check([d["numa_node"] for d in s.node()["devices"]] == [0, 0, 1, 1], s.node())
    for name in ("one", "two"):
        s.run(name, "-g", "2", "--single-numa", "--cpu-core-request", "0.5",
              command=("sh", "-c", "taskset -cp $$; sleep 600"))
    s.runs("one", "two")
    seen = set()
    for name in ("one", "two"):
        zone = s.pod(name)["numa_node"]
        seen.add(zone)
        check({s.device(u)["numa_node"] for u in s.pod(name)["devices"]} == {zone}, s.pod(name))
        said = until("it has told where it runs", lambda n=name: re.search(
            r"affinity list: (.*)", s.cli("training", "logs", n, "-p", "p")))
        check(said.group(1) == zones[zone], (said.group(1), zones, zone))
        inside = s.cli("workload", "exec", name, "-p", "p", "--", "sh", "-c", "taskset -cp $$")
        check(inside.strip().endswith(": " + zones[zone]), inside)
    check(seen == {0, 1}, seen)
    s.run("three", "-g", "1", "--single-numa")
    until("it waits", lambda: s.job("three")["why"])
    check("NUMA nodes" in s.cli("node", "describe", NODE), "describe")
    s.end()


@test
def a_sick_device_is_left_at_once(home):
    cards = os.path.join(home, "cards")

    def card(n, state):
        return f"GPU-{n}|Card|{80 << 30}|{n}|00000000:0{n}:00.0|{state}\n"

    def cards_are(*states):
        with open(cards + ".new", "w", encoding="ascii") as f:
            f.writelines(card(n, state) for n, state in enumerate(states))
        os.rename(cards + ".new", cards)

    cards_are("ok", "ok")
    s = World(home, gpus="auto",
              env={"LD_LIBRARY_PATH": NVML_DIR, "WEIR_TEST_NVML": cards}).begin()
    s.run("firm", "-g", "1", "--preemptibility", "non-preemptible")
    s.runs("firm")
    was = s.pod("firm")["devices"][0]
    cards_are(*("xid:79" if f"GPU-{n}" == was else "ok" for n in range(2)))
    until("it is elsewhere", lambda: s.pod("firm")["phase"] == "Running"
          and s.pod("firm")["devices"] != [was])
    check(s.why_stopped("firm") == ["EvictedForLostDevice"], s.job("firm")["events"])
    check(s.device(was)["status"] == "sick" and s.device(was)["fault"] == "Xid 79", s.device(was))
    check("Xid 79" in s.cli("node", "describe", NODE), "describe")
    check("Xid 79" in s.cli("why", "firm", "-p", "p"), "why")
    s.end()


if __name__ == "__main__":
    sys.exit(main())
