#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run:ai's own Python SDK, unmodified, against the real executable: every P1 call, by each of its
three kinds of client. What the walks show is the table of operations in docs/api.md. Prints TAP.

usage: runapy_test.py WEIR VENV DOCS
       runapy_test.py WEIR VENV DOCS --write    writes the table anew"""

import json
import os
import re
import subprocess
import sys

from install import HERE, programs
from world import Connection, Server, Skip, check, main, test

VENV, DOCS = os.path.abspath(sys.argv[2]), sys.argv[3]
BEGIN, END = "<!-- operations: begin -->", "<!-- operations: end -->"


def ask(server, method, path, body=None):
    """Of Run:ai's paths, over the local socket: as the administrator of the machine."""
    connection = Connection(server.socket)
    connection.request(method, path, json.dumps(body) if body is not None else None)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    check(answer.status < 300, f"{method} {path}: {answer.status} {text}")
    return json.loads(text) if text else None


def credentials(server):
    """Of a service account that may everything."""
    account = ask(server, "POST", "/api/v1/service-accounts", {"name": "walker"})
    role = [r for r in ask(server, "GET", "/api/v1/authorization/roles")
            if r["name"] == "System administrator"][0]
    ask(server, "POST", "/api/v1/authorization/access-rules", {
        "subjectId": "walker", "subjectType": "service-account", "roleId": role["id"],
        "scopeType": "tenant", "scopeId": "1"})
    return account["clientId"], account["clientSecret"]


SHOWN = {}


def walk(home, kind):
    interpreter = os.path.join(programs(VENV, "requirements.txt"), "python")
    s = Server(home).start()
    client_id, secret = credentials(s)
    url = "http://" + s.events("server_started")[-1]["address"]
    results = os.path.join(home, "results")
    done = subprocess.run(
        [interpreter, os.path.join(HERE, "runapy_walk.py"), url, client_id, secret, kind, results],
        capture_output=True, text=True, stdin=subprocess.DEVNULL)
    check(done.returncode == 0, f"{kind}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
    with open(results, encoding="utf-8") as f:
        SHOWN[kind] = json.load(f)
    SHOWN["document"] = ask(s, "GET", "/api/openapi.json")
    s.delete_all()


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
