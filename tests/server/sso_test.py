#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signing in by way of an identity provider, a real one (Glewlwyd): with a browser, with a program on
the user's machine, on another device; what tokens that are not right come to. Prints TAP.

usage: sso_test.py WEIR"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import subprocess
import threading
import time
import urllib.parse

from glewlwyd import PROGRAM, Browser, Provider, free_port
from world import DEADLINE_S, WEIR, Server, Skip, check, main, test, until

CLIENT, SECRET = "weir", "hush"
PLAN = """organization:
  departments:
    - name: d
      node_pool_quotas: {default: {guaranteed_gpus: 4}}
      projects:
        - {name: p, access_group: ml-people, node_pool_quotas: {default: {guaranteed_gpus: 2}}}
        - {name: q, access_group: ops, node_pool_quotas: {default: {guaranteed_gpus: 2}}}
"""
LOGIN = "/api/weir/v1/login"
DISCOVERY = "/.well-known/openid-configuration"


def b64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def part(value):
    return b64(json.dumps(value).encode())


def equal(got, want, what=""):
    check(got == want, f"{what}: got {got!r:.600}, want {want!r:.300}")


class World(Server):
    """weir with Glewlwyd as its provider "lab", and two people there."""

    def __init__(self, home, lies=False):
        if PROGRAM is None:
            raise Skip("glewlwyd is not installed")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(home, flags=["--url", self.url])
        self.provider = Provider(home).start()
        self.discovery = self.provider.discovery
        if lies:
            self.liar = Liar(self.provider)
            self.discovery = self.liar.url + DISCOVERY
        self.provider.set_up(CLIENT, SECRET, [f"{self.url}{LOGIN}/callback/lab"])
        self.provider.add_user("ann", "Ann@Example.com", "secret-ann", ["ml-people", "all"])
        self.provider.add_user("bob", "bob@example.com", "secret-bob", ["ops"])

    def command(self):
        command = super().command()
        command[command.index(":0")] = f"127.0.0.1:{self.port}"
        return command

    def begin(self):
        self.start()
        equal(self.ask("POST", "/plan/apply", PLAN)[0], 200, "plan")
        equal(self.connect("lab", self.discovery)[0], 201, "connecting it")
        return self

    def connect(self, name, discovery, client=CLIENT, **more):
        return self.ask_runai("POST", "/api/v1/idps", {
            "name": name, "type": "oidc", "mappers": {"groups": "GROUPS"},
            "oidcData": {"clientId": client, "clientSecret": SECRET,
                         "discoverDocumentUrl": discovery, "scopes": ["openid"], **more}})

    def ask_runai(self, method, path, body=None):
        return self.ask(method, path, json.dumps(body) if body else None)

    def stop(self, *how):
        self.provider.stop()
        return super().stop(*how)

    # as a person

    def there_and_back(self, browser, **args):
        """The answer of the callback to a browser that is signed in at the provider."""
        query = urllib.parse.urlencode({"idp": "lab", **args})
        status, headers, text = browser.ask("GET", f"{self.url}{LOGIN}/sso?{query}")
        equal(status, 302, f"to the provider: {text}")
        return self.follow(browser, headers["Location"])

    def follow(self, browser, location):
        there = location.replace("/auth?", "/auth?g_continue&", 1)
        status, headers, text = browser.ask("GET", there)
        equal(status, 302, f"at the provider: {text}")
        check(headers["Location"].startswith(self.url), f"back: {headers['Location']}")
        return browser.ask("GET", headers["Location"])

    def sign_in(self, name="ann"):
        browser = self.provider.browser_of(name, f"secret-{name}", CLIENT)
        status, headers, text = self.there_and_back(browser, next="/api/docs")
        equal((status, headers["Location"]), (302, "/api/docs"), text)
        return browser

    def who(self, browser=None, token=None):
        headers = {"Authorization": "Bearer " + token} if token else None
        status, _, text = (browser or Browser()).ask(
            "GET", self.url + "/api/weir/v1/whoami", headers=headers)
        return status, json.loads(text)

    def token(self, **form):
        status, _, text = Browser().ask("POST", self.url + "/api/v2/token", form=form)
        return status, json.loads(text)


@test
def a_browser_signs_in_and_out(home):
    w = World(home).begin()
    ways = json.loads(Browser().ask("GET", w.url + LOGIN)[2])
    equal(ways, {"password": True, "providers": [{"name": "lab", "type": "oidc"}]}, "ways in")
    browser = w.sign_in()
    status, who = w.who(browser)
    equal((status, who["user"], who["kind"]), (200, "ann@example.com", "user"), "who")
    projects = json.loads(browser.ask("GET", w.url + "/api/weir/v1/projects")[2])["items"]
    equal([p["name"] for p in projects], ["p"], "by the group that the provider says")
    session = [c for c in browser.cookies if c.name == "weir_session"][0]
    check(session.has_nonstandard_attr("HttpOnly"), "scripts do not see it")
    equal(session.get_nonstandard_attr("SameSite"), "Lax", "pages of others do not send it along")
    # What changes something is taken from pages of this server only.
    body = {"name": "j", "project": "p", "spec": {"command": ["true"]}}
    path = w.url + "/api/weir/v1/workloads"
    other = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    equal(browser.ask("POST", path, body, headers=other)[0], 403, "another page")
    equal(browser.ask("POST", path, body, headers={"Origin": w.url,
                                                   "Sec-Fetch-Site": "same-origin"})[0], 201)
    equal(browser.ask("POST", w.url + "/api/weir/v1/logout", {},
                      headers={"Origin": w.url, "Sec-Fetch-Site": "same-origin"})[0], 200)
    equal(w.who(browser)[0], 401, "signed out")


@test
def groups_follow_the_provider(home):
    w = World(home).begin()
    browser = w.sign_in("bob")
    mine = lambda: [p["name"] for p in json.loads(  # noqa: E731
        browser.ask("GET", w.url + "/api/weir/v1/projects")[2])["items"]]
    equal(mine(), ["q"], "before")
    w.provider.set_groups("bob", ["ml-people"])
    w.there_and_back(browser)
    equal(mine(), ["p"], "after the next sign-in")
    rows = w.ask_runai("GET", "/api/v1/users")[1]
    bob = [u for u in rows if u["username"] == "bob@example.com"][0]
    equal((bob["isLocal"], bob["groups"]), (False, ["ml-people"]), "as it is kept")
    signed = [e for e in w.ask("GET", "/audit?subject=bob@example.com")[1]["items"]
              if e["action"] == "sign-in"]
    equal(len(signed), 2, "the audit has both")


@test
def a_program_on_the_machine_gets_the_code(home):
    w = World(home).begin()
    verifier = b64(os.urandom(32))
    challenge = b64(hashlib.sha256(verifier.encode()).digest())
    target = "http://127.0.0.1:43121/callback"
    browser = w.provider.browser_of("ann", "secret-ann", CLIENT)

    def code():
        status, headers, text = w.there_and_back(browser, redirect_uri=target, state="st",
                                                 code_challenge=challenge)
        equal(status, 302, text)
        check(headers["Location"].startswith(target + "?"), headers["Location"])
        query = urllib.parse.parse_qs(urllib.parse.urlparse(headers["Location"]).query)
        equal(query["state"], ["st"], "its state")
        return query["code"][0]

    def trade(value, verifier=verifier, target=target):
        return w.token(grant_type="authorization_code", code=value, code_verifier=verifier,
                       redirect_uri=target)

    value = code()
    status, tokens = trade(value)
    equal(status, 200, f"{tokens}")
    equal(w.who(token=tokens["access_token"])[1]["user"], "ann@example.com", "who")
    equal(trade(value)[0], 400, "a code is good once")
    equal(trade(code(), verifier=b64(os.urandom(32)))[0], 400, "another verifier")
    equal(trade(code(), target=target + "x")[0], 400, "another address")
    status, more = w.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    equal(status, 200, f"{more}")
    equal(w.who(token=more["access_token"])[1]["user"], "ann@example.com", "who, later")
    for bad in ("http://evil.example/cb", "https://127.0.0.1:1/cb", "http://127.0.0.1.evil.example/"):
        query = urllib.parse.urlencode({"redirect_uri": bad, "state": "s",
                                        "code_challenge": challenge})
        equal(browser.ask("GET", f"{w.url}{LOGIN}/sso?{query}")[0], 400, bad)


@test
def another_device_signs_in(home):
    w = World(home).begin()
    status, _, text = Browser().ask("POST", f"{w.url}{LOGIN}/device", {})
    start = json.loads(text)
    equal(status, 200, text)
    grant = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code",
             "device_code": start["device_code"]}
    status, answer = w.token(**grant)
    equal((status, answer["error"]), (400, "authorization_pending"), "not yet")
    browser = w.provider.browser_of("ann", "secret-ann", CLIENT)
    w.provider.agree_to_device(browser, start["user_code"])
    answers = []

    def signed_in():
        time.sleep(start["interval"])  # as the provider asks for
        answers.append(w.token(**grant))
        return answers[-1][0] == 200

    until("it is signed in", signed_in)
    equal(w.who(token=answers[-1][1]["access_token"])[1]["user"], "ann@example.com", "who")
    equal(w.token(**{**grant, "device_code": "x" + start["device_code"][1:]})[1]["error"],
          "invalid_grant", "a code that is not ours")


class Login:
    """`weir login sso` under way; what it tells the person."""

    def __init__(self, w, *flags):
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("WEIR_", "RUNAI_")) and "DISPLAY" not in k}
        self.env["RUNAI_CLI_CONFIG_PATH"] = os.path.join(w.home, "cli")
        self.process = subprocess.Popen(
            [WEIR, "login", "sso", "--server", w.url, *flags], env=self.env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def line(self, start):
        for line in self.process.stderr:
            if line.strip().startswith(start):
                return line.strip()[len(start):].strip()
        raise AssertionError(f"it never said {start}")

    def ended(self, status=0):
        out, err = self.process.communicate(timeout=DEADLINE_S)
        equal(self.process.returncode, status, out + err)
        return out + err

    def cli(self, *words):
        done = subprocess.run([WEIR, *words], env=self.env, capture_output=True, text=True,
                              timeout=DEADLINE_S, stdin=subprocess.DEVNULL)
        equal(done.returncode, 0, done.stderr)
        return done.stdout


@test
def the_command_line_signs_in_with_a_browser(home):
    w = World(home).begin()
    browser = w.provider.browser_of("ann", "secret-ann", CLIENT)
    login = Login(w, "--listen-port", "0")
    url = "http" + login.line("http")
    port = urllib.parse.urlparse(urllib.parse.parse_qs(
        urllib.parse.urlparse(url).query)["redirect_uri"][0]).port
    equal(Browser().ask("GET", f"http://127.0.0.1:{port}/callback?code=c&state=mine")[0], 404,
          "a page of others")
    status, headers, text = browser.ask("GET", url)
    equal(status, 302, text)
    status, headers, text = w.follow(browser, headers["Location"])
    equal(status, 302, text)
    status, _, page = browser.ask("GET", headers["Location"])
    check(status == 200 and "close this page" in page, page)
    said = login.ended()
    check("You are ann@example.com" in said, said)
    check("ann@example.com" in login.cli("whoami"), "from now on")
    # It goes on by the provider when the token is over.
    path = os.path.join(home, "cli", "authentication.json")
    with open(path, encoding="utf-8") as f:
        kept = json.load(f)
    kept["accessToken"] = base64.b64encode(b"a.b.c").decode()
    with open(path, "w", encoding="utf-8") as f:
        json.dump(kept, f)
    check("ann@example.com" in login.cli("whoami"), "later")


@test
def the_command_line_signs_in_with_another_device(home):
    w = World(home).begin()
    browser = w.provider.browser_of("bob", "secret-bob", CLIENT)
    login = Login(w, "--device")
    w.provider.agree_to_device(browser, login.line("and enter the code"))
    check("You are bob@example.com" in login.ended(), "who")
    check("bob@example.com" in login.cli("whoami"), "from now on")


@test
def what_the_provider_says_no_to_is_told(home):
    w = World(home).begin()
    login = Login(w, "--listen-port", "0")
    url = "http" + login.line("http")
    browser = Browser()
    headers = browser.ask("GET", url)[1]
    state = urllib.parse.parse_qs(urllib.parse.urlparse(headers["Location"]).query)["state"][0]
    status, headers, text = browser.ask(
        "GET", f"{w.url}{LOGIN}/callback/lab?error=access_denied&state={state}")
    equal(status, 302, text)
    browser.ask("GET", headers["Location"])
    check("access_denied" in login.ended(1), "why")


@test
def keys_of_the_provider_are_changed(home):
    w = World(home).begin()
    w.sign_in()
    w.provider.rotate()
    browser = w.provider.browser_of("ann", "secret-ann", CLIENT)
    asked = []

    def in_again():
        if asked:
            time.sleep(2)  # a provider is not asked for its keys all the time; attempts are counted
        asked.append(w.there_and_back(browser)[0])
        return asked[-1] == 302

    until("it is signed with the key of now", in_again)
    equal(w.who(browser)[1]["user"], "ann@example.com", "who")
    check(len(asked) < 15, f"soon: {asked}")


@test
def a_provider_that_is_away_is_said(home):
    w = World(home).begin()
    browser = w.sign_in()
    w.provider.stop()
    equal(w.who(browser)[0], 200, "who is in stays in")
    status, headers, _ = browser.ask("GET", f"{w.url}{LOGIN}/sso?idp=lab")
    if status == 302:  # where it is, is known: it is missed when it must say who came
        state = urllib.parse.parse_qs(urllib.parse.urlparse(headers["Location"]).query)["state"][0]
        status, _, text = browser.ask("GET", f"{w.url}{LOGIN}/callback/lab?code=c&state={state}")
    equal(status, 503, text)
    check("lab" in text, text)


@test
def answers_nobody_asked_for_are_refused(home):
    w = World(home).begin()
    browser = w.provider.browser_of("ann", "secret-ann", CLIENT)
    status, headers, _ = browser.ask("GET", f"{w.url}{LOGIN}/sso?idp=lab")
    back = browser.ask("GET", headers["Location"].replace("/auth?", "/auth?g_continue&", 1))
    back = back[1]["Location"]
    equal(Browser().ask("GET", back)[0], 403, "another browser")
    equal(browser.ask("GET", back.replace("state=", "state=x"))[0], 403, "another state")
    equal(browser.ask("GET", back.replace("/callback/lab", "/callback/other"))[0] in (403, 404),
          True, "another provider")
    status, headers, text = browser.ask("GET", f"{w.url}{LOGIN}/sso?idp=lab")
    back = browser.ask("GET", headers["Location"].replace("/auth?", "/auth?g_continue&", 1))
    back = back[1]["Location"]
    equal(browser.ask("GET", back)[0], 302, "as it should be")
    equal(browser.ask("GET", back)[0], 403, "once")
    equal(browser.ask("GET", f"{w.url}{LOGIN}/sso?idp=lab&next=//evil.example/")[0], 302)
    page = Browser().ask("GET", back, headers={"Accept": "text/html"})
    check("You are not signed in" in page[2], "a page for people")


class Liar:
    """A provider of our own that passes on what Glewlwyd says, but signs other tokens."""

    def __init__(self, real):
        liar = self
        self.real, self.forge = real, None
        self.key = os.path.join(real.home, "liar.pem")
        openssl("genrsa", "-out", self.key, "2048")
        modulus = openssl("rsa", "-in", self.key, "-noout", "-modulus").decode().split("=")[1]
        self.jwk = {"kty": "RSA", "kid": "liar", "use": "sig", "alg": "RS256", "e": "AQAB",
                    "n": b64(bytes.fromhex(modulus.strip()))}
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        real.says_issuer = self.url

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self, status, body):
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                if self.path.endswith("openid-configuration"):
                    document = json.loads(Browser().ask("GET", liar.real.discovery)[2])
                    document = {name: value.replace(liar.url, liar.real.issuer)
                                if isinstance(value, str) else value
                                for name, value in document.items()}
                    document["issuer"] = liar.url
                    document["token_endpoint"] = liar.url + "/token"
                    document["jwks_uri"] = liar.url + "/keys"
                    self.answer(200, document)
                elif self.path == "/keys":
                    keys = json.loads(Browser().ask("GET", liar.real.issuer + "/jwks")[2])["keys"]
                    self.answer(200, {"keys": [*keys, liar.jwk]})
                else:
                    self.answer(404, {})

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                status, _, text = Browser().ask(
                    "POST", liar.real.issuer + "/token",
                    form=dict(urllib.parse.parse_qsl(body)),
                    headers={"Authorization": self.headers["Authorization"] or ""})
                answer = json.loads(text)
                if "id_token" in answer and liar.forge:
                    answer["id_token"] = liar.forge(answer["id_token"])
                self.answer(status, answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def signed(self, **more):
        """The token with other claims, signed as it should be by a key that is shown."""
        def forge(token):
            text = f"{part({'alg': 'RS256', 'kid': 'liar'})}.{part({**claims_of(token), **more})}"
            return f"{text}.{b64(openssl('dgst', '-sha256', '-sign', self.key, input=text.encode()))}"
        return forge


def openssl(*words, **more):
    return subprocess.run(["openssl", *words], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=DEADLINE_S, **more).stdout


def claims_of(token):
    return json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))


def changed(**more):
    """The same token with other claims, under the signature that it had."""
    def forge(token):
        head, _, signature = token.split(".")
        return f"{head}.{part({**claims_of(token), **more})}.{signature}"
    return forge


def unsigned(token):
    body = token.split(".")[1]
    return f"{part({'alg': 'none'})}.{body}."


def with_secret(token):
    """Signed by what both know: the public key taken for a secret is the same trick."""
    body = token.split(".")[1]
    text = f"{part({'alg': 'HS256'})}.{body}"
    return f"{text}.{b64(hmac.new(SECRET.encode(), text.encode(), 'sha256').digest())}"


@test
def forged_tokens_let_nobody_in(home):
    w = World(home, lies=True).begin()
    liar = w.liar
    browser = w.provider.browser_of("ann", "secret-ann", CLIENT)
    equal(w.there_and_back(browser)[0], 302, "what is right is taken")
    liar.forge = liar.signed()
    equal(w.there_and_back(browser)[0], 302, "so is what another key of the provider signed")
    good = {}

    def keep(token):
        good["token"] = token
        return token

    for name, forge, why in (
            ("no signature", unsigned, "is not signed with"),
            ("a signature of the secret", with_secret, "is not signed with"),
            ("another subject under the signature that it had", changed(sub="root"), "signature"),
            ("a longer life under the signature that it had", changed(exp=1 << 40), "signature"),
            ("over", liar.signed(exp=1), "expired"),
            ("of the future", liar.signed(iat=1 << 40), "of the future"),
            ("another audience", liar.signed(aud="someone-else"), "(aud)"),
            ("another issuer", liar.signed(iss="https://evil.example"), "(iss)"),
            ("another nonce", liar.signed(nonce="n"), "(nonce)"),
            ("about nobody", liar.signed(sub=""), "(sub)"),
            ("no token", lambda token: "", "gave no ID token"),
            ("no JWT", lambda token: "a.b", "is no ID token"),
            ("cut", lambda token: token[:-10], "signature")):
        liar.forge = forge
        status, _, text = w.there_and_back(browser)
        equal(status, 403, f"{name}: {text}")
        check(why in text, f"{name}: {text}")
    # A token that was right for another attempt has another nonce.
    liar.forge = keep
    equal(w.there_and_back(browser)[0], 302, "right")
    liar.forge = lambda token: good["token"]
    status, _, text = w.there_and_back(browser)
    equal(status, 403, f"of another attempt: {text}")
    check("nonce" in text, text)
    refused = lambda: w.ask("GET", "/audit?action=sign-in&result=refused")[1]["items"]  # noqa: E731
    until("the audit has ten, which are kept of those in one second",
          lambda: len(refused()) >= 10)
    liar.server.shutdown()


@test
def who_is_not_in_the_claim_stays_out(home):
    w = World(home).begin()
    equal(w.connect("strict", w.provider.discovery,
                    mandatoryClaim={"claim": "GROUPS", "values": ["ops"]})[0], 201, "strict")
    status, who = w.ask_runai("GET", "/api/v1/idps/strict")
    equal((status, who["oidcData"]["clientSecret"]), (200, ""), "the secret is never shown")
    with open(os.path.join(w.data, "weir.db"), "rb") as f:
        check(SECRET.encode() not in f.read(), "nor is it on the disk")
    equal(w.connect("lab", w.provider.discovery)[0], 409, "there is one")
    equal(w.connect("odd", "gopher://x")[0], 400, "no address")
    equal(w.ask_runai("DELETE", "/api/v1/idps/strict")[0], 200, "gone")
    equal(w.ask_runai("GET", "/api/v1/idps/strict")[0], 404, "gone")


if __name__ == "__main__":
    raise SystemExit(main())
