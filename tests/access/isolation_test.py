#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every route of the server, asked about what belongs to another department by somebody who may do
everything in a project of their own: it is not there (or, where it may be read, may not be changed),
nothing comes of it, and each refused change is in the audit. What is sent is made from the OpenAPI
document, so a new route is asked too; the same request by the administrator must be a good one. And
whatever is refused is refused in the same form. Prints TAP.

usage: isolation_test.py WEIR"""

import http.client
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))

from world import DEADLINE_S, Connection, Server, check, main, test, until  # noqa: E402

PLAN = """organization:
  departments:
    - name: ours
      node_pool_quotas: {default: {guaranteed_gpus: 2}}
      projects: [{name: mine, node_pool_quotas: {default: {guaranteed_gpus: 1}}}]
    - name: theirs-department
      node_pool_quotas: {default: {guaranteed_gpus: 2}}
      projects: [{name: theirs-project, node_pool_quotas: {default: {guaranteed_gpus: 2}}}]
"""
OTHER_PLAN = PLAN.replace("guaranteed_gpus: 1}", "guaranteed_gpus: 2}")
PASSWORD = "a good long password"
DAY = {name: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago))
       for name, ago in (("start", 86400), ("end", 60))}

# About oneself, or making what belongs to no scope: these are done, and show nothing of others.
OWN = {"create_access_key1", "create_report", "get_permitted_scopes", "change_user_password",
       "create_user", "create_service_account", "logout"}
# One answer for several things: each of them must be among those that failed.
SEVERAL = {"batch_workloads", "access_rules_batch", "access_rules_batch_create"}
# Users and service accounts are in no scope: who may read them sees all, to give them access.
FOR_ALL = {"get_users", "get_user_by_id", "get_service_accounts", "get_service_account_by_id"}
# With a request that is right, refused to the administrator all the same, and why.
ROOT_IS_REFUSED = {
    "exec": {400}, "port_forward": {400},  # it is no WebSocket
    "create_cluster": {409}, "delete_cluster": {409},  # there is one
    "get_access_keys": {403}, "get_access_key_by_id1": {404},  # they are people's own
    "regenerate_access_key_secret": {404},
    "update_department_resources": {400}, # a project below has more
}


class Asker:
    """Somebody with a token; without one, the administrator over the local socket."""

    def __init__(self, server, token=None):
        self.server, self.token, self.id = server, token, None

    def ask(self, method, path, body=None, kind="application/json"):
        connection = (http.client.HTTPConnection(self.server.address, timeout=DEADLINE_S)
                      if self.token else Connection(self.server.socket))
        headers = {"Content-Type": kind}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if not isinstance(body, (str, bytes, type(None))):
            body = json.dumps(body)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            self.id = answer.headers.get("X-Request-Id")
            if "text/event-stream" in answer.headers.get("Content-Type", ""):
                return answer.status, answer.readline().decode()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def must(self, method, path, body=None):
        status, text = self.ask(method, path, body)
        check(status < 300, f"{method} {path}: {status} {text}")
        return json.loads(text) if text else None


def is_error(status, text, what):
    """Of the form that all have."""
    try:
        body = json.loads(text)
    except ValueError as bad:
        raise AssertionError(f"{what}: {status} {text!r:.200}") from bad
    check(isinstance(body, dict) and body.get("code") == status and body.get("message") and
          isinstance(body.get("details"), str), f"{what}: {status} {text:.300}")


class World(Server):
    def begin(self):
        self.start()
        self.address = self.events("server_started")[-1]["address"]
        self.root = Asker(self)
        self.root.must("POST", "/api/weir/v1/plan/apply", PLAN)
        document = self.root.must("GET", "/api/openapi.json")
        self.schemas = document["components"]["schemas"]
        self.routes = [(method.upper(), path, operation)
                       for path, methods in document["paths"].items()
                       for method, operation in methods.items()]
        self.cluster = self.root.must("GET", "/api/v1/clusters")[0]["uuid"]
        self.projects = {p["name"]: p["id"] for p in
                         self.root.must("GET", "/api/v1/org-unit/projects")["projects"]}
        self.departments = {d["name"]: d["id"] for d in
                            self.root.must("GET", "/api/v1/org-unit/departments")["departments"]}
        sets = [p["name"] for p in self.root.must("GET", "/api/v1/permission-sets")]
        edits = [name for name in sets if name.endswith("EditAccess")]
        reads = [name for name in sets if name.endswith("ReadAccess")]
        self.role = self.root.must("POST", "/api/v2/authorization/roles", {
            "name": "Everything", "permissionSets": [{"name": n} for n in edits + reads]})["id"]
        self.made = {}
        self.me = self.hire("me@x", "mine")
        self.they = self.hire("theirs@x", "theirs-project")
        self.make_theirs()
        return self

    def sign_in(self, name, password):
        status, text = Asker(self).ask("POST", "/api/v1/token", {
            "grantType": "password", "username": name, "password": password})
        check(status == 200, f"{name}: {status} {text}")
        return Asker(self, json.loads(text)["accessToken"])

    def hire(self, name, project):
        user = self.root.must("POST", "/api/v1/users", {"email": name})
        rule = self.root.must("POST", "/api/v1/authorization/access-rules", {
            "subjectId": name, "subjectType": "user", "roleId": self.role,
            "scopeType": "project", "scopeId": self.projects[project]})
        self.made["/api/v1/users"], self.made["/api/v1/authorization/access-rules"] = \
            user["id"], rule["id"]
        return self.sign_in(name, user["tempPassword"])

    # ---- what is sent ----

    def known(self, name, at):
        """What a member or an argument of that name says in every request; None: nothing known."""
        return {
            "projectId": self.projects["theirs-project"], "project": "theirs-project",
            "departmentId": self.departments["theirs-department"],
            "clusterId": self.cluster, "scope": "project", "scopeType": "project",
            "scopeId": self.projects["theirs-project"], "subjectId": "friend@x",
            "subjectType": "user", "roleId": 5, "email": "theirs-new@x",
            "name": "theirs-" + "".join(c for c in at if c.isalnum()).lower()[-30:],
            "templateName": "theirs-template", "command": "sleep 600",
            "currentPassword": "x", "newPassword": PASSWORD, "resourceType": "trainings",
            **DAY,
        }.get(name)

    def body_of(self, schema, at, member=""):
        """The smallest that the schema takes, with all that is known."""
        if "$ref" in schema:
            schema = self.schemas[schema["$ref"].split("/")[-1]]
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        known = self.known(member, at)
        if kind == "object" or "properties" in schema:
            required = schema.get("required", [])
            return {name: self.body_of(part, at, name)
                    for name, part in schema.get("properties", {}).items()
                    if name in required or (self.known(name, at) is not None and
                                            name not in ("name", "command", "roleId"))}
        if "anyOf" in schema or "oneOf" in schema:
            return self.body_of((schema.get("anyOf") or schema["oneOf"])[0], at, member)
        if known is not None:
            return int(known) if kind == "integer" else known
        if "enum" in schema:
            return schema["enum"][0]
        if kind == "array":
            least = schema.get("minItems", 0)
            return [self.body_of(schema["items"], at, member) for _ in range(least)]
        return {"integer": schema.get("minimum", 1), "number": 1, "boolean": True,
                "string": "a" * max(schema.get("minLength", 0), 1), None: {}}[kind]

    def filled(self, path):
        return re.sub(r"{(\w+)}", lambda name: str(self.theirs(name[1], path)), path)

    def request(self, method, path, operation):
        """Path with arguments, body and its kind."""
        name = operation["operationId"]
        filled = self.filled(path)
        arguments = []
        for p in operation.get("parameters", []):
            known = self.known(p["name"], path)
            if p["in"] == "query" and (p.get("required") or known is not None) and \
                    p["name"] not in ("name", "email"):
                schema = p["schema"].get("items", p["schema"])
                value = known if known is not None else self.body_of(schema, path, p["name"])
                arguments.append(f"{p['name']}={value}".replace(" ", "+"))
        if arguments:
            filled += "?" + "&".join(arguments)
        content = operation.get("requestBody", {}).get("content", {})
        for kind, one in content.items():
            if name in ("apply_plan", "check_plan", "diff_plan"):
                return filled, OTHER_PLAN, kind
            return filled, self.special(name, self.body_of(one.get("schema", {}), path)), kind
        return filled, None, "application/json"

    def special(self, name, body):
        """What the schema alone does not tell."""
        spec = {
            "create_access_key": {"accessKeyId": "a", "secretAccessKey": "b"},
            "create_docker_registry": {"url": "https://x", "user": "a", "password": "b"},
            "create_generic_secret": {"keyValuePairs": [{"key": "a", "value": "b"}]},
            "create_ngc_api_key": {"ngc_api_key": "b"},
            "create_password": {"user": "a", "password": "b"},
            **{f"create_{kind}1": {"command": "sleep 600"}
               for kind in ("inference", "training", "workspace")},
            "create_distributed": {"distributedFramework": "PyTorch", "numWorkers": 1,
                                   "command": "sleep 600"},
            "submit_workload": {"command": ["sleep", "600"]},
        }.get(name)
        rule = {"subjectId": "friend@x", "subjectType": "user"}
        scope = {"scopeType": "project", "scopeId": self.projects["theirs-project"]}
        ids = {
            "batch_workloads": ["/api/v1/workloads/trainings"],
            "access_rules_batch": ["/api/v1/authorization/access-rules"],
        }.get(name)
        if spec:
            body["spec"] = spec
        if name == "submit_workload":
            body["name"] = "theirs-own"
        if ids:
            body["ids"] = [str(self.made[one]) for one in ids]
        if name == "access_rules_batch_create":
            body["payload"] = {"roleId": 5, "subjects": [rule], "scopes": [scope]}
        if name in ("create_idp", "update_idp"):
            body["oidcData"] = {"clientId": "a", "clientSecret": "b",
                                "discoverDocumentUrl": "https://127.0.0.1:9/.well-known/openid-configuration"}
        if name == "create_workload_type":
            body["categoryId"] = self.first("/api/v1/workload-categories")
            body["priorityId"] = self.first("/api/v1/workload-priorities")
        if name == "update_tenant_setting":
            body.update(key="workload.ownership-protection", value=False)
        return body

    # ---- what is theirs ----

    def make_theirs(self):
        """One of everything that can be made, in their project or above it."""
        for method, path, operation in self.routes:
            name = operation["operationId"]
            if method != "POST" or "{" in path or path in self.made or name in SEVERAL or \
                    name in OWN - {"create_service_account"} or \
                    name in ROOT_IS_REFUSED or "requestBody" not in operation or \
                    "/plan/" in path or operation.get("x-weir-permit", "open") == "open":
                continue
            filled, body, kind = self.request(method, path, operation)
            status, text = self.root.ask(method, filled, body, kind)
            check(status < 300, f"{name}: {status} {text} to {body}")
            made = self.find(path, json.loads(text) if text else {}, body)
            self.made[path] = made
        for path in ("/api/v1/access-keys", "/api/v1/org-unit/reports"):
            self.made[path] = self.they.must("POST", path, {"name": "theirs-own", **(
                DAY if "reports" in path else {})})["id"]
        for path in ("distributed", "inferences", "trainings", "workspaces"):
            self.root.must("PUT", f"/api/v2/policy/{path}", {"meta": {
                "name": "theirs-policy", "scope": "project",
                "projectId": int(self.projects["theirs-project"])}})
        workloads = self.root.must("GET", "/api/weir/v1/workloads")["items"]
        self.pods = {w["id"]: w["pods"][0]["id"] for w in workloads}

    def find(self, path, answer, body):
        """The id of what was made."""
        for where in (answer, answer.get("meta", {})):
            for key in ("workloadId", "id", "uuid", "alias"):
                if where.get(key):
                    return str(where[key])
        name = body.get("name") or body["meta"]["name"]
        listed = self.root.must("GET", path)
        for item in listed if isinstance(listed, list) else next(
                v for v in listed.values() if isinstance(v, list)):
            meta = item.get("meta", item)
            if meta["name"] == name:
                return str(meta["id"])
        raise AssertionError(f"{path}: {name} was made and is not listed: {listed}")

    def theirs(self, name, path):
        """What a parameter of a path stands for; a new kind of parameter is to be told here."""
        above = path.split("/{")[0]
        workload = self.made["/api/v1/workloads/trainings"]
        if "/workloads" in above:
            workload = self.made.get(above, workload)
        return {
            "accessKeyId": self.made["/api/v1/access-keys"],
            "accessRuleId": self.made["/api/v1/authorization/access-rules"],
            "assetId": self.made.get(above), "categoryId": self.first("/api/v1/workload-categories"),
            "clusterUuid": self.cluster, "departmentId": self.departments["theirs-department"],
            "idp": self.made["/api/v1/idps"],
            "name": {"/api/weir/v1/departments": "theirs-department",
                     "/api/weir/v1/projects": "theirs-project",
                     "/api/weir/v1/nodepools": "default"}.get(above, self.first("/api/weir/v1/nodes", "name")),
            "nodeId": self.first("/api/v1/nodes"), "nodepoolId": self.made["/api/v1/node-pools"],
            "nodepoolName": "default", "podId": self.pods[workload],
            "projectId": self.projects["theirs-project"],
            "reportId": self.made["/api/v1/org-unit/reports"],
            "roleId": self.made["/api/v2/authorization/roles"],
            "serviceAccountId": self.made["/api/v1/service-accounts"], "settingKey": "workload.ownership-protection",
            "templateId": self.made.get(above, self.made["/api/v1/workload-templates/trainings"]),
            "userId": self.made["/api/v1/users"], "workload": workload, "workloadId": workload,
            "workloadTypeId": self.made["/api/v1/workload-types"],
        }[name]

    def first(self, path, member="id"):
        """Of the first of a list."""
        answer = self.root.must("GET", path)
        items = answer if isinstance(answer, list) else next(
            v for v in answer.values() if isinstance(v, list))
        return items[0][member]

    def secrets(self):
        """What must not stand in an answer to me: the names and ids of what is theirs."""
        shared = {"/api/v1/node-pools", "/api/v1/workload-types", "/api/v2/authorization/roles"}
        ids = {str(v) for k, v in self.made.items() if k not in shared and len(str(v)) > 8}
        return ids | set(self.pods) | set(self.pods.values()) | {
            "theirs-project", "theirs-department", "theirs@x", "theirs-own", "theirs-policy",
            "friend@x"}

    def not_in_the_audit(self, refused):
        """Of those requests; what was refused is kept a moment after it is answered."""
        left = dict(refused)

        def look():
            for offset in range(0, len(refused) + 1000, 1000):
                for e in self.root.must("GET", "/api/weir/v1/audit?subject=me@x&result=refused&"
                                        f"limit=1000&offset={offset}")["items"]:
                    left.pop(e["request_id"], None)
            return not left

        try:
            until("all are kept", look)
        except AssertionError:
            pass
        return left

    def state(self):
        """All that a request could have changed."""
        plan = self.root.must("GET", "/api/weir/v1/plan?format=json")
        jobs = [(w["id"], w["name"], w["phase"] == "Suspended", w["kind"])
                for w in self.root.must("GET", "/api/weir/v1/workloads")["items"]]
        lists = {path: self.root.must("GET", path) for method, path, operation in self.routes
                 if method == "GET" and path in self.made and "workload" not in path and
                 "access-keys" not in path and "reports" not in path and "org-unit" not in path}
        return {"plan": plan, "jobs": sorted(jobs), **lists}


# The server keeps ten refusals a second for the audit; this stays below, by the same clock.
class Pace:
    KEPT = 9

    def __init__(self):
        self.second, self.count = 0, 0

    def next(self):
        if int(time.monotonic()) == self.second and self.count >= self.KEPT:
            until("the next second", lambda: int(time.monotonic()) != self.second)
        if int(time.monotonic()) != self.second:
            self.second, self.count = int(time.monotonic()), 0
        self.count += 1


def asked(world):
    """Every route that there is, but those that need nobody."""
    for method, path, operation in world.routes:
        if not operation.get("x-weir-missing") and operation.get("x-weir-permit", "open") != "open":
            yield method, path, operation


def is_refused(status, text, what, several):
    """None of it was done."""
    if several:
        answer = json.loads(text)
        check(status == 200 and answer["failed"] and not answer["succeeded"], f"{what}: {text:.300}")
    else:
        check(status in (403, 404), f"{what}: {status} {text:.300}")
        is_error(status, text, what)


@test
def what_is_anothers_is_not_there(home):
    s = World(home).begin()
    before, secrets, pace, refused = s.state(), s.secrets(), Pace(), {}
    wrong = []
    count = 0
    for method, path, operation in asked(s):
        name = operation["operationId"]
        filled, body, kind = s.request(method, path, operation)
        what = f"{name} ({method} {filled})"
        count += 1
        try:
            if name in OWN:
                continue
            if method == "GET":
                status, text = s.me.ask(method, filled)
                check(status < 300 or status in (403, 404) or name in ROOT_IS_REFUSED,
                      f"{what}: {status} {text:.300}")
            else:
                pace.next()
                status, text = s.me.ask(method, filled, body, kind)
                is_refused(status, text, what, name in SEVERAL)
                refused[s.me.id] = what
            if status < 300 and name not in SEVERAL | FOR_ALL:
                shown = [one for one in secrets if one in text]
                check(not shown, f"{what}: shows {shown}: {text:.300}")
        except AssertionError as bad:
            wrong.append(str(bad))
    after = s.state()
    for path, was in before.items():
        if after[path] != was:
            wrong.append(f"something came of it: {path}: {was} is {after[path]}")
    missing = s.not_in_the_audit(refused)
    wrong += [f"{what}: not in the audit" for what in missing.values()]
    check(not wrong, f"{len(wrong)} of {count} routes:\n" + "\n".join(wrong))
    print(f"# {count} routes, {len(refused)} changes refused")

    # The same by who may: what was refused was the asking, not the form.
    order = sorted(asked(s), key=lambda route: (
        route[0] == "DELETE" or route[2]["operationId"] in SEVERAL, -route[1].count("/")))
    for method, path, operation in order:
        name = operation["operationId"]
        if name in OWN:
            continue
        filled, body, kind = s.request(method, path, operation)
        status, text = s.root.ask(method, filled, body, kind)
        if status >= 400 and status not in ROOT_IS_REFUSED.get(
                name, {404, 409} if method == "DELETE" else {409}):
            wrong.append(f"{name} ({method} {filled} {body}): {status} {text:.300}")
    check(not wrong, "not good requests:\n" + "\n".join(wrong))
    s.delete_all()


@test
def whatever_is_refused_is_refused_in_one_form(home):
    s = World(home).begin()
    methods = {}
    for method, path, operation in s.routes:
        if not operation.get("x-weir-missing"):
            methods.setdefault(path, set()).add(method)
    wrong = []

    def refused(what, wanted, status, text):
        try:
            check(status in wanted, f"{what}: {status} {text:.200}")
            is_error(status, text, what)
        except AssertionError as bad:
            wrong.append(str(bad))

    for path, known in methods.items():
        for method in {"GET", "PUT", "POST", "DELETE", "PATCH"} - known:
            at = s.filled(path)
            others = [p for p in methods if p != path and fits(p, at) and method in methods[p]]
            if not others:
                refused(f"{method} {path}", {405}, *s.root.ask(method, at))
    for method, path, operation in asked(s):
        name = operation["operationId"]
        if name == "logout":
            continue
        filled, body, kind = s.request(method, path, operation)
        if "requestBody" in operation and name != "check_plan":  # which tells what is wrong
            for bad in (b"{", b"\xff\xfe", b"[" * 1000, b"17"):
                refused(f"{name} with {bad[:9]!r}", {400, 404, 409, 413},
                        *s.root.ask(method, filled, bad, kind))
        if method == "GET" and "{" in path:
            bad = path.split("{")[0] + "%00_no-such" + path[path.rindex("}") + 1:]
            if path.count("{") == 1:
                refused(f"{name}: {bad}", {400, 404}, *s.root.ask(method, bad))
        if method == "GET":
            join = "&" if "?" in filled else "?"
            status, text = s.root.ask(method, f"{filled}{join}no-such=1")
            if status >= 400:
                refused(f"{name} with an argument that is not known", {400, 403, 404}, status, text)
            elif "/api/weir/" in path:
                wrong.append(f"{name}: takes any argument")
    check(not wrong, f"{len(wrong)}:\n" + "\n".join(wrong))
    s.delete_all()


def fits(pattern, path):
    """The path is one of the pattern's."""
    a, b = pattern.split("/"), path.split("/")
    return len(a) == len(b) and all(x == y or x.startswith("{") for x, y in zip(a, b))


if __name__ == "__main__":
    sys.exit(main())
