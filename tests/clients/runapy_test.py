#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run:ai's own Python SDK, unmodified, against the real executable: every P1 call, by each of its
three kinds of client. What the walks show is the table of operations in docs/api.md. Prints TAP.

usage: runapy_test.py WEIR VENV DOCS
       runapy_test.py WEIR VENV DOCS --write    writes the table anew"""

import base64
import json
import os
import re
import socket
import subprocess
import sys
import threading
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))

from world import Connection, Server, Skip, check, main, test  # noqa: E402

VENV, DOCS = os.path.abspath(sys.argv[2]), sys.argv[3]
BEGIN, END = "<!-- operations: begin -->", "<!-- operations: end -->"


def python():
    """An interpreter with the SDK; made once for a build directory."""
    path = os.path.join(VENV, "bin", "python")
    stamp = os.path.join(VENV, "installed")
    if not os.path.exists(stamp):
        venv.create(VENV, clear=True, with_pip=True)
        done = subprocess.run([path, "-m", "pip", "install", "--quiet", "--requirement",
                               os.path.join(HERE, "requirements.txt")],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise Skip("the SDK cannot be installed: " + " ".join(done.stderr.split())[-200:])
        with open(stamp, "w", encoding="utf-8"):
            pass
    return path


def without_token(bytes_):
    return re.sub(rb"(?i)\r\nauthorization: bearer ", b"\r\nx-authorization: ", bytes_)


class Door:
    """Lets a client in that speaks TCP: its bytes go to the local socket as they are, but for the
    request of a token and what comes of it: on the local socket one is known without."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        first = client.recv(65536)
        if first.startswith(b"POST /api/v1/token "):
            claims = base64.b64encode(json.dumps({"exp": 4000000000}).encode()).decode().rstrip("=")
            body = json.dumps({"accessToken": f"e30.{claims}.x"}).encode()
            client.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                           % (len(body), body))
            client.close()
            return
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.connect(self.path)
        server.sendall(without_token(first))
        back = threading.Thread(target=self.pump, args=(server, client), daemon=True)
        back.start()
        self.pump(client, server)
        back.join()
        server.close()
        client.close()

    @staticmethod
    def pump(source, target):
        try:
            while chunk := source.recv(65536):
                target.sendall(without_token(chunk))
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()


SHOWN = {}


def walk(home, kind):
    interpreter = python()
    s = Server(home).start()
    door = Door(s.socket)
    results = os.path.join(home, "results")
    try:
        done = subprocess.run(
            [interpreter, os.path.join(HERE, "runapy_walk.py"), door.url, "walker", "secret", kind,
             results], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        check(done.returncode == 0, f"{kind}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
        with open(results, encoding="utf-8") as f:
            SHOWN[kind] = json.load(f)
        SHOWN["document"] = document(s)
        s.delete_all()
    finally:
        door.close()


def document(server):
    connection = Connection(server.socket)
    connection.request("GET", "/api/openapi.json")
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


@test
def the_plain_client_walks_through_everything(home):
    walk(home, "plain")


@test
def the_threaded_client_walks_through_everything(home):
    walk(home, "threaded")


@test
def the_async_client_walks_through_everything(home):
    walk(home, "async")


def table():
    """A row for every operation that Run:ai has, with what all three walks have shown of it."""
    kinds = [SHOWN[k] for k in ("plain", "threaded", "async")]
    lines = [BEGIN, "", "| Method | Path | Operation | |", "|---|---|---|---|"]
    for path, methods in sorted(SHOWN["document"]["paths"].items()):
        if path.startswith("/api/weir/") or not path.startswith(("/api/v", "/v1/")):
            continue
        for method, operation in sorted(methods.items()):
            name = operation["operationId"]
            words = {k.get(name) for k in kinds}
            state = "not" if operation.get("x-weir-missing") else \
                "done" if words == {"done"} else "partial"
            lines.append(f"| {method.upper()} | `{path}` | {name} | {state} |")
    return "\n".join(lines + ["", END])


@test
def the_table_in_the_documentation_is_what_the_walks_have_shown(home):
    del home
    if len(SHOWN) < 4:
        raise Skip("the walks did not come to their end")
    with open(DOCS, encoding="utf-8") as f:
        text = f.read()
    found = re.search(re.escape(BEGIN) + ".*" + re.escape(END), text, re.S)
    check(found, f"{DOCS} has no table of operations")
    if "--write" in sys.argv:
        with open(DOCS, "w", encoding="utf-8") as f:
            f.write(text[:found.start()] + table() + text[found.end():])
    elif found.group(0) != table():
        have, want = found.group(0).splitlines(), table().splitlines()
        differ = [f"{a!r} should be {b!r}" for a, b in zip(have, want) if a != b]
        raise AssertionError(f"{len(have)} lines, not {len(want)}: {differ[:5]}; write it anew: --write")


if __name__ == "__main__":
    sys.exit(main())
