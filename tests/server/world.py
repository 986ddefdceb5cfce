# SPDX-License-Identifier: Apache-2.0
"""What the tests of the executable share: a server of their own, and a runner that prints TAP."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

WEIR = os.path.abspath(sys.argv[1])
DEADLINE_S = 60
PLAN = """organization:
  departments:
    - name: d
      node_pool_quotas: {default: {guaranteed_gpus: 4}}
      projects: [{name: p, node_pool_quotas: {default: {guaranteed_gpus: 4}}}]
"""
TESTS = []


class Skip(Exception):
    pass


def test(function):
    TESTS.append(function)
    return function


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("weir", timeout=DEADLINE_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def until(what, condition):
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not in {DEADLINE_S} s: {what}")


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class Server:
    """A weir on `data`, answering at a socket beside it."""

    def __init__(self, home, data=None, flags=(), env=None):
        self.home = home
        self.data = data or os.path.join(home, "data")
        self.socket = os.path.join(home, "s")
        self.flags, self.env = list(flags), dict(os.environ, **(env or {}))
        self.process = None
        self.user = None

    def command(self):
        return [WEIR, "up", "--data", self.data, "--socket", self.socket, "--listen", ":0",
                "--gpus", "fake:4", *self.flags]

    def start(self):
        self.log = open(os.path.join(self.home, "log"), "ab")
        self.process = subprocess.Popen(self.command(), stdout=self.log, stderr=self.log,
                                        stdin=subprocess.DEVNULL, env=self.env, user=self.user)
        until("it answers", self.answers)
        return self

    def answers(self):
        check(self.process.poll() is None, f"it ended: {self.said()}")
        try:
            return self.ask("GET", "/cluster")[1].get("nodes", 0) > 0
        except OSError:
            return False

    def ask(self, method, path, body=None, key=None):
        connection = Connection(self.socket)
        headers = {"Idempotency-Key": key} if key else {}
        try:
            whole = path if path.startswith("/api/") else "/api/weir/v1" + path
            connection.request(method, whole, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def said(self):
        with open(os.path.join(self.home, "log"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def events(self, name):
        lines = [line for line in self.said().splitlines() if line.startswith("{")]
        return [event for event in map(json.loads, lines) if event["event"] == name]

    def submit(self, name, command=("sleep", "600")):
        return self.ask("POST", "/workloads", json.dumps(
            {"name": name, "project": "p", "spec": {"command": list(command), "grace_ms": 100}}))

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(DEADLINE_S)
        return self.process.returncode if self.process else None

    def refused(self):
        """What it says when it does not start."""
        done = subprocess.run(self.command(), capture_output=True, text=True, env=self.env,
                              timeout=DEADLINE_S, stdin=subprocess.DEVNULL)
        check(done.returncode not in (0, -signal.SIGABRT, -signal.SIGSEGV),
              f"exit {done.returncode}: {done.stderr}")
        return done.stderr

    def delete_all(self):
        for item in self.ask("GET", "/workloads")[1]["items"]:
            self.ask("DELETE", "/workloads/" + item["id"])
        until("all is stopped", lambda: self.ask("GET", "/cluster")[1]["gpus_held"] == 0 and all(
            p["phase"] not in ("Initializing", "Running", "Terminating")
            for w in self.ask("GET", "/workloads?deleted=1")[1]["items"] for p in w["pods"]))


def main():
    print(f"1..{len(TESTS)}")
    failed = 0
    for number, function in enumerate(TESTS, 1):
        home = tempfile.mkdtemp(prefix="weir-server-", dir="/tmp")
        servers = []
        original = Server.start

        def start(self, original=original):
            servers.append(self)
            return original(self)

        Server.start = start
        try:
            function(home)
            print(f"ok {number} - {function.__name__}", flush=True)
        except Skip as why:
            print(f"ok {number} - {function.__name__} # SKIP {why}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} - {function.__name__}", flush=True)
            for line in traceback.format_exc().splitlines():
                print("# " + line)
        finally:
            Server.start = original
            for server in servers:
                server.stop(signal.SIGKILL)
            shutil.rmtree(home, ignore_errors=True)
    return 1 if failed else 0
