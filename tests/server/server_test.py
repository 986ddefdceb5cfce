#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How `weir up` starts, stops, and what it says when it cannot: settings, a directory in use or not
writable, damage, a torn write, a full disk. Against the real executable; prints TAP.

usage: server_test.py WEIR"""

import contextlib
import http.client
import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from world import DEADLINE_S, PLAN, WEIR, Connection, Server, Skip, check, main, test, until


@test
def a_clean_stop_leaves_jobs_running_and_nothing_to_apply(home):
    s = Server(home).start()
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    check(s.submit("one")[0] == 201, "submit")
    until("it runs", lambda: s.ask("GET", "/workloads/p/one")[1]["phase"] == "Running")
    before = s.ask("GET", "/workloads/p/one")[1]
    check(s.stop() == 0, "exit status of a clean stop")
    check(not os.path.exists(s.socket), "the socket is left behind")
    s.start()
    started = s.events("server_started")[-1]
    check(started["replayed"] == 0 and started["checkpoint_seq"] > 0, started)
    after = s.ask("GET", "/workloads/p/one")[1]
    check(after["phase"] == "Running" and after["pods"] == before["pods"], (before, after))
    s.delete_all()
    check(s.stop() == 0, "exit status")


@test
def after_a_start_the_journal_comes_to_rest(home):
    s = Server(home).start()
    phase = lambda name: s.ask("GET", f"/workloads/p/{name}")[1]["phase"]
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    s.submit("again")
    until("it runs", lambda: phase("again") == "Running")
    s.ask("POST", "/workloads/p/again/suspend")
    until("it is stopped", lambda: phase("again") == "Stopped")
    s.ask("POST", "/workloads/p/again/resume")
    until("its second attempt runs", lambda: phase("again") == "Running")
    s.submit("short", ["true"])
    until("it has ended", lambda: phase("short") == "Completed")
    for how in (signal.SIGKILL, signal.SIGTERM):
        s.stop(how)
        s.start()
        # An adapter and an engine that answer each other without end write hundreds in that time.
        at = s.ask("GET", "/cluster")[1]["seq"]
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            now = s.ask("GET", "/cluster")[1]["seq"]
        check(now - at < 20, f"{now - at} inputs in half a second with nobody asking")
    s.delete_all()
    check(s.stop() == 0, "exit status")


@test
def secrets_reach_the_job_and_nothing_else(home):
    s = Server(home).start()
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    secret = "kept-to-itself-4711"
    code, made = s.ask("POST", "/api/v1/asset/credentials/generic-secret", json.dumps(
        {"meta": {"name": "hub", "scope": "tenant"},
         "spec": {"keyValuePairs": [{"key": "token", "value": secret}]}}))
    check(code == 202, made)
    path = "/api/v1/asset/credentials/generic-secret/" + made["meta"]["id"]

    def submit(name):
        return s.ask("POST", "/workloads", json.dumps(
            {"name": name, "project": "p", "spec": {
                "command": ["sh", "-c", "echo $A-$B-$TOKEN"], "env": {"A": "1", "TOKEN": "hidden"},
                "env_secrets": {"TOKEN": {"credential": "hub", "key": "token"},
                                "B": {"credential": made["meta"]["id"]}}}}))

    def output(name):
        until("it is done", lambda: s.ask("GET", f"/workloads/p/{name}")[1]["phase"] == "Completed")
        connection = Connection(s.socket)
        connection.request("GET", f"/api/weir/v1/workloads/p/{name}/logs")
        return connection.getresponse().read().decode().strip()

    check(submit("first")[0] == 201, "submit")
    check(output("first") == f"1-{secret}-{secret}", output("first"))
    # What is started later gets what the credential has by then.
    check(s.ask("PUT", path, json.dumps(
        {"meta": {"name": "hub"},
         "spec": {"keyValuePairs": [{"key": "token", "value": "another"}]}}))[0] == 202, "change")
    check(submit("second")[0] == 201, "submit")
    check(output("second") == "1-another-another", output("second"))
    connection = Connection(s.socket)
    connection.request("DELETE", path)
    check(connection.getresponse().status == 204, "what is over uses it no more")
    code, answer = submit("third")
    check((code, answer["field"]) == (400, "spec.env_secrets.TOKEN"), answer)
    s.delete_all()
    s.stop()
    kept = b"".join(open(os.path.join(s.data, name), "rb").read()
                    for name in os.listdir(s.data) if name.startswith("weir.db"))
    check(secret.encode() not in kept and secret not in s.said(), "it stands in the journal or log")


@test
def settings_by_flag_then_environment_then_file(home):
    data = os.path.join(home, "data")
    os.makedirs(data)
    with open(os.path.join(data, "weir.yaml"), "w", encoding="utf-8") as f:
        f.write("gpus: fake:2\nnode_name: from-file\nnode_labels: {zone: a, rack: 7}\n")
    s = Server(home)
    s.command = lambda: [WEIR, "up", "--socket", s.socket, "--listen=:0"]
    s.env["WEIR_DATA"] = data
    s.start()
    node = s.ask("GET", "/nodes")[1]["items"][0]
    check(node["name"] == "from-file" and node["gpus"] == 2, node)
    check(node["labels"]["zone"] == "a" and node["labels"]["rack"] == "7", node)
    s.stop()
    s.env["WEIR_GPUS"] = "fake:3"
    s.start()
    until("environment over file", lambda: s.ask("GET", "/nodes/from-file")[1]["gpus"] == 3)
    address = s.events("server_started")[-1]["address"]
    host, port = address.rsplit(":", 1)
    check(host == "127.0.0.1" and int(port) > 0, address)
    tcp = http.client.HTTPConnection(host, int(port), timeout=DEADLINE_S)
    tcp.request("GET", "/healthz")
    check(json.loads(tcp.getresponse().read())["ok"] is True, "healthz over TCP")
    s.stop()


@test
def wrong_settings_are_named(home):
    rows = [
        (["--dta", "x"], "did you mean --data"),
        (["--gpus"], "needs a value"),
        (["--gpus", "fake:no"], "fake:"),
        (["--listen", "nowhere"], "HOST:PORT"),
        (["--node-label", "x"], "=VALUE"),
        (["--log-level", "loud"], "debug"),
        (["--socket", "/" + "x" * 200], "--socket"),
    ]
    for flags, want in rows:
        said = Server(home, flags=flags).refused()
        check(want in said, f"{flags}: expected {want!r} in {said!r}")
    os.makedirs(os.path.join(home, "data"), exist_ok=True)
    path = os.path.join(home, "data", "weir.yaml")
    for text, want in [("gpu: fake:4\n", 'did you mean "gpus"'), ("a: [\n", "weir.yaml:"),
                       ("listen: [1]\n", "weir.yaml:1:9"), ("- x\n", "a map")]:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        said = Server(home).refused()
        check(want in said, f"{text!r}: expected {want!r} in {said!r}")


@test
def a_directory_in_use_names_the_process(home):
    s = Server(home).start()
    other = Server(tempfile.mkdtemp(dir=home), data=s.data)
    said = other.refused()
    check(f"process {s.process.pid}" in said and "--data" in said, said)
    check(s.ask("GET", "/whoami")[0] == 200, "the first goes on")
    elsewhere = Server(home, data=os.path.join(home, "other"))
    said = elsewhere.refused()  # the same socket
    check("--socket" in said and s.socket in said, said)
    check(s.ask("GET", "/whoami")[0] == 200, "the first goes on")
    s.stop()


@test
def a_directory_that_cannot_be_written(home):
    blocked = os.path.join(home, "file")
    with open(blocked, "w", encoding="utf-8") as f:
        f.write("no directory")
    said = Server(home, data=blocked).refused()
    check(blocked in said and "--data" in said, said)
    closed = os.path.join(home, "ro")
    os.makedirs(closed, 0o500)
    if os.geteuid() != 0:
        said = Server(home, data=closed).refused()
        check("--data" in said and closed in said, said)
    elif subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,mode=700", "tmpfs", closed],
                        capture_output=True).returncode == 0:
        try:
            for data in (closed, os.path.join(closed, "below")):
                said = Server(home, data=data).refused()
                check(closed in said and "Read-only" in said, said)
        finally:
            subprocess.run(["umount", closed], capture_output=True)


@test
def a_directory_named_from_here_is_the_same_for_its_jobs(home):
    s = Server(home, data="data")
    s.socket = "s"  # from here too
    os.chdir(home)
    try:
        s.start()
        check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
        check(s.submit("one", ["true"])[0] == 201, "submit")
        until("it ran", lambda: s.ask("GET", "/workloads/p/one")[1]["phase"] == "Completed")
        check(s.stop() == 0 and not os.path.exists("s"), "a clean stop")
    finally:
        os.chdir("/")


@test
def a_directory_that_is_not_its_own(home):
    for mode in (0o770, 0o707, 0o777):
        path = os.path.join(home, f"open-{mode:o}")
        os.mkdir(path)
        os.chmod(path, mode)
        said = Server(home, data=path).refused()
        check(path in said and f"{mode:o}" in said and "chmod" in said, said)
        check(os.listdir(path) == [], "nothing was written there")
    if os.geteuid() == 0:
        path = os.path.join(home, "theirs")
        os.mkdir(path, 0o700)
        os.chown(path, 65534, 65534)
        said = Server(home, data=path).refused()
        check(path in said and "belongs to" in said and "--data" in said, said)


def filled(home):
    """A data directory with some history, left by kill -9."""
    s = Server(home).start()
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    for i in range(20):
        check(s.submit(f"job-{i}", ["true"])[0] == 201, "submit")
    until("all ended", lambda: s.ask("GET", "/workloads?phase=Completed")[1]["total"] == 20)
    s.stop(signal.SIGKILL)
    return s


@test
def a_torn_write_is_dropped_and_told(home):
    s = filled(home)
    wal = os.path.join(s.data, "weir.db-wal")
    size = os.path.getsize(wal)
    check(size > 0, "no write-ahead log")
    with open(wal, "r+b") as f:
        f.truncate(size - 100)
    s.start()
    check(s.events("torn_write_dropped"), s.said())
    check(s.ask("GET", "/workloads")[1]["total"] == 20, "what was acknowledged long ago")
    s.stop()


@test
def a_lost_journal_is_not_taken_for_a_new_one(home):
    s = filled(home)  # all is in the write-ahead log still
    for name in ("weir.db-wal", "weir.db"):
        for lose in (os.unlink, lambda path: os.truncate(path, 0)):
            kept = {f: open(os.path.join(s.data, f), "rb").read()
                    for f in ("weir.db", "weir.db-wal")}
            lose(os.path.join(s.data, name))
            said = s.refused()
            check("weir.db" in said and "pods" in said and "backup" in said, said)
            for f, content in kept.items():
                with open(os.path.join(s.data, f), "wb") as out:
                    out.write(content)
    s.start()
    check(s.ask("GET", "/workloads")[1]["total"] == 20, "all is there again")
    s.stop()


def rewritten(database, seq, change):
    """What the record was before change(body) took its place."""
    with contextlib.closing(sqlite3.connect(database)) as db, db:
        body, = db.execute("SELECT body FROM journal WHERE seq = ?", (seq,)).fetchone()
        db.execute("UPDATE journal SET body = ? WHERE seq = ?", (change(body), seq))
    return body


@test
def damage_in_the_middle_stops_the_start(home):
    s = filled(home)
    wal = os.path.join(s.data, "weir.db-wal")
    kept = open(wal, "rb").read()
    with open(wal, "r+b") as f:
        f.seek(len(kept) // 2)
        f.write(b"damage")
    said = s.refused()
    check("weir.db-wal" in said and re.search(r"byte \d+", said) and "backup" in said, said)
    with open(wal, "wb") as f:
        f.write(kept)
    s.start()
    s.stop()  # now all is in weir.db
    database = os.path.join(s.data, "weir.db")
    body = rewritten(database, 7, lambda body: body[:-1] + b"\x5a")  # history: the checkpoint is whole
    said = s.refused()
    check("weir.db" in said and "record 7 fails its check" in said and "backup" in said, said)
    rewritten(database, 7, lambda _: body)
    s.start()
    s.stop()
    with open(database, "r+b") as f:
        f.write(b"not a database at all")
    said = s.refused()
    check("weir.db" in said and "backup" in said, said)


@test
def a_full_disk_answers_reads_and_recovers(home):
    small = os.path.join(home, "small")
    os.makedirs(small)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", small],
                      capture_output=True).returncode != 0:
        raise Skip("needs the right to mount a small file system")
    try:
        s = Server(home, data=os.path.join(small, "data")).start()
        check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
        ballast = os.path.join(small, "ballast")
        check(s.submit("first", ["true"])[0] == 201, "submit")
        with open(ballast, "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 65536)
            except OSError:
                pass
        acknowledged = 1
        status, body = 201, {}
        for i in range(2000):
            status, body = s.submit(f"more-{i}", ["true"])
            if status != 201:
                break
            acknowledged += 1
        check(status in (500, 503) and "disk full" in body["message"], (status, body))
        check(s.ask("GET", "/workloads?deleted=1")[1]["total"] == acknowledged, "reads go on")
        os.unlink(ballast)
        until("it recovers", lambda: s.submit("after", ["true"])[0] in (201, 409))
        check(s.ask("GET", "/workloads?deleted=1")[1]["total"] == acknowledged + 1, "nothing lost")
        s.stop(signal.SIGKILL)
        s.start()
        check(s.ask("GET", "/workloads?deleted=1")[1]["total"] == acknowledged + 1, "nor later")
        s.stop()
    finally:
        subprocess.run(["umount", "-l", small], capture_output=True)


@test
def it_answers_while_a_gang_starts_and_stops(home):
    s = Server(home).start()
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    pods, answers, over = 200, [], threading.Event()

    def ping():
        connection = Connection(s.socket)
        while not over.is_set():
            begun = time.monotonic()
            connection.request("GET", "/api/weir/v1/healthz")
            connection.getresponse().read()
            answers.append(time.monotonic() - begun)

    def longest_while(what, condition):
        answers.clear()
        begun = time.monotonic()
        until(what, condition)
        took = time.monotonic() - begun
        # Done in one go, an answer waits for nearly all of it.
        check(max(answers) < max(took / 4, 0.2), f"{what}: {max(answers):.3f} s of {took:.3f} s")

    pinger = threading.Thread(target=ping)
    pinger.start()
    try:
        check(s.ask("POST", "/workloads", json.dumps(
            {"name": "gang", "project": "p", "spec": {
                "command": ["sleep", "600"], "pods": pods, "cpu": 0.001, "memory": 1}}))[0] == 201,
              "submit")
        longest_while("all run", lambda: s.ask("GET", "/workloads/p/gang")[1]["pods_running"] == pods)
        check(s.ask("DELETE", "/workloads/p/gang")[0] in (200, 202), "delete")
        longest_while("all are gone", lambda: not os.listdir(os.path.join(s.data, "pods")))
    finally:
        over.set()
        pinger.join()
    check(s.stop() == 0, "exit status")


@test
def files_may_be_many_for_the_server_and_few_for_a_job(home):
    ours = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, ours[1]))
    try:
        s = Server(home).start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, ours)
    with open(f"/proc/{s.process.pid}/limits", encoding="ascii") as f:
        soft, hard = re.search(r"Max open files +(\d+) +(\d+)", f.read()).groups()
    check(soft == hard, f"{soft} of {hard}")
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    s.submit("one", ["sh", "-c", "exit $(($(ulimit -n) == 256))"])
    until("it ended", lambda: s.ask("GET", "/workloads/p/one")[1]["phase"] in ("Failed", "Completed"))
    check(s.ask("GET", "/workloads/p/one")[1]["exit_code"] == 1, "the limit of the job")
    s.delete_all()
    s.stop()


@test
def the_page_of_the_api_needs_nothing_from_elsewhere(home):
    s = Server(home).start()
    connection = Connection(s.socket)
    connection.request("GET", "/api/docs")
    answer = connection.getresponse()
    page = answer.read().decode()
    check(answer.status == 200 and "/api/openapi.json" in page, page[:200])
    check("default-src 'none'" in answer.getheader("Content-Security-Policy"), "its rules")
    check("http:" not in page and "https:" not in page and "src=" not in page, "other hosts")
    s.stop()


sys.exit(main())
