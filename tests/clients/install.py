# SPDX-License-Identifier: Apache-2.0
"""Where other people's programs are installed from the package index: once for a build directory."""

import os
import subprocess
import sys
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "server"))

from world import Skip  # noqa: E402


def programs(directory, requirements):
    """The folder of its programs (python among them), with what the file here of that name lists."""
    folder = os.path.join(directory, "bin")
    stamp = os.path.join(directory, "installed")
    if not os.path.exists(stamp):
        venv.create(directory, clear=True, with_pip=True)
        done = subprocess.run([os.path.join(folder, "python"), "-m", "pip", "install", "--quiet",
                               "--requirement", os.path.join(HERE, requirements)],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise Skip(f"{requirements} cannot be installed: " + " ".join(done.stderr.split())[-200:])
        with open(stamp, "w", encoding="utf-8"):
            pass
    return folder
