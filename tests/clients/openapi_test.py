#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schemathesis against the real executable: whatever is sent, right or wrong by the OpenAPI document,
is answered as the document says, and never with a failure of the server. Prints TAP.

usage: openapi_test.py WEIR VENV [SECONDS]"""

import http.client
import json
import os
import subprocess
import sys

from install import programs
from world import PLAN, Connection, Server, check, main, test

VENV = os.path.abspath(sys.argv[2])
SECONDS = sys.argv[3] if len(sys.argv) > 3 else "40"
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance",
          "response_schema_conformance", "negative_data_rejection")
# Left out: what ends the session it is asked with, and streams, which have no end.
LEFT_OUT = "token|logout|watch|logs|exec|port-forward|service-accounts|access-rules"


def ask(server, path, body):
    connection = Connection(server.socket)
    connection.request("POST", path, json.dumps(body))
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    check(answer.status < 300, f"{path}: {answer.status} {text}")
    return json.loads(text)


def token(server, address):
    """Of a service account that may everything."""
    secret = ask(server, "/api/v1/service-accounts", {"name": "tester"})["clientSecret"]
    ask(server, "/api/v1/authorization/access-rules", {
        "subjectId": "tester", "subjectType": "service-account", "roleId": 1, "scopeType": "tenant",
        "scopeId": "1"})
    connection = http.client.HTTPConnection(address)
    connection.request("POST", "/api/v2/token", json.dumps({
        "grant_type": "client_credentials", "client_id": "tester", "client_secret": secret}),
        {"Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())["access_token"]


@test
def every_answer_is_what_the_document_says(home):
    folder = programs(VENV, "openapi.txt")
    s = Server(home).start()
    check(s.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
    s.submit("j")
    address = s.events("server_started")[-1]["address"]
    done = subprocess.run(
        [os.path.join(folder, "schemathesis"), "run", f"http://{address}/api/openapi.json",
         "--header", f"Authorization: Bearer {token(s, address)}", "--max-examples", "5",
         "--phases", "coverage,fuzzing", "--seed", "1", "--max-time", SECONDS,
         "--continue-on-failure", "--checks", ",".join(CHECKS), "--exclude-tag", "Later",
         "--exclude-path-regex", LEFT_OUT],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=home)
    for line in done.stdout.splitlines():
        if "generated" in line or "Tested" in line:
            print("#", line.strip())
    check(done.returncode == 0, done.stdout[done.stdout.find("= FAILURES ="):][:6000] +
          done.stderr[-1000:])
    check(s.process.poll() is None, "it runs on")
    s.delete_all()


if __name__ == "__main__":
    sys.exit(main())
