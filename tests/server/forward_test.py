#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ports of jobs, over a WebSocket: a real HTTP server in a job, clients that are not ours. Only what the
job itself listens on is reached. Prints TAP.

usage: forward_test.py WEIR"""

import asyncio
import atexit
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading

import websockets

from world import DEADLINE_S, PLAN, WEIR, Server, check, main, test, until

SERVE = "import http.server,socketserver,os;os.chdir({home!r});" \
    "s=socketserver.ThreadingTCPServer(({host!r},0),http.server.SimpleHTTPRequestHandler);" \
    "open({port!r},'w').write(str(s.server_address[1]));s.serve_forever()"
BIG = 6 << 20


class World(Server):
    def begin(self):
        self.start()
        check(self.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
        return self

    def serves(self, name, host="127.0.0.1"):
        """A job with an HTTP server; the port that it listens on."""
        at = os.path.join(self.home, f"port-{name}")
        code = SERVE.format(home=self.home, host=host, port=at)
        status, answer = self.submit(name, ("/usr/bin/python3", "-c", code))
        check(status == 201, answer)
        until(f"{name} listens", lambda: os.path.exists(at) and os.path.getsize(at))
        with open(at, encoding="utf-8") as f:
            return int(f.read())

    def connect(self, name, port):
        return websockets.unix_connect(
            self.socket, f"ws://weir/api/weir/v1/workloads/p/{name}/port-forward?port={port}",
            ping_interval=None, max_size=None)

    def refused(self, name, port):
        async def talk():
            try:
                async with self.connect(name, port):
                    return 101
            except websockets.InvalidStatusCode as bad:
                return bad.status_code
        return asyncio.run(talk())


async def fetch(socket_, path):
    """All that the HTTP server says."""
    await socket_.send(f"GET {path} HTTP/1.0\r\nHost: x\r\n\r\n".encode())
    said = b""
    try:
        async for message in socket_:
            said += message
    except websockets.ConnectionClosed:
        pass
    return said


@test
def a_server_in_a_job_is_reached(home):
    s = World(home).begin()
    with open(os.path.join(home, "big"), "wb") as f:
        f.write(os.urandom(BIG))
    with open(os.path.join(home, "big"), "rb") as f:
        content = f.read()
    ports = {host: s.serves(f"web{n}", host) for n, host in enumerate(("127.0.0.1", "0.0.0.0"))}

    async def one(name, port):
        async with s.connect(name, port) as c:
            said = await fetch(c, "/big")
            check(c.close_code == 1000, f"closed with {c.close_code}")
        check(said.startswith(b"HTTP/1.0 200") and said.endswith(content), f"{len(said)} bytes")

    async def several():
        await asyncio.gather(*(one(f"web{n % 2}", list(ports.values())[n % 2]) for n in range(12)))

    asyncio.run(several())
    s.delete_all()
    check(s.stop() == 0, "exit status")


@test
def only_what_the_job_itself_listens_on_is_reached(home):
    s = World(home).begin()
    mine, theirs = s.serves("mine"), s.serves("theirs")
    own = int(s.events("server_started")[-1]["address"].rsplit(":", 1)[1])
    with socket.socket() as other, socket.socket() as free:
        other.bind(("127.0.0.1", 0))
        other.listen()
        free.bind(("127.0.0.1", 0))
        for what, port in (("weir", own), ("another job", theirs),
                           ("another process", other.getsockname()[1]),
                           ("nobody", free.getsockname()[1])):
            check(s.refused("mine", port) == 409, f"{what} is reached")
    check(s.refused("mine", mine) == 101, "its own")
    for port in ("0", "70000", "x", ""):
        check(s.refused("mine", port) == 400, f"port {port!r}")
    s.delete_all()
    check(s.stop() == 0, "exit status")


@test
def a_listener_that_shares_its_port_is_not_reached(home):
    s = World(home).begin()
    at = os.path.join(home, "port")
    code = ("import socket,time;s=socket.socket();"
            "s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEPORT,1);s.bind(('127.0.0.1',0));"
            f"s.listen();open({at!r},'w').write(str(s.getsockname()[1]));time.sleep(600)")
    s.submit("shares", ("/usr/bin/python3", "-c", code))
    until("it listens", lambda: os.path.exists(at) and os.path.getsize(at))
    with open(at, encoding="utf-8") as f:
        port = int(f.read())
    check(s.refused("shares", port) == 101, "alone")
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        check(s.refused("shares", port) == 409, "shared")
    s.delete_all()
    check(s.stop() == 0, "exit status")


@test
def it_ends_with_either_side(home):
    s = World(home).begin()
    port = s.serves("web")

    async def client_has_no_more():
        async with s.connect("web", port) as c:
            await c.send(b"GET /data HTTP/1.0\r\n")
            await c.send(b"\r\n")
            await c.send(b"")  # its end
            said = b"".join([message async for message in c])
            check(said.startswith(b"HTTP/1.0"), said[:100])
        async with s.connect("web", port) as c:
            await c.send("text")
            await c.wait_closed()
            check(c.close_code == 1002, f"text: {c.close_code}")

    async def job_ends():
        async with s.connect("web", port) as c:
            await c.send(b"GET /")
            await asyncio.get_running_loop().run_in_executor(
                None, lambda: s.ask("DELETE", "/workloads/p/web"))
            await c.wait_closed()

    asyncio.run(client_has_no_more())
    asyncio.run(asyncio.wait_for(job_ends(), DEADLINE_S))
    s.delete_all()
    check(s.stop() == 0, "exit status")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cli:
    """`weir … port-forward` while it goes on."""

    def __init__(self, server, *words):
        self.process = subprocess.Popen(
            [WEIR, "--socket", server.socket, "--config-path", server.home, *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        atexit.register(self.process.kill)  # whatever fails, its ports are free again

    def stop(self):
        """What it said on its way."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=DEADLINE_S)[1]

    def ends(self, code):
        """What it says."""
        out, err = self.process.communicate(timeout=DEADLINE_S)
        check(self.process.returncode == code, f"{self.process.returncode}: {out}{err}")
        return out + err


@test
def the_command_leads_ports_there(home):
    s = World(home).begin()
    with open(os.path.join(home, "big"), "wb") as f:
        f.write(os.urandom(BIG))
    with open(os.path.join(home, "big"), "rb") as f:
        content = f.read()
    remote, here, nothing = s.serves("web"), free_port(), free_port()
    go = Cli(s, "training", "port-forward", "web", "-p", "p", "--port", f"{here}:{remote}",
             "--port", str(nothing))
    said = [go.process.stdout.readline() for _ in range(2)]
    check(said == [f"127.0.0.1:{here} leads to port {remote}\n",
                   f"127.0.0.1:{nothing} leads to port {nothing}\n"], said)

    def get(results, n):
        connection = http.client.HTTPConnection("127.0.0.1", here, timeout=DEADLINE_S)
        connection.request("GET", "/big")
        results[n] = connection.getresponse().read() == content

    results = {}
    threads = [threading.Thread(target=get, args=(results, n)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_S)
    check(results == {n: True for n in range(6)}, results)
    with socket.create_connection(("127.0.0.1", nothing), DEADLINE_S) as c:
        c.settimeout(DEADLINE_S)
        check(c.recv(1) == b"", "what nobody listens on is closed")
    with socket.create_connection(("127.0.0.1", here), DEADLINE_S) as slow:
        slow.sendall(b"GET /big HTTP/1.0\r\n\r\n")  # and reads nothing
        get(results, 7)
        check(results[7], "another is not held up")
    err = go.stop()
    check(f"no process of the pod listens at 127.0.0.1:{nothing}" in err, err)
    for words, code, wanted in (
            (("training", "port-forward", "web", "-p", "p"), 2, "LOCAL:REMOTE"),
            (("training", "port-forward", "web", "-p", "p", "--port", "80:0"), 2, "80:0"),
            (("training", "port-forward", "web", "-p", "p", "--port", "x"), 2, '"x"'),
            (("workspace", "port-forward", "web", "-p", "p", "--port", f"{nothing}:2"), 1, "of another kind"),
            (("workload", "port-forward", "none", "-p", "p", "--port", f"{nothing}:2"), 1, "has no workload")):
        check(wanted in Cli(s, *words).ends(code), f"{words}")
    s.delete_all()
    check(s.stop() == 0, "exit status")


if __name__ == "__main__":
    sys.exit(main())
