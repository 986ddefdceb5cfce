#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments, under load, against the real executable, with a checker.

Each round: clients submit, suspend, resume and delete short jobs over the local socket while the
server is killed at a random moment; it is started again on the same data, and then must hold:
  nothing acknowledged is lost   what a client was told exists, stopped or gone, is so
  nothing is done twice          a command repeated under its key after the crash has one effect
  nothing is started twice       a job writes a line when it starts: one line for each attempt at most
  the journal decides again      weir replay finds no difference
  the books balance              devices, pools, departments and projects add up to what pods hold
Usage: crash_test.py WEIR [ROUNDS [SERVERS [SEED]]]. ROUNDS are divided among SERVERS side by side, each
with its own data and seed (SEED, SEED + 1 ...), because a round is mostly waiting. Prints TAP. A failing
seed is printed."""

import concurrent.futures
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid

DEADLINE_S = 60
PLAN = """
organization:
  departments:
    - name: d
      node_pool_quotas: {default: {guaranteed_gpus: 4}}
      projects:
        - name: a
          node_pool_quotas: {default: {guaranteed_gpus: 2}}
        - name: b
          node_pool_quotas: {default: {guaranteed_gpus: 2}}
"""
JOB = 'echo "$RUNAI_JOB_UUID $RUNAI_JOB_NAME" >> "$STARTS"; sleep "$WORK_S"'


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=DEADLINE_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Failure(Exception):
    pass


class Server:
    def __init__(self, weir, home):
        self.weir, self.home = weir, home
        self.socket = os.path.join(home, "s")
        self.process = None

    def start(self):
        log = open(os.path.join(self.home, "log"), "ab")
        self.process = subprocess.Popen(
            [self.weir, "up", "--data", os.path.join(self.home, "data"), "--gpus", "fake:4",
             "--listen", "127.0.0.1:0", "--socket", self.socket],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        log.close()
        end = time.monotonic() + DEADLINE_S
        while True:
            try:
                if self.call("GET", "/healthz")[0] == 200:
                    return
            except OSError:
                pass
            if self.process.poll() is not None:
                raise Failure(f"the server ended at start, exit status {self.process.returncode}: "
                              + open(os.path.join(self.home, "log"), errors="replace").read()[-2000:])
            if time.monotonic() > end:
                raise Failure("the server did not answer after its start")
            time.sleep(0.02)

    def call(self, method, path, body=None, key=None, kind="application/json"):
        connection = Connection(self.socket)
        try:
            headers = {"Content-Type": kind}
            if key:
                headers["Idempotency-Key"] = key
            connection.request(method, "/api/weir/v1" + path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
        except http.client.HTTPException as e:
            raise ConnectionError(str(e)) from e
        finally:
            connection.close()
        return answer.status, json.loads(text)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=DEADLINE_S)


class Client(threading.Thread):
    """Sends commands until the server dies; keeps what was asked and what was acknowledged."""

    def __init__(self, server, seed, known):
        super().__init__()
        self.server, self.random, self.known = server, random.Random(seed), known
        self.failure = None
        self.unanswered = None  # the one command whose answer was lost: (method, path, body, key)

    def run(self):
        try:
            while True:
                self.unanswered = self.choose()
                try:
                    status, answer = self.server.call(*self.unanswered)
                except (OSError, json.JSONDecodeError):
                    return
                self.settle(status, answer)
                self.unanswered = None
        except Failure as e:
            self.failure = e

    def choose(self):
        key = str(uuid.UUID(int=self.random.getrandbits(128)))
        settled = [w for w in list(self.known.values()) if w["owner"] == self.name]
        if settled and self.random.random() < 0.25:
            w = self.random.choice(settled)
            return self.random.choice([("POST", f"/workloads/{w['id']}/suspend"),
                                       ("POST", f"/workloads/{w['id']}/resume"),
                                       ("DELETE", f"/workloads/{w['id']}")]) + (None, key)
        name = "w" + key[:13]
        body = {"name": name, "project": self.random.choice("ab"), "kind": "training", "spec": {
            "image": "host", "command": ["sh", "-c", JOB], "args_are_command": True,
            "env": {"STARTS": os.path.join(self.server.home, "starts"),
                    "WORK_S": self.random.choice(["0", "0", "0.05", "0.2", "0.5"])},
            "gpu_devices": self.random.choice([1, 1, 1, 2]), "grace_ms": 200,
            "preemptibility": self.random.choice(["preemptible", "non-preemptible"])}}
        return "POST", "/workloads", json.dumps(body), key

    def settle(self, status, answer):
        method, path, _, _ = self.unanswered
        if path == "/workloads":
            if status != 201:
                raise Failure(f"submit answered {status}: {answer}")
            self.known[answer["id"]] = {"id": answer["id"], "name": answer["name"],
                                        "owner": self.name, "said": "submitted"}
            return
        w = self.known[path.split("/")[2]]
        if status == 200:
            w["said"] = path.rsplit("/", 1)[1] if method == "POST" else "deleted"
        elif status not in (404, 409):
            raise Failure(f"{method} {path} answered {status}: {answer}")


def workloads(server):
    found, offset = {}, 0
    while True:
        status, page = server.call("GET", f"/workloads?deleted=1&limit=500&offset={offset}")
        if status != 200:
            raise Failure(f"list answered {status}: {page}")
        found.update({w["id"]: w for w in page["items"]})
        offset += len(page["items"])
        if offset >= page["total"] or not page["items"]:
            return found


def starts(home):
    counts = {}
    try:
        with open(os.path.join(home, "starts"), encoding="ascii") as f:
            for line in f:
                counts[line.split()[0]] = counts.get(line.split()[0], 0) + 1
    except FileNotFoundError:
        pass
    return counts


def check_known(server, known, clients):
    world = workloads(server)
    # What a command without an answer was about may be either way.
    open_ids = {c.unanswered[1].split("/")[2] for c in clients
                if c.unanswered and c.unanswered[1] != "/workloads"}
    for w in known.values():
        if w["id"] in open_ids:
            continue
        seen = world.get(w["id"])
        if w["said"] == "deleted":
            if seen and seen["phase"] not in ("Deleting", "Deleted"):
                raise Failure(f"acknowledged delete was lost: {seen}")
            continue
        if not seen:
            raise Failure(f"acknowledged {w['said']} was lost: {w}")
        if w["said"] == "suspend" and seen["phase"] in ("Running", "Pending", "Initializing"):
            raise Failure(f"acknowledged suspend was lost: {seen}")
    return world


def check_starts(world, started):
    for ident, count in started.items():
        w = world.get(ident)
        if not w:
            continue
        attempts = sum(p["attempt"] for p in w["pods"])
        if count > attempts:
            raise Failure(f"started {count} times, {attempts} were decided: {w}")


def check_books(server):
    """Taken between commands, with no client running; jobs may end meanwhile, so a few tries."""
    told = ""
    for _ in range(50):
        _, before = server.call("GET", "/cluster")
        _, nodes = server.call("GET", "/nodes")
        _, projects = server.call("GET", "/projects")
        _, departments = server.call("GET", "/departments")
        _, pools = server.call("GET", "/nodepools")
        world = workloads(server)
        _, after = server.call("GET", "/cluster")
        if before["seq"] != after["seq"]:
            continue
        by_device = sum(d["held"] for n in nodes["items"] for d in n["devices"])
        sums = {"cluster": after["gpus_held"], "devices": by_device,
                "pods": sum(w["gpus_held"] for w in world.values()),
                "projects": sum(r["held_gpus"] for p in projects["items"] for r in p["pools"]),
                "departments": sum(r["held_gpus"] for d in departments["items"] for r in d["pools"]),
                "pools": sum(p["gpus_held"] for p in pools["items"])}
        if len(set(sums.values())) == 1 and by_device <= 4:
            return
        told = str(sums)
    if told:
        raise Failure(f"the books do not balance: {told}")


def check_rest(server):
    """What happens after a start is bounded: adapter and engine do not talk for ever."""
    _, first = server.call("GET", "/cluster")
    time.sleep(0.1)
    _, then = server.call("GET", "/cluster")
    if then["seq"] - first["seq"] > 200:
        raise Failure(f"{then['seq'] - first['seq']} inputs in 0.1 s with nobody asking")


def round_(server, known, rng):
    clients = [Client(server, rng.getrandbits(64), known) for _ in range(3)]
    for c in clients:
        c.start()
    time.sleep(rng.uniform(0.01, 0.5))
    server.kill()
    for c in clients:
        c.join()
    server.start()
    for c in clients:
        if c.failure:
            raise c.failure
    started = starts(server.home)  # before the list: what is started was decided before
    world = check_known(server, known, clients)
    check_starts(world, started)
    check_rest(server)
    for c in clients:
        if c.unanswered is None:
            continue
        # The answer was lost. Asked again under its key it must have one effect, once.
        first = server.call(*c.unanswered)
        again = server.call(*c.unanswered)
        if first[0] != again[0] or first[1].get("id") != again[1].get("id"):
            raise Failure(f"one key, two answers: {first} then {again}")
        about = known.get(c.unanswered[1].split("/")[2]) if c.unanswered[1] != "/workloads" else None
        if first[0] == 404 and not (about and about["said"] == "deleted"):
            raise Failure(f"asked again under its key, {c.unanswered[:2]} is unknown")
        c.settle(*first)
        c.unanswered = None
    names = [w["name"] for w in workloads(server).values() if w["phase"] != "Deleted"]
    if len(names) != len(set(names)):
        raise Failure("a submit was done twice")
    check_books(server)
    # Owners are threads of this round: what is known stays to be checked in later rounds. The
    # backlog is cut, or it would grow with every round.
    for w in list(known.values()):
        w["owner"] = None
        if w["said"] != "deleted" and rng.random() < 0.8:
            status, answer = server.call("DELETE", f"/workloads/{w['id']}", None, str(uuid.uuid4()))
            if status != 200:
                raise Failure(f"delete answered {status}: {answer}")
            w["said"] = "deleted"
        elif w["said"] == "deleted" and rng.random() < 0.8:
            del known[w["id"]]


def finish(server):
    """All that is left comes to an end by itself; then no process and no device is held."""
    end = time.monotonic() + DEADLINE_S * 3
    while True:
        world = workloads(server)
        busy = [w for w in world.values() if w["phase"] not in ("Completed", "Failed", "Stopped", "Deleted")]
        if not busy:
            break
        if time.monotonic() > end:
            raise Failure(f"{len(busy)} jobs never ended, the first: {busy[0]}")
        time.sleep(0.1)
    started = starts(server.home)
    check_starts(world, started)
    for w in world.values():
        if w["phase"] == "Completed" and started.get(w["id"], 0) < 1:
            raise Failure(f"completed without having run: {w}")
    check_rest(server)
    _, cluster = server.call("GET", "/cluster")
    if cluster["gpus_held"] != 0:
        raise Failure(f"devices are held by nobody: {cluster}")


def play(weir, rounds, seed):
    """One server and its rounds. Returns how many there were, and what broke or None."""
    rng = random.Random(seed)
    home = tempfile.mkdtemp(prefix="weir-crash-")
    server, known, failure, done = Server(weir, home), {}, None, 0
    try:
        server.start()
        status, answer = server.call("POST", "/plan/apply", PLAN, str(uuid.uuid4()), "application/yaml")
        if status != 200:
            raise Failure(f"plan answered {status}: {answer}")
        for done in range(1, rounds + 1):
            round_(server, known, rng)
        finish(server)
    except Failure as e:
        failure = e
    finally:
        if server.process and server.process.poll() is None:
            code = server.stop()
            if code != 0 and not failure:
                failure = Failure(f"SIGTERM ended the server with exit status {code}")
    if not failure:
        told = subprocess.run([weir, "replay", os.path.join(home, "data")], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)
        if told.returncode != 0:
            failure = Failure(f"the journal is decided otherwise: {told.stdout}{told.stderr}")
    if failure:
        return done, f"seed {seed}, round {done}: {failure}\n# kept: {home}"
    shutil.rmtree(home, ignore_errors=True)
    return done, None


def main():
    weir = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    servers = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else int.from_bytes(os.urandom(4), "big")
    print("TAP version 13\n1..4", flush=True)
    shares = [rounds // servers + (i < rounds % servers) for i in range(servers)]
    with concurrent.futures.ProcessPoolExecutor(servers) as pool:
        results = list(pool.map(play, [weir] * servers, shares, range(seed, seed + servers)))
    crashes, failures = sum(done for done, _ in results), [f for _, f in results if f]
    for what in (f"nothing acknowledged is lost, nothing is done twice ({crashes} crashes)",
                 "nothing is started twice", "the books balance",
                 "the journal is decided again as it was"):
        print(f"{'not ok' if failures else 'ok'} - {what}")
    for failure in failures:
        print(f"# {failure}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
