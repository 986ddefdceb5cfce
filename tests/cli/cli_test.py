#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line from outside: what each verb prints, in which form, with which exit status.

usage: cli_test.py WEIR TOP [--server | --remote]

Without --server: what needs none. With it: against a real `weir up` with four simulated devices in a
temporary directory. With --remote: against one that speaks TLS, by people that have signed in. Prints TAP. Waits for conditions, never for time."""

import base64
import contextlib
import difflib
import fcntl
import http.client
import http.server
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback

WEIR, TOP = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
POOL = "validation"
DEADLINE_S = float(os.environ.get("WEIR_TEST_DEADLINE", "60"))
TESTS = []
SERVER_TESTS = []
REMOTE_TESTS = []


class Skip(Exception):
    pass


def test(function):
    TESTS.append(function)
    return function


def server_test(function):
    SERVER_TESTS.append(function)
    return function


def remote_test(function):
    REMOTE_TESTS.append(function)
    return function


class Cli:
    """A command line with a configuration directory of its own."""

    def __init__(self, home):
        self.home = home
        self.socket = os.path.join(home, "weir.sock")
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("WEIR_", "RUNAI_")) and k != "NO_COLOR"}
        self.env.update(WEIR_SOCKET=self.socket, HOME=home, LC_ALL="C.UTF-8", TZ="UTC",
                        RUNAI_CLI_CONFIG_PATH=os.path.join(home, "cli"))

    def run(self, *args, env=None, stdin=None):
        done = subprocess.run([WEIR, *args], env={**self.env, **(env or {})}, input=stdin,
                              stdin=subprocess.DEVNULL if stdin is None else None,
                              capture_output=True, timeout=DEADLINE_S)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def ok(self, *args, **more):
        code, out, err = self.run(*args, **more)
        equal(code, 0, f"weir {' '.join(args)}: {err}")
        return out

    def fails(self, status, *args, **more):
        code, out, err = self.run(*args, **more)
        equal(code, status, f"weir {' '.join(args)}: {out}{err}")
        return err

    def json(self, *args):
        return json.loads(self.ok(*args, "--json"))


def equal(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}\n  got  {got!r:.1000}\n  want {want!r:.1000}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


def until(what, condition):
    end = time.monotonic() + DEADLINE_S
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"gave up waiting until {what}")
        time.sleep(0.02)


@contextlib.contextmanager
def in_time(what):
    """What is inside may block, on a pipe or on a FIFO that nobody opens: the test then fails."""
    def late(*_):
        raise AssertionError(f"gave up waiting until {what}")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def read_line(stream):
    with in_time("it writes a line"):
        return stream.readline()


def let_through(gate):
    with in_time(f"somebody reads {gate}"), open(gate, "w") as f:
        f.write("go\n")


class Terminal:
    """A command on a terminal of a given size; all it writes is kept."""

    def __init__(self, cli, *args, columns=80, rows=24, env=None):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(WEIR, [WEIR, *args], {**cli.env, "TERM": "xterm", **(env or {})})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def pump(self):
        ready, _, _ = select.select([self.fd], [], [], 0.05)
        if ready:
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                piece = b""
            self.text += piece
            return bool(piece)
        return True

    def until(self, what):
        end = time.monotonic() + DEADLINE_S
        while what.encode() not in self.text:
            if not self.pump() or time.monotonic() > end:
                raise AssertionError(f"the terminal never showed {what!r}: {self.text!r}")

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait(self):
        end = time.monotonic() + DEADLINE_S
        while self.pump():
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(f"it never ended: {self.text!r}")
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)

    def kill(self):
        os.kill(self.pid, signal.SIGINT)
        return self.wait()


def lines(text):
    return text.rstrip("\n").split("\n")


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


def commands():
    """Every command of the program, from its own generated page."""
    page = subprocess.run([WEIR, "_docs"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^## weir (.*)$", page, re.M)


# What needs no server.


@test
def every_command_has_help_with_an_example(cli):
    found = commands()
    holds(len(found) > 40, f"only {len(found)} commands")
    for command in found:
        out = cli.ok(*command.split(), "--help")
        holds("\nExample:\n  " in out, f"{command}: no example")
        holds("Usage:\n  weir " in out, f"{command}: no usage")
        equal(cli.ok("help", *command.split()), out, f"help {command}")


@test
def groups_and_the_program_have_help(cli):
    for line in ("", "--help", "-h", "help"):
        holds(cli.ok(*line.split()).startswith("weir divides GPUs between teams"), line)
    for group in ("training", "training standard", "workload", "plan", "project", "nodepool"):
        out = cli.ok(*group.split(), "--help")
        holds("Commands:" in out and "Example:" in out, out)


@test
def what_is_unknown_is_answered_with_the_nearest(cli):
    for line, next_step in [
            ("projct list", "did you mean weir project?"),
            ("training sumbit a", "did you mean weir training submit?"),
            ("workload list --projct a", "did you mean --project?"),
            ("training submit a --priority hihg", "did you mean high?"),
            ("logs a", "did you mean weir training logs?"),
            ("submit a -- true", "did you mean weir training submit?"),
            ("list", "did you mean weir training list?"),
            ("apply plan.yaml", "did you mean weir plan apply?"),
            ("inference nim submit a", "no inference of the kind NIM"),
            ("pytorhc submit a", "did you mean weir pytorch?"),
            ("kube apply", "without Kubernetes"),
            ("help planet", "weir --help lists the commands")]:
        err = cli.fails(2, *line.split())
        holds(next_step in err, f"{line}: {err}")


@test
def usage_errors_name_the_field_and_end_with_2(cli):
    for line, wanted in [
            ("pytorch submit a -p x --min-replicas 3 --max-replicas 2 -- a", ["--max-replicas", "upwards"]),
            ("pytorch submit a -p x --workers 3 --max-replicas 2 -- a", ["--max-replicas", "upwards"]),
            ("inference submit a -p x --max-replicas 3 -- a", ["--max-replicas", "scale by load"]),
            ("mpi submit a -p x --slots-per-worker 3 -- a", ["--slots-per-worker", "host file"]),
            ("jax submit a -p x --master-args b -- a", ["--master-args", "as the workers do"]),
            ("workspace submit -p x -- a", ["has no name", "weir workspace submit NAME"]),
            ("training submit a -p x -g 0", ["--gpu-devices-request", "at least 1"]),
            ("training submit a -p x --cpu-memory-request 1Q", ["--cpu-memory-request", "500M"]),
            ("training submit a", ["in which project?", "weir project set"]),
            ("training submit -p x", ["has no name", "--name-prefix"]),
            ("training submit a -p x --name-prefix b", ["which one counts?"]),
            ("training submit a -p x -c", ["no command behind --"]),
            ("training submit a -p x", ["the command to run is missing", "behind --"]),
            ("workload list --json --yaml", ["json and yaml, which one counts?", "--yaml"]),
            ("workload list --json -o table", ["which one counts?", "--output"]),
            ("training submit a -p x sleep 5", ["behind --"]),
            ("training submit a -p x --gpu-request-type memory", ["--gpu-memory-request"]),
            ("training submit a -p x --host-network", ["needs Kubernetes"]),
            ("training describe", ["which workload?"]),
            ("training exec a -p x", ["which command?"]),
            ("config set", ["nothing to set"]),
            ("project describe", ["which project?"]),
            ("completion fish", ["expected bash or zsh"]),
            ("plan check", ["FILE is missing"])]:
        err = cli.fails(2, *line.split())
        for text in wanted:
            holds(text in err, f"{line}: {text!r} not in {err}")
    code, _, err = cli.run("workload", "list", "--columns", "\x1b[31m")
    holds(code != 0 and "\x1b" not in err, f"a terminal sequence comes back: {err!r}")


@test
def without_a_server_the_next_step_is_said(cli):
    for line in ("whoami", "workload list -A", "login", "plan export", "node list",
                 "training exec a -p x -- true"):
        err = cli.fails(1, *line.split())
        holds("weir up" in err, f"{line}: {err}")
    out = cli.ok("version")
    holds(re.match(r"Client   \d+\.\d+\.\d+\nServer   none answers", out), out)
    equal(json.loads(cli.ok("version", "--json"))["server"], None)
    err = cli.fails(1, "whoami", "--socket", "/" + "x" * 200)
    holds("too long" in err, err)
    err = cli.fails(1, "whoami", env={"WEIR_SOCKET": "/nowhere/s"})
    holds("/nowhere/s" in err, err)


@test
def settings_are_kept_where_they_are_looked_for(cli):
    path = os.path.join(cli.home, "cli", "config.json")
    cli.ok("config", "set", "--output", "yaml", "-p", "team-a")
    kept = json.load(open(path))
    equal(kept, {"output": "yaml", "project": "team-a"})
    equal(os.stat(path).st_mode & 0o777, 0o600)
    kept["control_plane"] = {"url": "https://x"}
    json.dump(kept, open(path, "w"))
    cli.ok("config", "set", "--output", "table")
    equal(json.load(open(path))["control_plane"], {"url": "https://x"}, "others' keys are kept")
    holds("team-a" in cli.ok("config", "describe"), "describe")
    equal(cli.json("config", "describe")["project"], "team-a")
    other = {"RUNAI_CLI_CONFIG_PATH": os.path.join(cli.home, "else"),
             "RUNAI_CLI_CONFIG_FILE": "other.json"}
    cli.ok("config", "set", "-p", "team-b", env=other)
    equal(json.load(open(os.path.join(cli.home, "else", "other.json"))), {"project": "team-b"})
    cli.ok("config", "set", "-p", "team-c", "--config-path", os.path.join(cli.home, "third"))
    equal(os.listdir(os.path.join(cli.home, "third")), ["config.json"])
    open(path, "w").write("{\"project\": }")
    err = cli.fails(1, "config", "describe")
    holds("config.json" in err and "mend the file" in err, err)
    os.remove(path)


@test
def completion_scripts_are_right_shell(cli):
    for shell in ("bash", "zsh"):
        script = cli.ok("completion", shell)
        if shutil.which(shell):
            done = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True)
            equal((done.returncode, done.stderr), (0, ""), shell)
    # What bash really offers.
    for typed, want in [("weir works", ["workspace"]), ("weir training su", ["submit", "suspend"]),
                        ("weir training submit --preemptibility ",
                         ["non-preemptible", "preemptible"]),
                        ("weir plan apply --pr", ["--prune"])]:
        words = typed.split(" ")
        driver = (cli.ok("completion", "bash") +
                  f"\nCOMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}\n"
                  "compopt() { :; }; _weir; printf '%s\\n' \"${COMPREPLY[@]}\" | sort\n")
        done = subprocess.run(["bash", "-c", driver], capture_output=True, text=True,
                              env={**cli.env, "WEIR_COMPLETE": WEIR})
        equal(done.stdout.split(), want, typed + done.stderr)


@test
def manual_pages_pass_groff_without_a_warning(cli):
    where = os.path.join(cli.home, "man")
    cli.ok("_man", where)
    pages = sorted(os.listdir(where))
    equal(len(pages), len(commands()) + 1)
    for page in pages:
        done = subprocess.run(["groff", "-man", "-ww", "-b", "-z", "-K", "utf8",
                               os.path.join(where, page)], capture_output=True, text=True)
        equal((done.returncode, done.stderr), (0, ""), page)
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-l", os.path.join(where, "weir.1")],
                              capture_output=True, text=True,
                              env={**cli.env, "MANWIDTH": "80", "PATH": os.environ["PATH"]})
        equal(done.stderr, "")
        holds("weir-training-standard-submit" in done.stdout.replace("\u2010", "-"), done.stdout)


@test
def the_page_of_the_docs_is_the_one_the_table_makes(cli):
    written = open(os.path.join(TOP, "docs", "cli.md")).read()
    difference = list(difflib.unified_diff(lines(written), lines(cli.ok("_docs")), lineterm=""))
    equal(difference, [], "docs/cli.md is old; write it with `weir _docs > docs/cli.md`")


@test
def plans_are_checked_offline(cli):
    for example in ("tenant-plan.yaml", "validation.yaml", "production.yaml"):
        path = os.path.join(TOP, "examples", example)
        code, out, err = cli.run("plan", "check", path)
        equal(code, 0, out)
        holds("the file alone is checked" in err, err)
        equal(cli.run("plan", "check", "--offline", path)[::2], (0, ""))
    bad = os.path.join(cli.home, "bad.yaml")
    text = open(os.path.join(TOP, "examples", "validation.yaml")).read()
    holds("guaranteed_gpus: 2" in text, "the example has changed")
    open(bad, "w").write(text.replace("guaranteed_gpus: 2", "guaranteed_gpus: -3", 1))
    code, out, _ = cli.run("plan", "check", "--offline", bad)
    line = text[:text.index("guaranteed_gpus: 2")].count("\n") + 1
    equal(code, 1)
    holds(re.search(rf"^{re.escape(bad)}:{line}:\d+: error: ", out, re.M), out)
    holds(re.search(r"^ *\| +\^", out, re.M), "no caret: " + out)
    problems = json.loads(cli.run("plan", "check", "--offline", bad, "--json")[1])["problems"]
    equal((problems[0]["severity"], problems[0]["line"]), ("error", line))
    equal(cli.run("plan", "check", "--offline", "-", stdin=text.encode())[0], 0)
    err = cli.fails(1, "plan", "check", os.path.join(cli.home, "nothing.yaml"))
    holds("next" in err, err)


@test
def the_terminal_gets_colour_and_others_do_not(cli):
    wrong = ("project", "lits")
    screen = Terminal(cli, *wrong)
    equal(screen.wait(), 2)
    holds(b"\x1b[31m" in screen.text, f"no colour: {screen.text!r}")
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        screen = Terminal(cli, *wrong, env=env)
        equal(screen.wait(), 2)
        holds(b"\x1b" not in screen.text, f"{env}: {screen.text!r}")
    holds("\x1b" not in cli.fails(2, *wrong), "colour in a pipe")
    screen = Terminal(cli, "training", "submit", "--help", columns=60)
    equal(screen.wait(), 0)
    for line in lines(screen.text.decode().replace("\r", "")):
        holds(len(line) <= 60 or line.startswith("  weir training "), line)


@test
def output_that_cannot_be_written_is_a_failure(cli):
    with open("/dev/full", "w") as full:
        done = subprocess.run([WEIR, "--help"], stdout=full, stderr=subprocess.PIPE, env=cli.env)
    equal(done.returncode, 1)
    holds(b"could not be written" in done.stderr, done.stderr)


# Against a server.


class Server:
    def __init__(self, cli, *more):
        self.cli = cli
        self.more = more
        self.log = os.path.join(cli.home, "server.log")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [WEIR, "up", "--data", os.path.join(self.cli.home, "data"), "--gpus", "fake:4",
             "--node-label", f"runai.node-pool={POOL}", "--listen", "127.0.0.1:0", "--socket",
             self.cli.socket, *self.more],
            stdout=open(self.log, "ab"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            env=self.cli.env)
        until("the server answers", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"weir up ended by itself:\n{open(self.log).read()}")
        return self.cli.run("whoami")[0] == 0

    def stop(self):
        if self.process and self.process.poll() is None:
            for w in self.cli.json("workload", "list", "-A"):
                self.cli.run("workload", "delete", w["id"], "--yes")
            until("all workloads are gone", lambda: not any(
                w["pods_running"] for w in self.cli.json("workload", "list", "-A")))
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=DEADLINE_S)


def submit(cli, name, *more, project="team-a", command=("sleep", "600")):
    return cli.ok("training", "submit", name, "-p", project, "-i", "host", "--node-pools", POOL,
                  "--termination-grace-period", "1s", *more, "--", *command)


def phase(cli, name, project="team-a"):
    return cli.json("workload", "describe", name, "-p", project)["phase"]


def runs(cli, name, project="team-a"):
    until(f"{name} runs", lambda: phase(cli, name, project) == "Running")


def gone(cli, *names, project="team-a"):
    cli.ok("workload", "delete", *names, "-p", project, "--yes")
    until("its GPUs are free", lambda: not any(
        w["pods_running"] for w in cli.json("workload", "list", "-A") if w["name"] in names))


@server_test
def session(cli):
    user = cli.json("whoami")
    equal((user["uid"], user["roles"]), (os.getuid(), ["administrator"]))
    holds("administrator" in cli.ok("login"), "login")
    holds(cli.ok("whoami").startswith("User     "), "whoami")
    holds("uid:" in cli.ok("whoami", "--yaml"), "whoami --yaml")
    cli.ok("logout")
    equal(cli.json("version")["server"], cli.json("version")["client"])
    holds("GET /whoami: answered, status 200" in cli.run("whoami", "--debug")[2], "debug")


@server_test
def the_plan_is_applied_compared_and_exported(cli):
    tenants = os.path.join(TOP, "examples", "tenant-plan.yaml")
    plan = os.path.join(TOP, "examples", "validation.yaml")
    cli.ok("plan", "check", plan)
    err = cli.fails(1, "plan", "apply", plan)
    holds("--yes" in err, f"applied without being asked: {err}")
    holds(len(cli.json("plan", "diff", plan)["changes"]) > 0, "nothing to change")
    cli.ok("plan", "apply", tenants, "--yes")
    out = cli.ok("plan", "apply", plan, "--yes")
    revision = int(re.search(r"revision (\d+)", out).group(1))
    equal(cli.json("plan", "diff", plan)["changes"], [])
    holds("no changes" in cli.ok("plan", "diff", plan), "diff")
    again = cli.json("plan", "apply", plan, "--yes")
    equal(again["revision"], revision, "the same plan again changes nothing")
    exported = os.path.join(cli.home, "exported.yaml")
    open(exported, "w").write(cli.ok("plan", "export"))
    equal(cli.json("plan", "diff", exported, "--prune")["changes"], [])
    holds("projects" in json.dumps(cli.json("plan", "export")), "export --json")
    # Against a revision that is no longer the current one.
    other = os.path.join(TOP, "examples", "production.yaml")
    err = cli.fails(1, "plan", "apply", other, "--yes", "--base-revision", str(revision - 1))
    holds("team-a" in err and "meanwhile" in err, err)
    bad = os.path.join(cli.home, "bad.yaml")
    open(bad, "w").write(open(plan).read().replace("guaranteed_gpus: 2", "guaranteed_gpu: 2", 1))
    for verb in ("check", "diff", "apply"):
        code, out, err = cli.run("plan", verb, bad)
        equal(code, 1, verb)
        holds("guaranteed_gpus" in out + err and "^" in out + err, out + err)


@server_test
def a_plan_is_checked_against_the_pools_that_exist(cli):
    path = os.path.join(cli.home, "partial.yaml")
    for pool, want in ((POOL, None), ("nowhere", "is not listed in node_pools and does not exist: it "
                                      "is made of the nodes labelled runai.node-pool=nowhere")):
        with open(path, "w") as f:
            f.write("organization: {departments: [{name: d, node_pool_quotas: "
                    f"{{{pool}: {{guaranteed_gpus: 0}}}}}}]}}\n")
        said = cli.run("plan", "check", path)[1]
        holds(want in said if want else "node_pools" not in said.replace("node_pool_quotas", ""), said)


@server_test
def lists_have_three_forms(cli):
    for line, key in [("project list", "name"), ("department list", "name"),
                      ("nodepool list", "name"), ("node list", "name"),
                      ("workload list -A", None), ("cluster list", None)]:
        words = line.split()
        answer = cli.json(*words)
        table = lines(cli.ok(*words))
        holds(re.match(r"[A-Z -]+$", table[0]), f"{line}: {table[0]}")
        holds(len(table) > len(answer) or not isinstance(answer, list), line)
        bare = cli.ok(*words, "--no-headers")
        equal(lines(bare) if bare else [], table[1:], line)
        if key:
            names = [item[key] for item in answer]
            equal(names, sorted(names), f"{line}: order")
            shown = lines(cli.ok(*words, "--columns", key, "--no-headers"))
            equal({re.sub(r"^[│├└─ ]+", "", name) for name in shown}, set(names), line)
        equal(cli.ok(*words, "-o", "json"), cli.ok(*words, "--json"))
        holds(cli.ok(*words, "--yaml").strip() != "", line)
        err = cli.fails(2, *words, "--columns", "nmae")
        holds("unknown column" in err, err)


@server_test
def descriptions_have_three_forms(cli):
    node = cli.json("node", "list")[0]["name"]
    for line in ("project describe team-a", "nodepool describe validation", f"node describe {node}",
                 "department describe " + cli.json("department", "list")[0]["name"]):
        words = line.split()
        equal(cli.json(*words)["name"], words[-1], line)
        holds(words[-1] in lines(cli.ok(*words))[0], line)
        holds("name: " + words[-1] in cli.ok(*words, "--yaml"), line)
        err = cli.fails(1, *words[:2], "nosuchthing")
        holds("nosuchthing" in err, err)
    holds("4 of 4" in cli.ok("nodepool", "describe", POOL), "the picture")
    devices = cli.json("node", "describe", node)["devices"]
    holds(all(d["uuid"] in cli.ok("node", "describe", node) for d in devices), "devices")


@server_test
def the_default_project_and_columns_are_kept(cli):
    err = cli.fails(1, "project", "set", "team-z")
    holds("team-z" in err and "did you mean" in err, err)
    cli.ok("project", "set", "team-a")
    equal(lines(cli.ok("project", "describe"))[0], "Project team-a")
    cli.ok("project", "list", "--columns", "name,held", "--set-default-columns")
    equal(lines(cli.ok("project", "list"))[0].split(), ["PROJECT", "HELD"])
    cli.ok("config", "set", "--output", "json")
    json.loads(cli.ok("project", "list"))
    cli.ok("config", "set", "--output", "table")
    os.remove(os.path.join(cli.home, "cli", "config.json"))


@server_test
def the_command_of_the_guide_works_word_by_word(cli):
    line = ("runai training standard submit team-a-job-1 -p team-a -i host "
            "--gpu-devices-request 1 --node-pools validation --priority low "
            "--preemptibility preemptible -- sleep 600")
    done = subprocess.run(["bash", "-O", "expand_aliases", "-c",
                           f"alias runai='{WEIR}'\n{line}"], env=cli.env, capture_output=True,
                          text=True)
    equal((done.returncode, done.stderr), (0, ""))
    holds("team-a-job-1 submitted to project team-a" in done.stdout, done.stdout)
    w = cli.json("training", "describe", "team-a-job-1", "-p", "team-a")
    equal((w["command"], w["gpu_devices"], w["pools"], w["priority"], w["preemptibility"],
           w["image"]),
          (["sleep", "600"], 1, [POOL], "low", "preemptible", "host"))
    runs(cli, "team-a-job-1")
    out = cli.ok("training", "describe", "team-a-job-1", "-p", "team-a")
    for title in ("General", "Compute", "Pods", "Events"):
        holds(f"\n{title}\n" in out, f"no section {title}: {out}")
    holds("\nEvents\n" not in cli.ok("workload", "describe", "team-a-job-1", "-p", "team-a",
                                     "--events=false"), "--events=false")
    holds("█" in cli.ok("nodepool", "describe", POOL), "the picture")
    out = cli.ok("why", "team-a-job-1", "-p", "team-a")
    holds(out.startswith("team-a-job-1 of team-a: Running"), out)
    gone(cli, "team-a-job-1")


@server_test
def flags_of_submit_arrive(cli):
    w = json.loads(cli.ok(
        "training", "submit", "--name-prefix", "many", "-p", "team-a", "-i", "host", "-g", "1",
        "-e", "A=1", "-e", "B=x=y", "-e", "A=2", "--label", "team=a", "--annotation", "note=n",
        "--cpu-core-request", "0.25", "--cpu-memory-request", "64Mi", "--working-dir", "/tmp",
        "--restart-policy", "OnFailure", "--backoff-limit", "3", "--termination-grace-period",
        "2s", "--parallelism", "2", "--node-pools", POOL, "--priority", "medium-high",
        "--preemptibility", "preemptible", "--json", "--", "sh", "-c", "sleep 600"))
    holds(w["name"].startswith("many"), w["name"])
    equal((w["env"], w["labels"], w["annotations"]),
          ({"A": "2", "B": "x=y"}, {"team": "a"}, {"note": "n"}))
    equal((w["cpu"], w["memory"], w["working_dir"], w["restart"], w["backoff_limit"],
           w["grace_ms"], w["pods_wanted"], w["priority"], w["command"]),
          (0.25, 64 << 20, "/tmp", "on-failure", 3, 2000, 2, "medium-high",
           ["sh", "-c", "sleep 600"]))
    gone(cli, w["name"])
    for more, said in [(["--gpu-memory-request", "1G", "--gpu-portion-request", "0.5"],
                        ["field   --gpu-memory-request"]),
                       (["-g", str(1 << 62)], ["field   --gpu-devices-request", str(1 << 62)]),
                       (["--node-pools", "nowhere"],
                        ["field   --node-pools", "nowhere", "weir nodepool list"]),
                       (["--node-pools", POOL, "--node-pools", POOL],
                        ["field   --node-pools", "once"]),
                       (["-p", "team-c"], ["field   --project", "team-c"])]:
        err = cli.fails(1, "training", "submit", "bad", "-p", "team-a", "-i", "host", *more, "--",
                        "true")
        for text in said:
            holds(text in err, err)
    err = cli.fails(1, "training", "submit", "a/b", "-p", "team-a", "-i", "host", "--", "true")
    holds("name" in err, err)


@server_test
def ones_own_credentials_reach_ones_own_jobs(cli):
    path = os.path.join(cli.home, "token")
    with open(path, "w", encoding="utf-8") as f:
        f.write("kept-to-itself")
    err = cli.fails(1, "my-credential", "create", "hub", "-p", "team-a")
    holds("there is nothing to keep" in err, err)
    cli.ok("my-credential", "create", "hub", "-p", "team-a", "--item", f"token=@{path}")
    code, _, err = cli.run("my-credential", "create", "reg", "-p", "team-a", "--type",
                           "dockerRegistry", "--item", "server=r.x", "--item", "user=u",
                           "--item", "password=", stdin=b"p\n")
    equal(code, 0, err)
    equal([line.split()[:2] for line in lines(cli.ok("my-credential", "list", "--no-headers"))],
          [["hub", "genericSecret"], ["reg", "dockerRegistry"]])
    equal(len(cli.json("my-credential", "list", "--type", "dockerRegistry")), 1)
    cli.ok("training", "submit", "own-1", "-p", "team-a", "--env-my-credentials",
           "name=TOKEN,credential-name=hub,key=token", "--", "sh", "-c", "echo $TOKEN; sleep 600")
    until("it says it", lambda: cli.ok("training", "logs", "own-1", "-p", "team-a")
          == "kept-to-itself\n")
    shown = cli.json("training", "describe", "own-1", "-p", "team-a")
    equal(shown["env_secrets"]["TOKEN"]["key"], "token")
    holds("kept-to-itself" not in json.dumps(shown), shown)
    err = cli.fails(1, "my-credential", "delete", "hub")
    holds("1 workload uses it" in err, err)
    err = cli.fails(2, "training", "submit", "own-2", "-p", "team-a", "--env-my-credentials",
                    "TOKEN=hub", "--", "true")
    holds("name=VARIABLE,credential-name=NAME,key=KEY" in err, err)
    err = cli.fails(1, "training", "submit", "own-2", "-p", "team-a", "--env-secret",
                    "TOKEN=other", "--", "true")
    holds('there is no credential "other"' in err and "--env-secret" in err, err)
    gone(cli, "own-1")
    cli.ok("my-credential", "delete", "hub")
    cli.ok("my-credential", "delete", "reg")
    equal(cli.json("my-credential", "list"), [])


@server_test
def the_settings_can_be_given_to_others(cli):
    err = cli.fails(1, "cluster", "set", "nothing")
    name, uuid = re.search(r'this is "(.*)", (\S+)', err).groups()
    cli.ok("cluster", "set", name)
    equal(cli.json("config", "describe")["cluster"]["uuid"], uuid)
    cli.ok("cluster", "set", "--id", uuid)
    path = os.path.join(cli.home, "team.json")
    cli.ok("config", "generate", "-f", path, "--server", "https://weir.example")
    equal(json.load(open(path, encoding="utf-8")),
          {**cli.json("config", "describe"), "control_plane": {"url": "https://weir.example"}})
    equal(cli.json("pvc", "list"), [])


@server_test
def a_waiting_job_shows_its_reason(cli):
    submit(cli, "holds-all", "-g", "4")
    runs(cli, "holds-all")
    submit(cli, "waits-1", "-g", "4")
    submit(cli, "waits-2", "-g", "4")
    row = until("it waits with a reason", lambda: next(
        (w for w in cli.json("workload", "list", "-p", "team-a")
         if w["name"] == "waits-2" and w["why"]), None))
    equal(row["phase"], "Pending")
    table = cli.ok("workload", "list", "-p", "team-a", "--status", "Pending")
    holds(row["why"]["message"].split()[0] in table and "in the queue" in table, table)
    out = cli.ok("why", "waits-2", "-p", "team-a")
    holds(row["why"]["code"] in out and "place 2 in the queue" in out, out)
    story = cli.json("why", "waits-2", "-p", "team-a")
    holds(story["story"], story)
    equal(cli.ok("workload", "list", "-A", "--columns", "name", "--no-headers", "--max-items",
                 "2").count("\n"), 2)
    err = cli.fails(1, "training", "attach", "waits-1", "-p", "team-a", "--pod-running-timeout",
                    "10ms")
    holds("has not started within" in err and "weir why" in err, err)
    # On a terminal the reason turns with a spinner, and the table keeps to the width.
    screen = Terminal(cli, "training", "attach", "waits-1", "-p", "team-a")
    screen.until("Pending")
    screen.kill()
    screen = Terminal(cli, "workload", "list", "-A", columns=70)
    equal(screen.wait(), 0)
    for line in lines(plain(screen.text.decode().replace("\r", ""))):
        holds(len(line) <= 70, f"{len(line)} columns: {line}")
    gone(cli, "holds-all", "waits-1", "waits-2")


@server_test
def logs_are_shown_and_followed(cli):
    gate = os.path.join(cli.home, "gate")
    os.mkfifo(gate)
    submit(cli, "speaks", command=("sh", "-c", f"echo one; echo two; read x <{gate}; echo three"))
    runs(cli, "speaks")
    until("it has written", lambda: cli.run("training", "logs", "speaks", "-p", "team-a")[1] ==
          "one\ntwo\n")
    equal(cli.ok("training", "logs", "speaks", "-p", "team-a", "--tail", "1"), "two\n")
    equal(cli.ok("workload", "logs", "team-a/speaks", "--limit-bytes", "5"), "one\nt")
    follow = subprocess.Popen([WEIR, "training", "logs", "speaks", "-p", "team-a", "-f"],
                              env=cli.env, stdout=subprocess.PIPE, text=True)
    equal((read_line(follow.stdout), read_line(follow.stdout)), ("one\n", "two\n"))
    let_through(gate)
    equal((follow.communicate(timeout=DEADLINE_S)[0], follow.returncode), ("three\n", 0))
    until("it has ended", lambda: phase(cli, "speaks") == "Completed")
    gone(cli, "speaks")


@server_test
def logs_go_on_where_they_were_when_the_server_is_restarted(cli):
    # A gate for each round: opened again before its writer has closed it, one lets through twice.
    gates, server = [os.path.join(cli.home, f"gate-{n}") for n in (1, 2)], cli.server
    for gate in gates:
        os.mkfifo(gate)
    submit(cli, "goes-on", command=("sh", "-c", f"seq 9; for gate in {' '.join(gates)}; do "
                                    "read x <$gate; echo again; done; exit 3"))
    runs(cli, "goes-on")
    until("it has written", lambda: "9\n" in cli.run("training", "logs", "goes-on", "-p",
                                                     "team-a")[1])
    follow = [subprocess.Popen([WEIR, "training", verb, "goes-on", "-p", "team-a", *more],
                               env=cli.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
              for verb, more in (("logs", ("-f", "--tail", "2")), ("attach", ()))]
    equal([read_line(follow[0].stdout) for _ in range(2)], ["8\n", "9\n"])
    equal([read_line(follow[1].stdout) for _ in range(9)][-1], "9\n")
    for end, gate in zip((signal.SIGTERM, signal.SIGKILL), gates):
        server.process.send_signal(end)
        server.process.wait(timeout=DEADLINE_S)
        server.start()
        let_through(gate)
        for f in follow:
            equal(read_line(f.stdout), "again\n")
    for f, status in zip(follow, (0, 3)):
        out, err = f.communicate(timeout=DEADLINE_S)
        equal((f.returncode, out), (status, ""), err)
    # A server that does not come back is told apart from the end of the output.
    submit(cli, "goes-off")
    runs(cli, "goes-off")
    head = os.path.join(cli.home, "head")
    if shutil.which("curl"):
        curl = subprocess.Popen(["curl", "-sN", "--unix-socket", cli.socket, "-D", head,
                                 "http://weir/api/weir/v1/workloads/team-a/goes-off/logs?follow=1"])
        until("its stream has begun", lambda: os.path.exists(head) and
              "Weir-Offset: 0" in open(head).read())
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(timeout=DEADLINE_S)
        holds(curl.wait(DEADLINE_S) != 0, "a stream that was cut off looks like one that ended")
        server.start()
    gone(cli, "goes-on", "goes-off")


@server_test
def a_large_log_is_read_across_its_parts(cli):
    count = (66 << 20) // 64  # lines of 64 bytes: a part is put aside at 64 MiB
    submit(cli, "large", command=("sh", "-c", f"yes {'x' * 63} | head -n {count}; seq 3"))
    follow = subprocess.Popen([WEIR, "training", "logs", "large", "-p", "team-a", "-f",
                               "--wait-timeout", "1m"], env=cli.env, stdout=subprocess.PIPE)
    followed = follow.communicate(timeout=DEADLINE_S)[0].decode()
    equal((follow.returncode, len(followed), followed[-8:]), (0, count * 64 + 6, "x\n1\n2\n3\n"))
    holds(cli.ok("training", "logs", "large", "-p", "team-a") == followed, "not what was followed")
    gone(cli, "large")


@server_test
def attach_ends_as_the_workload_ends(cli):
    code, out, err = cli.run("training", "submit", "ends-7", "-p", "team-a", "-i", "host",
                             "--attach", "--", "sh", "-c", "echo here; exit 7")
    equal(code, 7, err)
    holds("here\n" in out, out)
    code, out, err = cli.run("training", "attach", "ends-7", "-p", "team-a")
    equal((code, out), (7, "here\n"), err)
    code, out, err = cli.run("training", "submit", "ends-0", "-p", "team-a", "-i", "host", "-q",
                             "--attach", "--", "echo", "fine")
    equal((code, out, err), (0, "fine\n", ""))
    gone(cli, "ends-7", "ends-0")


@server_test
def departments_and_projects_are_made_and_removed(cli):
    cli.ok("department", "create", "eyes", "--resources", f"nodepool={POOL},gpu-deserved=3")
    made = cli.json("project", "create", "lidar", "--department", "eyes", "--description", "d",
                    "--resources", f"nodepool={POOL},gpu-deserved=1.5,gpu-limit=2,priority=High")
    equal((made["description"], made["parent"]["name"]), ("d", "eyes"))
    pool = [p for p in cli.json("project", "describe", "lidar")["pools"] if p["pool"] == POOL][0]
    equal((pool["guaranteed_gpus"], pool["max_gpus"]), (1.5, 2))
    for line, wanted in [
            ("project create lidar --department eyes", ["already", "weir plan apply"]),
            ("project create x --department nope", ["no department", "weir department list"]),
            ("project create x --resources nodepool=nope", ["--resources", "weir nodepool list"]),
            ("project create x --namespace y", ["--namespace", "runai-x"]),
            ("department delete eyes --yes", ["lidar"]),
            ("project delete nope --yes", ["weir project list"])]:
        err = cli.fails(1, *line.split())
        holds(all(word in err for word in wanted), f"{line}: {err}")
    for wrong in ("gpus=1", "gpu-deserved=one", "nodepool="):
        holds("--resources" in cli.fails(2, "project", "create", "x", "--resources", wrong), wrong)
    cli.ok("project", "delete", "lidar", "--yes")
    cli.ok("department", "delete", "eyes", "--yes")
    holds("lidar" not in [p["name"] for p in cli.json("project", "list")], "it is gone")


class Local(http.client.HTTPConnection):
    """HTTP over the server's socket."""

    def __init__(self, path):
        super().__init__("weir")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def made(cli, path, body):
    local = Local(cli.socket)
    local.request("POST", "/api/v1/" + path, json.dumps(body), {"Content-Type": "application/json"})
    answer = local.getresponse()
    text = answer.read().decode()
    holds(answer.status < 300, f"{path}: {text}")
    local.close()


@server_test
def what_submits_may_name_is_shown(cli):
    meta = {"scope": "tenant"}
    made(cli, "asset/compute", {"meta": {**meta, "name": "one"}, "spec": {"gpuDevicesRequest": 1}})
    made(cli, "asset/environment", {"meta": {**meta, "name": "py"}, "spec": {"image": "host"}})
    made(cli, "asset/datasource/nfs", {"meta": {**meta, "name": "home"},
         "spec": {"server": "a", "path": "/b", "mountPath": "/c"}})
    made(cli, "asset/datasource/config-map", {"meta": {**meta, "name": "conf"},
         "spec": {"configMap": "m", "mountPath": "/m"}})
    made(cli, "workload-templates/trainings", {"meta": {"name": "usual", "scopeType": "tenant"},
         "spec": {"image": "host", "command": "true"}})
    for word, name, shown in [("compute", "one", "gpuDevicesRequest 1"), ("template", "usual", "Training"),
                              ("environment", "py", "host"), ("datasource", "home", "/c")]:
        holds(name in cli.ok(word, "list"), word)
        holds(name in [a["meta"]["name"] for a in cli.json(word, "list")], word)
        holds(shown in cli.ok(word, "describe", name), word)
        equal(cli.json(word, "describe", name)["meta"]["name"], name)
        holds(f"weir {word} list" in cli.fails(1, word, "describe", "nix"), word)
    equal([a["meta"]["name"] for a in cli.json("datasource", "list", "--type", "configMap")], ["conf"])
    equal({t["name"] for t in cli.json("workload-type", "list")} >= {"Training", "Workspace"}, True)
    equal(cli.json("workload-type", "list", "--external-only"), [])


@server_test
def policies_are_set_and_hold(cli):
    file = os.path.join(cli.home, "policy.yaml")
    def write(text):
        with open(file, "w", encoding="utf-8") as f:
            f.write(text)
    write("""defaults:
  priorityClass: low
  labels:
    instances: [{name: team}]
rules:
  compute:
    gpuDevicesRequest: {max: 2}
  priorityClass:
    options: [{value: low}, {value: medium}]
  labels:
    attributes:
      value: {required: true}
""")
    holds("no policy of its own" in cli.fails(1, "policy", "get", "training", "--tenant"), "none")
    cli.ok("policy", "apply", "training", file, "--tenant", "--validate-only")
    equal(cli.json("policy", "list"), [])
    cli.ok("policy", "apply", "training", file, "--tenant", "--name", "ours")
    equal([(p["type"], p["meta"]["name"]) for p in cli.json("policy", "list")], [("training", "ours")])
    holds("ours" in cli.ok("policy", "list"), "list")
    shown = cli.ok("policy", "effective", "training", "-p", "team-a")
    for line in ("compute.gpuDevicesRequest", "max 2", "labels[].value", "tenant", "system"):
        holds(line in shown, line)
    # What is written is what is read.
    again = cli.ok("policy", "get", "training", "--tenant")
    equal(cli.run("policy", "apply", "training", "-", "--tenant", stdin=again.encode())[0], 0)
    equal(cli.ok("policy", "get", "training", "--tenant"), again)
    err = cli.fails(1, "training", "submit", "big", "-p", "team-a", "-g", "3", "--label", "team=x",
                    "--", "true")
    for word in ("above the maximum 2", "--gpu-devices-request", "policy effective training -p team-a"):
        holds(word in err, word)
    holds("--label" in cli.fails(1, "training", "submit", "big", "-p", "team-a", "--label", "a=b",
                                 "--", "true"), "a label is missing")
    cli.ok("training", "submit", "fits", "-p", "team-a", "--label", "team=x", "--", "true")
    equal(cli.json("workload", "describe", "fits", "-p", "team-a")["priority"], "low")
    # The example of the documentation.
    with open(os.path.join(TOP, "docs", "policies.md"), encoding="utf-8") as f:
        write(f.read().split("```yaml\n")[1].split("```")[0])
    cli.ok("policy", "apply", "training", file, "-p", "team-a", "--validate-only")
    # Each mistake with its line.
    write("rules:\n  image: {max: 1}\n  backoffLimit:\n    min: 4\n    max: many\n")
    err = cli.fails(1, "policy", "apply", "training", file, "-p", "team-a")
    holds(f"{file}:2:11: policy.rules.image.max" in err, err)
    holds(f"{file}:5:5: policy.rules.backoffLimit.max" in err, err)
    write("rules: [")
    holds(f"{file}:" in cli.fails(1, "policy", "apply", "training", file, "--tenant"), "no YAML")
    holds("expected training" in cli.fails(2, "policy", "get", "job", "--tenant"), "kind")
    holds("--tenant" in cli.fails(2, "policy", "get", "training", "--tenant", "--cluster"), "scopes")
    cli.ok("policy", "delete", "training", "--tenant")
    holds("no policy" in cli.fails(1, "policy", "delete", "training", "--tenant"), "gone")


@server_test
def each_kind_of_workload_has_its_verbs(cli):
    """A row: the words of the group, the flags, and what is made of them."""
    for group, flags, kind, framework, pods, least, at_once in [
            ("training", "--parallelism 3 --min-pods 2", "training", "", 3, 2, 3),
            ("training standard", "--runs 3 --parallelism 2", "training", "", 3, 1, 2),
            ("training pytorch", "--workers 2", "distributed", "pytorch", 3, 3, 3),
            ("pytorch", "--workers 2 --no-master", "distributed", "pytorch", 2, 2, 2),
            ("pytorch", "--min-replicas 1 --max-replicas 3", "distributed", "pytorch", 4, 2, 4),
            ("tensorflow", "--no-master", "distributed", "tensorflow", 1, 1, 1),
            ("mpi", "", "distributed", "mpi", 2, 2, 2),
            ("xgboost", "--workers 1", "distributed", "xgboost", 2, 2, 2),
            ("jax", "--workers 3", "distributed", "jax", 4, 4, 4),
            ("workspace", "", "workspace", "", 1, 1, 1),
            ("inference", "--min-replicas 2 --max-replicas 2", "inference", "", 2, 1, 2),
            ("inference standard", "", "inference", "", 1, 1, 1)]:
        row = f"weir {group} submit kinds {flags}"
        cli.ok(*group.split(), "submit", "kinds", "-p", "team-a", *flags.split(), "--", "sleep", "600")
        cli.ok(*group.split(), "suspend", "kinds", "-p", "team-a")
        job = cli.json(*group.split(), "describe", "kinds", "-p", "team-a")
        equal((job["kind"], job["framework"], job["pods_wanted"], job["pods_min"],
               job["parallel_max"]), (kind, framework, pods, least, at_once), row)
        equal(job["restart"], "always" if kind == "inference" else "never", row)
        lists = [[*group.split(), "list"], ["workload", "list", "--type", kind]]
        lists += [["workload", "list", "--framework", framework]] if framework else []
        for line in lists:
            names = [w["name"] for w in cli.json(*line, "-p", "team-a")]
            holds("kinds" in names, f"{row}: {line}: {names}")
        for other in ("workspace", "xgboost" if framework == "jax" else "jax"):
            if other not in (group, kind):
                names = [w["name"] for w in cli.json(other, "list", "-p", "team-a")]
                holds("kinds" not in names, f"{row}: {other}: {names}")
        cli.ok(*group.split(), "delete", "kinds", "-p", "team-a")
        until("it is gone", lambda: not any(
            w["name"] == "kinds" for w in cli.json("workload", "list", "-p", "team-a")))


@server_test
def pods_of_distributed_work_find_each_other(cli):
    cli.ok("pytorch", "submit", "ddp", "-p", "team-a", "--workers", "1", "--node-pools", POOL, "--",
           "sh", "-c", "echo $RANK of $WORLD_SIZE")
    until("it is done", lambda: phase(cli, "ddp", "team-a") == "Completed")
    pods = cli.json("pytorch", "describe", "ddp", "-p", "team-a")["pods"]
    said = [cli.ok("pytorch", "logs", "ddp", "-p", "team-a", "--pod", p["id"]) for p in pods]
    equal(said, ["0 of 2\n", "1 of 2\n"])
    gone(cli, "ddp")


@server_test
def exec_runs_beside_the_workload(cli):
    submit(cli, "host-of", "-g", "1")
    runs(cli, "host-of")
    # Often, since a command that ends at once used to lose its output on the way.
    for _ in range(30):
        code, out, err = cli.run("training", "exec", "host-of", "-p", "team-a", "--", "sh", "-c",
                                 "echo out; echo err >&2; exit 5")
        equal((code, out, err), (5, "out\n", "err\n"))
    code, out, _ = cli.run("workload", "exec", "host-of", "-p", "team-a", "-i", "--", "cat",
                           stdin=b"through and back\n")
    equal((code, out), (0, "through and back\n"))
    big = bytes(range(32, 127)) * 20000
    done = subprocess.run([WEIR, "workload", "exec", "host-of", "-p", "team-a", "-i", "--", "cat"],
                          input=big, capture_output=True, env=cli.env, timeout=DEADLINE_S)
    equal((done.returncode, done.stdout == big), (0, True), "a large input comes back whole")
    devices = cli.ok("training", "exec", "host-of", "-p", "team-a", "--", "printenv",
                     "CUDA_VISIBLE_DEVICES").strip()
    equal(cli.json("workload", "describe", "host-of", "-p", "team-a")["pods"][0]["devices"],
          devices.split(","))
    # Longer commands used to hang for half a minute, and then the connection was gone.
    exec_in = ("training", "exec", "host-of", "-p", "team-a", "--")
    words = [str(i) for i in range(253)]
    equal(cli.ok(*exec_in, "echo", *words), " ".join(words) + "\n")
    equal(len(cli.ok(*exec_in, "echo", "x" * 60000)), 60001)
    for longer in (["w"] * 255, ["w"] * 20000, ["x" * 64000], ["y" * 200] * 250):
        err = cli.fails(1, *exec_in, *longer)
        holds("too long" in err and "sh -c" in err, err)
    # A terminal of its own, with its size, raw so that ^C reaches the command.
    screen = Terminal(cli, "training", "bash", "host-of", "-p", "team-a", columns=91, rows=33)
    screen.type("stty size; echo rea''dy\n")
    screen.until("ready")
    holds(b"33 91" in screen.text, screen.text)
    # Said by the command itself: from then on it, not the shell between two, gets the ^C.
    screen.type("sh -c 'echo slee\"\"ping; exec sleep 600'\n")
    screen.until("sleeping")
    screen.type("\x03")
    screen.until("^C")  # by then what was typed before is dropped
    screen.type("exit 9\n")
    equal(screen.wait(), 9)
    err = cli.fails(1, "training", "exec", "nothere", "-p", "team-a", "--", "true")
    holds("nothere" in err, err)
    gone(cli, "host-of")


@server_test
def the_verbs_of_a_kind_touch_no_other(cli):
    submit(cli, "mine")
    runs(cli, "mine")
    ident = cli.json("training", "describe", "mine", "-p", "team-a")["id"]
    verbs = [["delete"], ["suspend"], ["resume"], ["describe"], ["logs"], ["bash"]]
    for group in ("workspace", "training pytorch", "inference standard"):
        for verb in verbs + [["exec"]]:
            tail = ["--", "true"] if verb == ["exec"] else []
            for named in (["mine", "-p", "team-a"], ["team-a/mine"], ["--uuid", ident]):
                err = cli.fails(1, *group.split(), *verb, *named, *tail)
                holds(f"training standard, not {group}" in err and
                      f"weir training standard {verb[0]} mine" in err, f"{group} {verb}: {err}")
            err = cli.fails(1, *group.split(), *verb, "mine", *tail)
            holds(f'no project has a {group} "mine"' in err, f"{group} {verb}: {err}")
    runs(cli, "mine")
    gone(cli, "mine")


@server_test
def suspend_resume_and_delete(cli):
    submit(cli, "rests")
    runs(cli, "rests")
    holds("rests suspended" in cli.ok("training", "suspend", "rests", "-p", "team-a"), "suspend")
    until("it is stopped", lambda: phase(cli, "rests") == "Stopped")
    cli.ok("training", "resume", "rests", "-p", "team-a")
    runs(cli, "rests")
    ident = cli.json("training", "describe", "rests", "-p", "team-a")["id"]
    equal(cli.json("workload", "describe", "--uuid", ident)["name"], "rests")
    equal(cli.json("workload", "describe", ident)["name"], "rests")
    equal(cli.json("workload", "describe", "rests")["id"], ident, "the only one of the name")
    submit(cli, "rests", project="team-b")
    err = cli.fails(1, "workload", "describe", "rests")
    holds("team-a, team-b" in err and "-p PROJECT" in err, err)
    code, out, err = cli.run("training", "delete", "rests", "nothere", "-p", "team-a")
    equal(code, 1)
    holds("rests deleted" in out and "nothere" in err, out + err)
    screen = Terminal(cli, "workload", "delete", "rests", "-p", "team-b")
    screen.until("[y/N]")
    screen.type("n\n")
    equal(screen.wait(), 1)
    runs(cli, "rests", "team-b")
    cli.ok("workload", "delete", "rests", "-p", "team-b", "--yes")
    until("it is forgotten", lambda: cli.json("workload", "list", "-p", "team-b") == [])


@server_test
def watch_shows_changes(cli):
    watch = subprocess.Popen([WEIR, "workload", "watch", "-p", "team-a"], env=cli.env,
                             stdout=subprocess.PIPE, text=True)
    raw = subprocess.Popen([WEIR, "workload", "watch", "-A", "--json"], env=cli.env,
                           stdout=subprocess.PIPE, text=True)
    screen = Terminal(cli, "workload", "watch", "-A", columns=100)
    screen.until("WORKLOAD")
    submit(cli, "seen")
    for line in iter(lambda: read_line(watch.stdout), ""):
        if re.match(r"team-a/seen Running 1/1 pods", line):
            break
    else:
        raise AssertionError("no line for the running workload")
    for line in iter(lambda: read_line(raw.stdout), ""):
        w = json.loads(line)
        if w["name"] == "seen" and w["phase"] == "Running":
            break
    else:
        raise AssertionError("no object for the running workload")
    screen.until("seen")
    end = time.monotonic() + DEADLINE_S
    while not re.search(r"seen +training +Running", plain(screen.text.decode())):
        holds(screen.pump() and time.monotonic() < end, f"never drawn: {screen.text!r}")
    holds(re.search(rb"\x1b\[\d+A\x1b\[J", screen.text), "not drawn in place")
    screen.kill()
    for process in (watch, raw):
        process.send_signal(signal.SIGINT)
        process.wait()
        process.stdout.close()
    gone(cli, "seen")


@server_test
def names_are_completed_from_the_server(cli):
    submit(cli, "complete-me")
    for words, want in [(["project", "describe", "team-"], ["team-a", "team-b"]),
                        (["nodepool", "describe", "val"], [POOL]),
                        (["workload", "list", "-p", "team-a"], ["team-a"]),
                        (["workload", "list", "--project=team-b"], ["--project=team-b"]),
                        (["training", "logs", "-p", "team-a", "compl"], ["complete-me"]),
                        (["node", "describe", ""],
                         [n["name"] for n in cli.json("node", "list")])]:
        out = cli.ok("_complete", "--", *words)
        equal([line.split("\t")[0] for line in lines(out)], want, " ".join(words))
    gone(cli, "complete-me")


@server_test
def a_command_survives_a_restart_of_the_server(cli):
    """The connection is lost while the command waits; it asks again, and what it asked for happens
    once."""
    server = cli.server
    submit(cli, "before")
    watch = subprocess.Popen([WEIR, "workload", "watch", "-p", "team-a", "--json"], env=cli.env,
                             stdout=subprocess.PIPE, text=True)
    while json.loads(read_line(watch.stdout))["name"] != "before":
        pass  # it begins with what is there
    server.process.send_signal(signal.SIGSTOP)
    asks = subprocess.Popen([WEIR, "training", "submit", "once", "-p", "team-a", "-i", "host",
                             "--debug", "--", "sleep", "600"], env=cli.env,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # It is connected once its socket is there, and asked by then: the kernel takes the request.
    until("it is connected", lambda: any(
        os.readlink(f"/proc/{asks.pid}/fd/{fd}").startswith("socket:")
        for fd in os.listdir(f"/proc/{asks.pid}/fd")))
    server.process.kill()
    server.process.wait()
    server.start()
    out, err = asks.communicate(timeout=DEADLINE_S)
    equal(asks.returncode, 0, err)
    holds("once submitted" in out, out)
    equal([w["name"] for w in cli.json("workload", "list", "-p", "team-a")].count("once"), 1)
    for line in iter(lambda: read_line(watch.stdout), ""):
        if json.loads(line).get("name") == "once":
            break
    else:
        raise AssertionError("the watch did not come back")
    watch.kill()
    watch.wait()
    watch.stdout.close()
    gone(cli, "once", "before")


@server_test
def a_server_that_does_not_answer_is_not_waited_for_in_silence(cli):
    server = cli.server
    server.process.send_signal(signal.SIGSTOP)
    try:
        screen = Terminal(cli, "project", "list")
        screen.until("waiting for the server...")
        for words in (("project", "list"), ("workload", "watch", "--json"), ("whoami", "--json"),
                      ("training", "submit", "late", "-p", "team-a", "-i", "host", "--", "true")):
            code, out, err = cli.run(*words[:2], "--timeout", "1s", *words[2:])
            equal((code, out), (1, ""), err)
            holds("did not answer within 1 s" in err and "--timeout" in err, err)
            holds("waiting" not in err, "said where nobody reads it")
    finally:
        server.process.send_signal(signal.SIGCONT)
    equal(screen.wait(), 0)
    holds(b"team-a" in screen.text, screen.text)
    cli.run("training", "delete", "late", "-p", "team-a")  # it may be there, or not


@server_test
def a_wait_for_the_start_survives_a_restart_of_the_server(cli):
    server = cli.server
    submit(cli, "in-the-way", "-g", "4")
    runs(cli, "in-the-way")
    attached = subprocess.Popen(
        [WEIR, "training", "submit", "patient", "-p", "team-a", "-i", "host", "-g", "1",
         "--node-pools", POOL, "--attach", "--", "sh", "-c", "echo at last; exit 4"], env=cli.env,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    holds("patient" in read_line(attached.stderr), "it says that it waits")
    for how in (signal.SIGKILL, signal.SIGTERM):
        server.process.send_signal(how)
        server.process.wait(timeout=DEADLINE_S)
        server.start()
    gone(cli, "in-the-way")
    out, err = attached.communicate(timeout=DEADLINE_S)
    equal((attached.returncode, lines(out)[-1]), (4, "at last"), err)
    gone(cli, "patient")


# By people elsewhere.


class Person(Cli):
    """Someone with a home of their own, and no way to the server but its address."""

    def __init__(self, root, name):
        super().__init__(os.path.join(root.home, name))
        os.makedirs(self.home)
        del self.env["WEIR_SOCKET"]
        self.name = name
        self.url = "https://" + address(root)
        self.ca = os.path.join(root.home, "data", "tls-cert.pem")

    def sign_in(self, password):
        return self.ok("login", "user", "--server", self.url, "--ca-file", self.ca, "-u", self.name,
                       stdin=f"{password}\n".encode())

    def kept(self, change=None):
        path = os.path.join(self.home, "cli", "authentication.json")
        content = json.load(open(path))
        if change:
            content.update(change)
            json.dump(content, open(path, "w"))
        return content


def address(root):
    started = [line for line in open(root.server.log) if '"server_started"' in line]
    return json.loads(started[-1])["address"]


def hired(root, name, role=None, project="team-a"):
    """A user that has signed in, with a role in a project."""
    password = root.json("user", "create", name)["tempPassword"]
    if role:
        root.ok("access-rule", "create", "--user", name, "--role", role, "-p", project)
    person = Person(root, name)
    person.sign_in(password)
    return person


@remote_test
def the_plan_is_there(root):
    root.ok("plan", "apply", "--yes", os.path.join(TOP, "examples", "validation.yaml"))


@remote_test
def people_sign_in_and_work(root):
    ann = hired(root, "ann@x", "AI practitioner")
    equal(ann.json("whoami")["user"], "ann@x")
    equal([p["name"] for p in ann.json("project", "list")], ["team-a"], "only what she may see")
    ann.ok("project", "set", "team-a")
    ann.ok("training", "submit", "j", "-i", "host", "--node-pools", POOL, "--", "sh", "-c",
           "echo here; sleep 600")
    until("it runs", lambda: ann.json("workload", "describe", "j")["phase"] == "Running")
    until("its log is there", lambda: ann.ok("training", "logs", "j") == "here\n")
    code, out, _ = ann.run("training", "exec", "j", "-i", "--", "sh", "-c", "cat; seq 50000; exit 7",
                           stdin=b"in\n" * 20000)
    equal((code, len(out)), (7, 60000 + len("".join(f"{i}\n" for i in range(1, 50001)))), "exec")
    holds("may not" in ann.run("user", "list")[2], "what she may not")
    ann.ok("training", "delete", "j")


@remote_test
def what_is_kept_is_for_the_person_and_the_sdk(root):
    eve = hired(root, "eve@x", "Viewer")
    directory = os.path.join(eve.home, "cli")
    for name in ("authentication.json", "config.json"):
        equal(os.stat(os.path.join(directory, name)).st_mode & 0o777, 0o600, name)
    config = json.load(open(os.path.join(directory, "config.json")))
    equal(config["control_plane"]["url"], eve.url)
    equal(len(config["cluster"]["uuid"]), 36)
    token = base64.b64decode(eve.kept()["accessToken"]).decode()
    equal(eve.ok("auth", "get-token", "-o", "plaintext"), token + "\n")
    equal(json.loads(eve.ok("auth", "get-token"))["status"]["token"], token)
    equal(json.loads(eve.run("whoami", "--json", env={"WEIR_TOKEN": token})[1])["user"], "eve@x")


@remote_test
def a_token_that_is_over_is_got_anew(root):
    tom = hired(root, "tom@x", "Viewer")
    over = {"accessToken": base64.b64encode(b"a.b.c").decode()}
    tom.kept(over)
    equal(tom.json("whoami")["user"], "tom@x")
    holds(tom.kept()["accessToken"] != over["accessToken"], "it is kept")
    tom.kept(over)
    holds("has no workload" in tom.fails(1, "workload", "logs", "nothing", "-p", "team-a"), "stream")
    tom.kept({**over, "refreshToken": ""})
    holds("weir login" in tom.fails(1, "whoami"), "what to do")


@remote_test
def a_token_goes_to_no_other_server(root):
    kim = hired(root, "kim@x", "Viewer")
    seen = []

    class Thief(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(dict(self.headers))
            self.send_error(404)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Thief) as thief:
        threading.Thread(target=thief.serve_forever, daemon=True).start()
        kim.run("whoami", "--server", f"http://127.0.0.1:{thief.server_port}")
        thief.shutdown()
    equal([("Authorization" in headers) for headers in seen], [False])
    holds("clear text" in kim.fails(1, "whoami", "--server", "http://192.0.2.1:8470"), "plain HTTP")


@remote_test
def wrong_ways_in_are_told_apart(root):
    sue = hired(root, "sue@x", "Viewer")
    before = sue.kept()
    err = sue.fails(1, "login", "user", "-u", "sue@x", stdin=b"wrong\n")
    holds("password is wrong" in err, err)
    equal(sue.kept(), before, "who she was stays")
    holds("Password is missing" in sue.run("login", "user", "-u", "sue@x", stdin=b"")[2], "none")
    other = Person(root, "new@x")
    err = other.fails(1, "login", "user", "--server", other.url, "-u", "x@x", stdin=b"x\n")
    holds("not one to be trusted" in err and "--ca-file" in err, err)
    holds("cannot be reached" in other.run("whoami", "--server", "https://127.0.0.1:1")[2], "none")
    holds("no address" in other.run("whoami", "--server", "gpu-box")[2], "no URL")
    holds("not by both" in other.run("whoami", "--server", other.url, "--socket", "/s")[2], "both")
    sue.ok("logout")
    holds("weir login" in sue.fails(1, "whoami"), "signed out")
    holds(not os.path.exists(os.path.join(sue.home, "cli", "authentication.json")), "forgotten")


@remote_test
def keys_and_service_accounts_sign_in(root):
    secret = root.json("service-account", "create", "ci")["clientSecret"]
    root.ok("access-rule", "create", "--service-account", "ci", "--role", "CI/CD service account",
            "-p", "team-a")
    ci = Person(root, "ci")
    path = os.path.join(ci.home, "secret")
    with open(path, "w") as file:
        file.write(secret + "\n")
    ci.ok("login", "access-key", "--server", ci.url, "--ca-file", ci.ca, "--client-id", "ci",
          "--secret-file", path, "--save")
    ci.kept({"accessToken": ""})
    equal(ci.json("whoami")["user"], "ci", "with what was saved")
    max_ = hired(root, "max@x", "AI practitioner")
    key = max_.json("access-key", "create", "laptop")
    again = Person(root, "laptop")
    err = again.run("login", "application", "--server", again.url, "--ca-file", again.ca,
                    "--client-id", key["clientId"], "--secret", key["clientSecret"])[2]
    holds("can be seen by others" in err, err)
    equal(again.json("whoami")["user"], "max@x")
    max_.ok("access-key", "delete", "laptop")
    again.fails(1, "whoami")


@remote_test
def people_are_administered(root):
    password = root.json("user", "create", "pia@x", "ml")["tempPassword"]
    rows = {u["username"]: u for u in root.json("user", "list")}
    equal(rows["pia@x"]["groups"], ["ml"])
    root.ok("user", "set-groups", "pia@x", "ml", "ops")
    pia = Person(root, "pia@x")
    pia.sign_in(password)
    another = root.json("user", "reset-password", "pia@x")["tempPassword"]
    pia.fails(1, "whoami")
    pia.sign_in(another)
    holds("weir user password" in pia.fails(1, "project", "list"), "somebody else knows it")
    pia.ok("user", "password", stdin=f"{another}\nof-my-own-1234\n".encode())
    holds("Developer" in root.ok("role", "list"), "roles")
    holds("Workloads" in root.ok("role", "describe", "AI practitioner"), "a role")
    rule = root.json("access-rule", "create", "--group", "ops", "--role", "Viewer", "--tenant")
    equal(rule["scopeType"], "tenant")
    names = {p["name"] for p in pia.json("project", "list")}
    holds(names >= {"team-a", "team-b"}, f"by her group: {names}")
    root.ok("access-rule", "delete", str(rule["id"]))
    holds("no role" in root.fails(1, "access-rule", "create", "-u", "pia@x", "--role", "King",
                                  "--tenant"), "no such role")
    root.fails(2, "access-rule", "create", "-u", "pia@x", "--role", "Viewer")
    holds("no access rule" in root.fails(1, "access-rule", "delete", str(rule["id"])), "gone")
    root.ok("user", "delete", "pia@x")
    pia.fails(1, "whoami")
    holds(("users", "pia@x") in [(e["entity"], e["name"])
                                 for e in root.json("audit", "--action", "delete")], "audit")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    remote = "--remote" in sys.argv[3:]
    with_server = remote or "--server" in sys.argv[3:]
    tests = REMOTE_TESTS if remote else SERVER_TESTS if with_server else TESTS
    failed = 0
    home = tempfile.mkdtemp(prefix="weir-cli-")
    cli = Cli(home)
    server = None
    print(f"1..{len(tests)}", flush=True)
    try:
        if with_server:
            server = cli.server = Server(cli, *("--tls", "self-signed") if remote else ())
            server.start()
        for n, function in enumerate(tests, 1):
            name = function.__name__
            try:
                function(cli)
                print(f"ok {n} - {name}", flush=True)
            except Skip as why:
                print(f"ok {n} - {name} # SKIP {why}", flush=True)
            except Exception:
                failed += 1
                for line in traceback.format_exc().splitlines():
                    print(f"# {line}")
                print(f"not ok {n} - {name}", flush=True)
    except Exception:
        failed += 1
        for line in traceback.format_exc().splitlines():
            print(f"# {line}")
        print("Bail out! the server", flush=True)
    finally:
        try:
            if server:
                server.stop()
        except Exception as why:
            failed += 1
            print(f"# the server was not stopped in order: {why}")
            server.process.kill()
        if failed and server and os.path.exists(server.log):
            for line in open(server.log, errors="replace").read().splitlines()[-60:]:
                print(f"# server: {line}")
        if not failed:
            shutil.rmtree(home, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
