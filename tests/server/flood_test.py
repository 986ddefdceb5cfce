#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""More than anyone should send: a gigabyte, ten thousand connections, requests that never end. The
server stays up and small, and others are served meanwhile. Prints TAP.

usage: flood_test.py WEIR"""

import os
import resource
import select
import socket
import time

from world import DEADLINE_S, PLAN, Connection, Server, Skip, check, main, test, until

CONNECTIONS = 10000
GROWTH_MIB = 128


def mib(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as f:
        return [int(line.split()[1]) for line in f if line.startswith("VmRSS")][0] >> 10


def address(server):
    host, port = server.events("server_started")[-1]["address"].rsplit(":", 1)
    return host, int(port)


def begin(home):
    # The address sanitizer keeps what is freed, a quarter of a gigabyte of it: that is not growth.
    options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
    s = Server(home, env={"ASAN_OPTIONS": options}).start()
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    return s, mib(s)


def still_well(s, before):
    start = time.monotonic()
    check(s.ask("GET", "/projects")[0] == 200, "others are served")
    took = time.monotonic() - start
    check(took < DEADLINE_S / 2, f"others waited {took} s")
    check(mib(s) - before < GROWTH_MIB, f"from {before} to {mib(s)} MiB")


def answer_of(connection, send):
    """What comes back while a body is sent, piece by piece, that never ends; b"": it was cut off."""
    connection.settimeout(DEADLINE_S)
    sent = 0
    while sent < 1 << 30:
        readable, _, _ = select.select([connection], [], [], 0)
        try:
            if readable:
                return connection.recv(65536), sent
            sent += send(connection)
        except (BrokenPipeError, ConnectionResetError):
            try:
                return connection.recv(65536), sent
            except ConnectionResetError:
                return b"", sent
    return connection.recv(65536), sent


def local(s):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(s.socket)
    return connection


@test
def a_gigabyte_is_not_taken(home):
    s, before = begin(home)
    piece = b"x" * 65536

    def plain(connection):
        return connection.send(piece)

    def chunk(connection):
        connection.sendall(b"10000\r\n" + piece + b"\r\n")
        return len(piece)

    for path in ("plan/apply", "workloads"):
        for head, send in ((f"Content-Length: {1 << 30}", plain),
                           ("Transfer-Encoding: chunked", chunk)):
            with local(s) as connection:
                connection.sendall(f"POST /api/weir/v1/{path} HTTP/1.1\r\nHost: w\r\n"
                                   f"{head}\r\n\r\n".encode())
                answer, sent = answer_of(connection, send)
                check(answer == b"" or b" 413 " in answer.split(b"\r\n")[0],
                      f"{path}, {head}: {answer[:80]}")
                check(sent < 64 << 20, f"{path}, {head}: {sent} bytes were taken")
            still_well(s, before)
    s.stop()


@test
def ten_thousand_connections_are_too_many(home):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < CONNECTIONS + 200:
        raise Skip(f"no more than {hard} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (CONNECTIONS + 200, hard))
    s, before = begin(home)
    where, open_ones, refused = address(s), [], 0
    for i in range(CONNECTIONS):
        connection = socket.socket()
        connection.settimeout(2)
        try:
            connection.connect(where)
            open_ones.append(connection)
        except OSError:  # those that wait to be accepted are limited too
            refused += 1
            connection.close()
        if i % 1000 == 0:
            still_well(s, before)
        if refused >= 20:
            break
    still_well(s, before)
    for connection in open_ones:
        connection.close()

    def answers():
        try:
            with socket.create_connection(where, timeout=5) as connection:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: w\r\n\r\n")
                return b" 200 " in connection.recv(4096)
        except OSError:
            return False

    until("others get in again", answers)
    s.stop()


@test
def connections_ended_before_they_were_accepted_keep_no_place(home):
    s, before = begin(home)
    where, gone = address(s), []
    for _ in range(1000):  # more than are served at once, fewer than may wait
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(where)
        try:
            connection.send(b"GET /healthz HTTP/1.1\r\nX: ")
        except OSError:
            pass  # not connected yet
        gone.append(connection)
    still_well(s, before)
    for connection in gone:
        connection.close()
    with socket.create_connection(where, timeout=DEADLINE_S) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: w\r\n\r\n")
        check(b" 200 " in connection.recv(4096), "others get in")
    s.stop()


@test
def who_never_finishes_is_cut_off(home):
    s, before = begin(home)
    slow = [socket.create_connection(address(s)) for _ in range(100)]
    for i, connection in enumerate(slow):
        connection.sendall(b"GET /api/weir/v1/projects HTTP/1.1\r\nX: "[:10 + i % 30])
    still_well(s, before)

    def all_cut():
        for connection in list(slow):
            if select.select([connection], [], [], 0)[0]:
                connection.close()
                slow.remove(connection)
        still_well(s, before)
        return not slow

    until("all are cut off", all_cut)
    s.stop()


@test
def watchers_that_do_not_read_cost_little(home):
    s, before = begin(home)
    asleep = []
    for _ in range(50):
        connection = Connection(s.socket)
        connection.request("GET", "/api/weir/v1/workloads/watch")
        asleep.append(connection)
    for i in range(300):
        check(s.submit(f"j-{i}")[0] == 201, "submit")
    still_well(s, before)
    for connection in asleep:
        connection.close()
    s.delete_all()
    s.stop()


if __name__ == "__main__":
    raise SystemExit(main())
