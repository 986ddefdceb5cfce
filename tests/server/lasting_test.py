#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Streams and sockets that go on end with the session they began with, and with the right: a watch, a
log that is followed, a command in a pod; for whoever it concerns and nobody else. Prints TAP.

usage: lasting_test.py WEIR"""

import asyncio
import http.client
import json
import sys
import threading
import time

import websockets

from world import DEADLINE_S, PLAN, Server, check, main, test, until

IN_TIME_S = 3  # it is told at once; this is for a busy machine


class Tail:
    """A stream of the server, read to its end by a thread."""

    def __init__(self, address, path, token):
        self.connection = http.client.HTTPConnection(address, timeout=DEADLINE_S)
        self.connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        self.answer = self.connection.getresponse()
        check(self.answer.status == 200, f"{path}: {self.answer.status}")
        self.text, self.ended_at = b"", None
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            while piece := self.answer.read1(65536):
                self.text += piece
        except (OSError, http.client.HTTPException):
            pass
        self.ended_at = time.monotonic()

    def opened(self):
        until("it has begun", lambda: self.text)

    def close(self):
        self.connection.sock.shutdown(2)
        self.thread.join(DEADLINE_S)


class Exec:
    """A command in the pod, over a client of WebSocket that is not ours."""

    def __init__(self, address, path, token):
        self.url = f"ws://{address}{path}"
        self.headers = {"Authorization": f"Bearer {token}"}
        self.text, self.code, self.ended_at = b"", None, None
        self.thread = threading.Thread(target=lambda: asyncio.run(self.talk()), daemon=True)
        self.thread.start()

    async def talk(self):
        async with websockets.connect(self.url, extra_headers=self.headers,
                                      ping_interval=None) as socket:
            self.socket, self.loop = socket, asyncio.get_running_loop()
            try:
                async for message in socket:
                    self.text += message[1:]
            except websockets.ConnectionClosed:
                pass
            self.code = socket.close_code
        self.ended_at = time.monotonic()

    def opened(self):
        until("the command speaks", lambda: self.text)

    def close(self):
        asyncio.run_coroutine_threadsafe(self.socket.close(), self.loop)
        self.thread.join(DEADLINE_S)


class World(Server):
    def begin(self):
        self.start()
        check(self.ask("POST", "/plan/apply", PLAN)[0] == 200, "plan")
        self.address = self.events("server_started")[-1]["address"]
        self.roles = {r["name"]: r["id"] for r in self.ask("GET", "/api/v1/authorization/roles")[1]}
        self.project = self.ask("GET", "/api/v1/org-unit/projects")[1]["projects"][0]["id"]
        self.submit("job", ("sh", "-c", "echo begun; exec sleep 600"))
        until("it runs", lambda: self.ask("GET", "/workloads/p/job")[1]["phase"] == "Running")
        return self

    def change(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.address, timeout=DEADLINE_S)
        connection.request(method, path, json.dumps(body) if body is not None else None,
                           {"Authorization": f"Bearer {self.root}"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        check(answer.status < 300, f"{method} {path}: {answer.status} {text}")
        return json.loads(text) if text else None

    def local(self, method, path, body=None):
        status, answer = self.ask(method, path, json.dumps(body) if body is not None else None)
        check(status < 300, f"{method} {path}: {status} {answer}")
        return answer

    def token(self, body):
        connection = http.client.HTTPConnection(self.address, timeout=DEADLINE_S)
        connection.request("POST", "/api/v1/token", json.dumps(body))
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer["accessToken"]

    def hire(self, name, role="Developer", scope=None):
        user = self.local("POST", "/api/v1/users", {"email": name})
        rule = self.local("POST", "/api/v1/authorization/access-rules", {
            "subjectId": name, "subjectType": "user", "roleId": self.roles[role],
            **(scope or {"scopeType": "project", "scopeId": self.project})})
        token = self.token({"grantType": "password", "username": name,
                            "password": user["tempPassword"]})
        return {"id": user["id"], "name": name, "rule": rule["id"], "token": token}

    def lasting(self, token):
        """One of each kind, all of them open."""
        at = "/api/weir/v1/workloads"
        kinds = {
            "watch": Tail(self.address, f"{at}/watch", token),
            "watch of a project": Tail(self.address, f"{at}/watch?project=p", token),
            "logs": Tail(self.address, f"{at}/p/job/logs?follow=1", token),
            "exec": Exec(self.address, f"{at}/p/job/exec?cmd=sh&cmd=-c&cmd="
                         "echo+here;exec+sleep+600", token),
        }
        for one in kinds.values():
            one.opened()
        return kinds


def sign_out(s, who):
    s.change("POST", f"/api/v1/users/{who['id']}/logout", {})


def new_password(s, who):
    s.change("POST", f"/api/v1/users/{who['id']}/password", {})


def delete(s, who):
    s.change("DELETE", f"/api/v1/users/{who['id']}")


def take_the_role(s, who):
    s.change("DELETE", f"/api/v1/authorization/access-rules/{who['rule']}")


@test
def they_end_with_the_session_and_the_right(home):
    s = World(home).begin()
    root = s.hire("root@x", "System administrator", {"scopeType": "tenant", "scopeId": "1"})
    s.root = root["token"]
    other = s.lasting(s.hire("other@x")["token"])
    for number, way in enumerate((sign_out, new_password, delete, take_the_role)):
        who = s.hire(f"u{number}@x")
        mine = s.lasting(who["token"])
        began = time.monotonic()
        way(s, who)
        for kind, one in mine.items():
            until(f"{kind} ends by {way.__name__}", lambda one=one: one.ended_at)
            took = one.ended_at - began
            check(took < IN_TIME_S, f"{kind}: {took:.1f} s after {way.__name__}")
        check(mine["exec"].code == 1008, f"exec closed with {mine['exec'].code}")
        for kind, one in other.items():
            check(one.ended_at is None, f"{kind} of another ended by {way.__name__}")
    check(s.process.poll() is None, "it runs on")
    for one in other.values():
        one.close()
    s.delete_all()
    check(s.stop() == 0, "exit status")


@test
def they_end_when_one_leaves_the_group_that_may(home):
    s = World(home).begin()
    s.root = s.hire("root@x", "System administrator",
                    {"scopeType": "tenant", "scopeId": "1"})["token"]
    user = s.local("POST", "/api/v1/users", {"email": "member@x", "groups": ["ops", "staff"]})
    s.local("POST", "/api/v1/authorization/access-rules", {
        "subjectId": "ops", "subjectType": "group", "roleId": s.roles["Developer"],
        "scopeType": "project", "scopeId": s.project})
    mine = s.lasting(s.token({"grantType": "password", "username": "member@x",
                              "password": user["tempPassword"]}))
    s.change("PUT", f"/api/v1/users/{user['id']}/groups", {"groups": ["ops"]})
    check(all(one.ended_at is None for one in mine.values()), "still in the group")
    s.change("PUT", f"/api/v1/users/{user['id']}/groups", {"groups": ["staff"]})
    for kind, one in mine.items():
        until(f"{kind} ends", lambda one=one: one.ended_at)
    s.delete_all()
    check(s.stop() == 0, "exit status")


@test
def they_end_with_the_service_account(home):
    s = World(home).begin()
    s.root = s.hire("root@x", "System administrator",
                    {"scopeType": "tenant", "scopeId": "1"})["token"]
    account = s.local("POST", "/api/v1/service-accounts", {"name": "robot"})
    s.local("POST", "/api/v1/authorization/access-rules", {
        "subjectId": "robot", "subjectType": "service-account", "roleId": s.roles["Developer"],
        "scopeType": "project", "scopeId": s.project})
    token = s.token({"grantType": "app_token", "AppId": "robot",
                     "AppSecret": account["clientSecret"]})
    mine = s.lasting(token)
    s.change("DELETE", f"/api/v1/service-accounts/{account['id']}")
    for kind, one in mine.items():
        until(f"{kind} ends", lambda one=one: one.ended_at)
    s.delete_all()
    check(s.stop() == 0, "exit status")


if __name__ == "__main__":
    sys.exit(main())
