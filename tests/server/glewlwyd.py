# SPDX-License-Identifier: Apache-2.0
"""A real OpenID Connect provider for the tests: Glewlwyd (Debian's glewlwyd), in a directory of its own
on a loopback port, set up over its own API; and a browser that signs in there as a person would."""

import http.cookiejar
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

PROGRAM = shutil.which("glewlwyd")
SCHEMA = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"
MODULES = "/usr/lib/glewlwyd"
ADMIN = ("admin", "password")  # as the schema has it
DEADLINE_S = 30
CONFIGURATION = """port={port}
bind_address="127.0.0.1"
external_url="http://localhost:{port}"
login_url="login.html"
api_prefix="api"
log_mode="file"
log_level="WARNING"
log_file="{home}/glewlwyd.log"
cookie_secure=0
session_key="GLEWLWYD2_SESSION_ID"
session_expiration=2419200
admin_scope="g_admin"
profile_scope="g_profile"
allow_multiple_user_per_session=true
login_api_enabled=true
user_module_path="{modules}/user"
client_module_path="{modules}/client"
user_auth_scheme_module_path="{modules}/scheme"
plugin_module_path="{modules}/plugin"
use_secure_connection=false
secure_connection_key_file="none"
secure_connection_pem_file="none"
secure_connection_ca_file="none"
hash_algorithm="SHA512"
database={{type="sqlite3" path="{home}/glewlwyd.db"}};
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Stay(urllib.request.HTTPRedirectHandler):
    """Redirects are answers: the tests look at each."""

    def redirect_request(self, *args, **kwargs):
        return None


class Browser:
    """Keeps cookies, follows nothing by itself."""

    def __init__(self, cafile=None):
        self.cookies = http.cookiejar.CookieJar(
            http.cookiejar.DefaultCookiePolicy(strict_domain=False))
        self.opener = urllib.request.build_opener(
            Stay, urllib.request.HTTPCookieProcessor(self.cookies))

    def ask(self, method, url, body=None, headers=None, form=None):
        """(status, headers, text)"""
        headers = dict(headers or {})
        data = None
        if form is not None:
            data = urllib.parse.urlencode(form).encode()
        elif body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with self.opener.open(request, timeout=DEADLINE_S) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code, answer.headers, answer.read().decode()


class Provider:
    def __init__(self, home):
        self.home = os.path.join(home, "glewlwyd")
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.issuer = self.url + "/api/oidc"
        self.discovery = self.issuer + "/.well-known/openid-configuration"
        self.says_issuer = self.issuer
        self.process = None
        self.admin = Browser()

    def start(self):
        if not os.path.isdir(self.home):
            os.mkdir(self.home)
            with open(SCHEMA, encoding="utf-8") as f, \
                    sqlite3.connect(self.home + "/glewlwyd.db") as db:
                db.executescript(f.read())
            with open(self.home + "/glewlwyd.conf", "w", encoding="utf-8") as f:
                f.write(CONFIGURATION.format(port=self.port, home=self.home, modules=MODULES))
        self.process = subprocess.Popen([PROGRAM, "-c", self.home + "/glewlwyd.conf"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + DEADLINE_S
        while True:
            try:
                self.sign_in(self.admin, *ADMIN)
                return self
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.02)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(DEADLINE_S)
            self.process = None

    def api(self, method, path, body=None):
        status, _, text = self.admin.ask(method, f"{self.url}/api/{path}", body)
        if status != 200:
            raise AssertionError(f"glewlwyd: {method} {path}: {status} {text}")
        return json.loads(text) if text else None

    def sign_in(self, browser, username, password):
        status, _, text = browser.ask("POST", self.url + "/api/auth/",
                                      {"username": username, "password": password})
        if status != 200:
            raise AssertionError(f"glewlwyd: {username} cannot sign in: {status} {text}")

    def set_up(self, client, secret, redirect_uris):
        """One client, a signing key, and groups in a claim of their own."""
        users = self.api("GET", "mod/user/database")
        users["parameters"]["data-format"].update(
            GROUPS={"multiple": True, "read": True, "write": True})
        self.api("PUT", "mod/user/database", users)
        self.api("PUT", "mod/user/database/reset/")
        self.api("POST", "mod/plugin/", self.plugin())
        self.api("POST", "client/", {
            "client_id": client, "name": client, "client_secret": secret, "confidential": True,
            "token_endpoint_auth_method": ["client_secret_basic"], "enabled": True,
            "authorization_type": ["code", "refresh_token", "device_authorization"],
            "redirect_uri": redirect_uris, "scope": ["openid"]})

    def plugin(self):
        key, public = rsa_key(self.home)
        return {"module": "oidc", "name": "oidc", "display_name": "oidc", "parameters": {
            "iss": self.says_issuer, "jwt-type": "rsa", "jwt-key-size": "256", "key": key,
            "cert": public, "access-token-duration": 3600, "refresh-token-duration": 1209600,
            "code-duration": 600, "refresh-token-rolling": True, "allow-non-oidc": True,
            "auth-type-code-enabled": True, "auth-type-token-enabled": True,
            "auth-type-implicit-enabled": True, "auth-type-password-enabled": True,
            "auth-type-device-enabled": True, "auth-type-refresh-enabled": True,
            "jwks-show": True, "pkce-allowed": True, "pkce-required": True,
            "name-claim": "mandatory", "email-claim": "mandatory",
            "device-authorization-expiration": 600, "device-authorization-interval": 1,
            "claims": [{"name": "GROUPS", "user-property": "GROUPS", "type": "string",
                        "mandatory": True}],
            "session-management-allowed": True, "session-cookie-name": "GLEWLWYD2_OIDC_SID",
            "session-cookie-expiration": 2419200, "introspection-revocation-allowed": False}}

    def rotate(self):
        """Another signing key; the old one is shown no more."""
        self.api("PUT", "mod/plugin/oidc", self.plugin())
        self.api("PUT", "mod/plugin/oidc/reset/")

    def add_user(self, name, email, password, groups):
        self.api("POST", "user/", {
            "username": name, "name": name, "email": email, "password": password, "enabled": True,
            "scope": ["openid", "g_profile"], "GROUPS": groups})

    def set_groups(self, name, groups):
        user = self.api("GET", f"user/{name}")
        user["GROUPS"] = groups
        self.api("PUT", f"user/{name}", user)

    def browser_of(self, name, password, client):
        """A browser whose person has signed in at the provider and agreed to the client."""
        browser = Browser()
        self.sign_in(browser, name, password)
        status, _, text = browser.ask("PUT", f"{self.url}/api/auth/grant/{client}",
                                      {"scope": "openid"})
        if status != 200:
            raise AssertionError(f"glewlwyd: no consent: {status} {text}")
        return browser

    def agree_to_device(self, browser, user_code):
        status, headers, text = browser.ask(
            "GET", f"{self.issuer}/device?g_continue&code={user_code}")
        if status != 302:
            raise AssertionError(f"glewlwyd: device: {status} {text}")


def rsa_key(home):
    path = os.path.join(home, "key.pem")
    subprocess.run(["openssl", "genrsa", "-out", path, "2048"], check=True, capture_output=True)
    public = subprocess.run(["openssl", "rsa", "-in", path, "-pubout"], check=True,
                            capture_output=True, text=True).stdout
    with open(path, encoding="utf-8") as f:
        return f.read(), public
