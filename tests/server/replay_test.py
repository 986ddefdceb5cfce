#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weir replay`: a journal as it was written leads where it led, and one that was changed does not,
even when its checks were made to fit. Against the real executable; prints TAP.

usage: replay_test.py WEIR"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

from world import DEADLINE_S, PLAN, WEIR, Server, check, main, test, until

# The hash of src/base/hash.c: what someone who knows weir would use.
MASK = (1 << 64) - 1
PI, PI_NEXT, E = 0x243F6A8885A308D3, 0x13198A2E03707345, 0xB7E151628AED2A6B


def mix(a, b):
    product = a * b
    return (product & MASK) ^ (product >> 64)


def hash_bytes(data, seed):
    h, left = mix(seed ^ PI, E ^ len(data)), data
    while len(left) > 16:
        h = mix(int.from_bytes(left[:8], "little") ^ PI, int.from_bytes(left[8:16], "little") ^ h)
        left = left[16:]
    a, b = int.from_bytes(left[:8], "little"), int.from_bytes(left[8:], "little")
    return mix(mix(a ^ PI_NEXT, b ^ h) ^ E, len(data) ^ PI)


def hash_u64(v, seed):
    return mix(mix(v ^ PI, seed ^ E) ^ PI_NEXT, v ^ E)


def replay(directory, env=None):
    done = subprocess.run([WEIR, "replay", directory], capture_output=True, text=True, env=env,
                          timeout=DEADLINE_S, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def changed(data, home, name, change, fit_checks=True):
    """A copy of the data in which change(seq, body) gives the new body of a record, or None."""
    copy = os.path.join(home, name)
    os.makedirs(copy)
    for file in os.listdir(data):
        if file.startswith("weir.db"):
            shutil.copy(os.path.join(data, file), copy)
    db = sqlite3.connect(os.path.join(copy, "weir.db"))
    chain, count = 0, 0
    for seq, body in db.execute("SELECT seq, body FROM journal ORDER BY seq").fetchall():
        new = change(seq, body)
        count += new is not None
        body = body if new is None else new
        chain = hash_bytes(body, hash_u64(seq, chain))
        db.execute("UPDATE journal SET body = ? WHERE seq = ?", (body, seq))
        if fit_checks:
            db.execute('UPDATE journal SET "check" = ? WHERE seq = ?', (chain.to_bytes(8, "big"), seq))
    check(count == 1, f"{count} records were changed")
    db.commit()
    db.close()
    return copy


def bytes_of(data):
    with open(os.path.join(data, "weir.db"), "rb") as f:
        return f.read()


def history(home):
    """A server that has placed, preempted, drained, been killed, and has nothing left to run."""
    s = Server(home, flags=["--node-name", "n1"]).start()
    phase = lambda name: s.ask("GET", f"/workloads/p/{name}")[1]["phase"]

    def run(name, **spec):
        body = {"name": name, "project": "p",
                "spec": {"command": ["sleep", "600"], "grace_ms": 100, "gpu_devices": 1, **spec}}
        check(s.ask("POST", "/workloads", json.dumps(body))[0] == 201, name)

    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    run("short", command=["true"])
    until("it has ended", lambda: phase("short") == "Completed")
    for name in ("one", "two", "three"):
        run(name, preemptibility="preemptible")
        until("it runs", lambda n=name: phase(n) == "Running")
    run("urgent", gpu_devices=3, priority="high", preemptibility="preemptible")
    until("it has taken", lambda: phase("urgent") == "Running")
    s.stop(signal.SIGKILL)
    s.start()
    s.ask("POST", "/nodes/n1/drain", json.dumps({"within_ms": 0}))
    until("it is empty", lambda: s.ask("GET", "/cluster")[1]["gpus_held"] == 0)
    s.ask("POST", "/nodes/n1/undrain")
    until("it runs again", lambda: phase("urgent") == "Running")
    for name in ("one", "two", "three", "urgent"):
        s.ask("DELETE", f"/workloads/p/{name}")
    until("all is stopped", lambda: s.ask("GET", "/cluster")[1]["gpus_held"] == 0)
    return s


@test
def a_journal_as_it_was_written_leads_where_it_led(home):
    s = history(home)
    status, said = replay(s.data)
    check(status == 1 and "in use" in said, f"of a server that runs: {status}: {said}")
    s.stop(signal.SIGKILL)  # with a write-ahead log that was not moved into the file
    status, said = replay(s.data)
    check(status == 0 and "no difference" in said, f"{status}: {said}")
    check("0 ticks" not in said and "not compared" not in said, said)
    s.start()
    check(s.stop() == 0, "exit status")  # with a checkpoint of the state at the end
    before = bytes_of(s.data)
    status, said = replay(s.data)
    check(status == 0 and "no difference" in said, f"{status}: {said}")
    check(bytes_of(s.data) == before, "replaying changed the journal")
    status, said = replay("", env=dict(os.environ, WEIR_DATA=s.data))
    check(status == 1 and "usage" in said, said)
    s.start()  # it can still be used
    check(s.stop() == 0, "exit status")


@test
def a_changed_journal_is_found_out(home):
    s = history(home)
    check(s.stop() == 0, "exit status")
    uuids = [d["uuid"].encode() for d in s.start().ask("GET", "/nodes/n1")[1]["devices"]]
    check(s.stop() == 0, "exit status")
    seen = []

    def other_device(_, body):
        """The first start of a job: on another device, which was free too."""
        there = [u for u in uuids if u in body]
        if seen or len(there) != 1:
            return None
        seen.append(there[0])
        return body.replace(there[0], next(u for u in uuids if u != there[0]))

    copy = changed(s.data, home, "device", other_device)
    status, said = replay(copy)
    check(status == 1 and "decides otherwise" in said and "p/short pod 0" in said, f"{status}: {said}")
    check(f"on n1 {seen[0].decode()}" in said.split("decided again:")[1], said)

    def other_command(_, body):
        """What no decision depends on: the state that is stored tells."""
        return body.replace(b"true", b"trve") if b"true" in body else None

    copy = changed(s.data, home, "command", other_command)
    status, said = replay(copy)
    check(status == 1 and "checkpoint" in said, f"{status}: {said}")

    copy = changed(s.data, home, "unfit", lambda seq, body: body + b"\0" if seq == 5 else None,
                   fit_checks=False)
    status, said = replay(copy)
    check(status == 1 and "record 5 fails its check" in said, f"{status}: {said}")
    status, said = replay(os.path.join(home, "nothing"))
    check(status == 1 and "there is no journal" in said, f"{status}: {said}")


if __name__ == "__main__":
    sys.exit(main())
