#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What strangers, the careless and the malicious do to a running weir: it answers clearly, loses
nothing and goes on. Against the real executable; prints TAP.

usage: hostile_test.py WEIR"""

import concurrent.futures
import json
import os
import shutil
import socket
import subprocess
import sys

from world import DEADLINE_S, PLAN, WEIR, Connection, Server, Skip, check, main, test, until

P = "/api/weir/v1"
NOBODY = 65534


def tcp_address(s):
    host, port = s.events("server_started")[-1]["address"].rsplit(":", 1)
    return host, int(port)


def request(method, path, body=b"", head=b""):
    if body:
        head += b"Content-Length: %d\r\n" % len(body)
    return b"%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n%s" % (method.encode(), path.encode(), head, body)


def send(address, data):
    """The status and the body of the answer; 0: the connection ended without one."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as c:
        c.settimeout(DEADLINE_S)
        c.connect(address)
        try:
            c.sendall(data)
        except OSError:
            pass  # refused before it was all read
        got = b""
        while b"\r\n\r\n" not in got:
            piece = c.recv(65536)
            if not piece:
                return 0, b""
            got += piece
        head, body = got.split(b"\r\n\r\n", 1)
        length = [int(line[15:]) for line in head.split(b"\r\n")
                  if line.lower().startswith(b"content-length:")]
        while length and len(body) < length[0]:
            piece = c.recv(65536)
            if not piece:
                break
            body += piece
        return int(head[9:12]), body


def as_user(uid, function):
    """What function returns (JSON) when that user calls it."""
    if os.geteuid() != 0:
        raise Skip("needs root to act as another user")
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os.write(there, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as f:
        told = f.read()
    os.waitpid(pid, 0)
    return json.loads(told)


CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n5\r\na: b\n\r\n0\r\n"
STRANGE = [
    ("a question", request("GET", P + "/plan")),
    ("what is not there", request("GET", P + "/nope")),
    ("a body", request("POST", P + "/plan/apply", PLAN.encode())),
    ("a large body", request("POST", P + "/plan/apply", b"#" * 3000000)),
    ("a body too large", request("POST", P + "/workloads", b" " * 5000000)),
    ("a body in pieces", request("POST", P + "/plan/apply", head=CHUNKED)),
    ("no body", request("POST", P + "/workloads/p/one/suspend")),
    ("a way round", request("GET", "/healthz/../api/weir/v1/plan")),
    ("too many arguments", request("GET", P + "/plan?" + "&a=1" * 270)),
    ("bad UTF-8", request("GET", P + "/workloads/p/%ff")),
    ("a WebSocket", request("GET", P + "/workloads/p/one/exec?cmd=id", head=b"Upgrade: websocket\r\n"
                            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")),
]


@test
def over_tcp_only_health_and_version_are_told(home):
    s = Server(home).start()
    for name, data in STRANGE:
        status, body = send(tcp_address(s), data)
        check(status == 401 and b"unauthentic" in body, f"{name}: {status} {body}")
    for path in ("/healthz", "/version"):
        check(send(tcp_address(s), request("GET", path))[0] == 200, path)
    check(s.ask("GET", "/plan")[1]["revision"] == 1, "the plan is as it was")
    s.stop()


@test
def another_user_is_refused_and_nothing_of_his_is_kept(home):
    os.chmod(home, 0o755)  # else he does not even get to the socket
    s = Server(home).start()
    for name, data in STRANGE:
        status, text = as_user(NOBODY, lambda d=data: [x if isinstance(x, int) else x.decode()
                                                       for x in send(s.socket, d)])
        check(status == 403 and "denied" in text, f"{name}: {status} {text}")
    check(s.ask("GET", "/plan")[1]["revision"] == 1, "the plan is as it was")
    check(os.stat(s.data).st_mode & 0o077 == 0, "the data directory is its owner's alone")
    s.stop()


JOB = """
import os, socket, subprocess, sys
def ask(c):
    c.sendall(b"GET /api/weir/v1/plan HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
    got = b""
    while piece := c.recv(65536):
        got += piece
    return got[9:12].decode() + (" job" if b"jobs may not use weir" in got else "")
def connect():
    c = socket.socket(socket.AF_UNIX)
    c.connect(sys.argv[1])
    return c
def apart(function, before=lambda: None):
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        kept = before()
        if os.fork() == 0:
            os.setsid()
            while os.getppid() == int(os.environ["MIDDLE"]):
                pass
            os.write(there, function(kept).encode())
        os._exit(0)
    os.close(there)
    os.waitpid(child, 0)
    return os.fdopen(here).read()
def middle():
    os.environ["MIDDLE"] = str(os.getpid())
print("itself:", ask(connect()))
print("an orphan:", apart(lambda kept: ask(connect()), middle))
print("a connection of one that ended:", apart(ask, lambda: (middle(), connect())[1]))
print("the command line:", subprocess.run([sys.argv[2], "whoami", "--socket", sys.argv[1]],
      capture_output=True, text=True).stderr.splitlines()[0])
"""


@test
def a_job_is_not_the_user_it_runs_as(home):
    s = Server(home).start()
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    s.submit("curious", [sys.executable, "-c", JOB, s.socket, WEIR])
    until("it has ended", lambda: s.ask("GET", "/workloads/p/curious")[1]["phase"]
          in ("Completed", "Failed"))
    connection = Connection(s.socket)
    connection.request("GET", P + "/workloads/p/curious/logs")
    said = connection.getresponse().read().decode().splitlines()
    check(said[:2] == ["itself: 403 job", "an orphan: 403 job"], said)
    check(said[2] == "a connection of one that ended: 403", said)
    check("jobs may not use weir" in said[3], said)
    s.stop()


@test
def weirs_own_directories_are_empty_for_a_job(home):
    if os.geteuid() != 0:
        raise Skip("needs root to start a weir of another user in its usual places")
    run = os.path.join(home, "run")
    os.mkdir(run)
    for path in (home, run):
        os.chown(path, NOBODY, NOBODY)
    s = Server(home, data=os.path.join(home, ".local/state/weir"))
    s.socket = os.path.join(run, "weir/weir.sock")
    s.env.update(HOME=home, XDG_RUNTIME_DIR=run)
    s.user = NOBODY
    program = os.path.join(home, "weir")  # where this is built may be closed to others
    shutil.copy(WEIR, program)
    s.command = lambda: [program, "up", "--listen", ":0", "--gpus", "fake:4"]
    s.start()
    if any("no namespaces" in note for note in s.ask("GET", "/nodes")[1]["items"][0]["notes"]):
        raise Skip("an ordinary user cannot make namespaces here")
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    s.submit("curious", ["sh", "-c", f"ls -A {s.data} {run}/weir"])
    until("it has ended", lambda: s.ask("GET", "/workloads/p/curious")[1]["phase"] == "Completed")
    connection = Connection(s.socket)
    connection.request("GET", P + "/workloads/p/curious/logs")
    said = connection.getresponse().read().decode()
    check(said.split() == [f"{s.data}:", f"{run}/weir:"], said)
    s.stop()


@test
def what_is_no_http_is_answered_or_cut_off(home):
    s = Server(home).start()
    post = P + "/plan/check"
    rows = [
        ("a word", b"HELLO\r\n\r\n", 0),
        ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", 0),
        ("HTTP/3", b"GET /healthz HTTP/3.0\r\nHost: x\r\n\r\n", 505),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ("a header without a colon", request("GET", "/healthz", head=b"nocolon\r\n"), 400),
        ("a length that is none", request("POST", post, head=b"Content-Length: abc\r\n"), 400),
        ("a length below nothing", request("POST", post, head=b"Content-Length: -1\r\n"), 400),
        ("a length beyond 64 bits", request("POST", post, head=b"Content-Length: %d\r\n" % (1 << 80)),
         413),
        ("a chunk that is none", request("POST", post, b"", b"Transfer-Encoding: chunked\r\n")
         + b"zz\r\n", 400),
        ("a long address", request("GET", "/" + "x" * 70000), 414),
        ("a long header", request("GET", "/healthz", head=b"X: " + b"x" * 70000 + b"\r\n"), 431),
        ("many headers", request("GET", "/healthz", head=b"X: yyyyyyyyyyyyyyyyyyyy\r\n" * 3000), 431),
    ]
    for address in (s.socket, tcp_address(s)):
        for name, data, want in rows:
            status, body = send(address, data)
            check(status == want, f"{name}: {status} {body}")
            check(send(address, request("GET", "/healthz"))[0] == 200, f"after {name}")
    s.stop()


def at_once(count, function):
    """What function(0), function(1), … return, all called at the same time."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(function, range(count)))


@test
def of_plans_based_on_one_revision_exactly_one_wins(home):
    s = Server(home).start()
    for turn in range(20):
        base = s.ask("GET", "/plan")[1]["revision"]
        told = at_once(8, lambda i, t=turn, b=base: s.ask(
            "POST", f"/plan/apply?prune=1&base_revision={b}", PLAN.replace("name: p,", f"name: p{t}-{i},")))
        won = [i for i, (status, _) in enumerate(told) if status == 200]
        check(len(won) == 1, [status for status, _ in told])
        for status, body in told:
            check(status == 200 or status == 409 and body["changes"], body)
        now = s.ask("GET", "/plan")[1]
        check(now["revision"] == base + 1 and f"p{turn}-{won[0]}" in now["yaml"], now)
    s.stop()


@test
def numbered_names_are_unique_and_the_same_when_asked_again(home):
    s = Server(home).start()
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    body = json.dumps({"name_prefix": "n", "project": "p", "spec": {"command": ["true"]}})
    told = at_once(30, lambda i: s.ask("POST", "/workloads", body))
    check({status for status, _ in told} == {201}, told[:3])
    check({w["name"] for _, w in told} == {f"n-{i}" for i in range(30)}, told)
    told = at_once(30, lambda i: s.ask("POST", "/workloads", body, key="again"))
    check({status for status, _ in told} == {201}, told[:3])
    check({w["name"] for _, w in told} == {"n-30"}, told)
    s.delete_all()
    s.stop()


def cli(s, *words):
    done = subprocess.run([WEIR, *words, "--socket", s.socket], capture_output=True, text=True,
                          timeout=DEADLINE_S, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, HOME=s.home))
    return done.returncode, done.stdout + done.stderr


@test
def plans_that_are_none_are_refused_and_change_nothing(home):
    s = Server(home).start()
    path = os.path.join(home, "plan.yaml")
    rows = [
        ("a quota below nothing", PLAN.replace("guaranteed_gpus: 4", "guaranteed_gpus: -3"), "-3"),
        ("a quota of 2^62", PLAN.replace("guaranteed_gpus: 4", f"guaranteed_gpus: {1 << 62}"),
         str(1 << 62)),
        ("a name with a slash", PLAN.replace("name: p", "name: a/b"), '"a/b"'),
        ("a name that climbs", PLAN.replace("name: p", "name: ../../etc"), "etc"),
        ("a department that holds itself", "organization: &a {departments: [*a]}", "alias"),
        ("aliases that unfold without end", "a: &a [" + "x," * 99 + "]\n" + "".join(
            f"{c}: &{c} [" + f"*{b}," * 99 + "]\n" for b, c in zip("abcd", "bcde")), "aliases"),
        ("very deep", "[" * 100000, "inside each other"),
        ("100 MiB", "#" * (100 << 20), "4 MiB"),
        ("not UTF-8", b"organization: {departments: [{name: \xff}]}\n", "UTF-8"),
        ("binary", bytes(range(256)) * 100, "UTF-8"),  # none of it gets to the terminal
        ("no YAML", "organization: [}", "plan.yaml:1:"),
        ("nothing", "", "empty"),
    ]
    for name, text, want in rows:
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        for verb in (("check",), ("apply", "--yes")):
            code, said = cli(s, "plan", verb[0], path, *verb[1:])
            check(code == 1 and want in said, f"{name}: {verb[0]} ended with {code}: {said[:500]}")
        if len(text) <= 4 << 20:
            status, body = s.ask("POST", "/plan/apply", text)
            check(status in (400, 413) and len(body["message"]) > 5, f"{name}: {status} {body}")
    for path in ("/dev/zero", home, os.path.join(home, "none")):
        code, said = cli(s, "plan", "check", path)
        check(code == 1 and path in said, f"{path}: {code} {said}")
    check(s.ask("GET", "/plan")[1]["revision"] == 1, "the plan is as it was")
    s.stop()


@test
def submits_that_are_none_are_refused_and_leave_nothing(home):
    s = Server(home).start()
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    rows = [
        ("another project", {"project": "q"}, 404), ("no project", {"project": ""}, 400),
        ("a project that climbs", {"project": "../p"}, 404),
        ("a name that climbs", {"name": "../x"}, 400), ("a name with a slash", {"name": "a/b"}, 400),
        ("a name with a zero", {"name": "a\0b"}, 400), ("a long name", {"name": "a" * 500000}, 400),
        ("2^62 devices", {"spec": {"gpu_devices": 1 << 62}}, 400),
        ("fewer than no devices", {"spec": {"gpu_devices": -3}}, 400),
        ("beyond 64 bits", {"spec": {"memory": 1 << 80}}, 400),
        ("no number", {"spec": {"cpu": float("nan")}}, 400),
        ("more than any number", {"spec": {"cpu": 1e308}}, 400),
        ("too many pods", {"spec": {"pods": 4097}}, 400),
        ("too many words", {"spec": {"command": ["x"] * 1025}}, 400),
        ("another pool", {"spec": {"pools": ["none"]}}, 404),
        ("a member there is not", {"spec": {"k" * 500000: 1}}, 400),
        ("a list for an object", {"spec": []}, 400),
    ]
    for name, wrong, want in rows:
        body = {"name": "x", "project": "p", "spec": {"command": ["true"]}}
        for key, value in wrong.items():
            body[key] = dict(body[key], **value) if isinstance(value, dict) else value
        status, answer = s.ask("POST", "/workloads", json.dumps(body))
        check(status == want and answer["message"] and answer["request_id"],
              f"{name}: {status} {answer}")
    for name, text in [("nothing", b""), ("deep", b"[" * 500000), ("deeper", b'{"a":' * 100000),
                       ("bytes", bytes(range(256))), ("a member twice", b'{"name":"a","name":"b"}')]:
        status, answer = s.ask("POST", "/workloads", text)
        check(status in (400, 413) and answer["message"], f"{name}: {status} {answer}")
    check(s.ask("GET", "/workloads?deleted=1")[1]["total"] == 0, "nothing is left of them")
    s.stop()


sys.exit(main())
