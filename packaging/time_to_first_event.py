#!/usr/bin/env python3
"""Measures how long it takes from nothing to the first translated event, for each way to have framegate.

    packaging/time_to_first_event.py cargo                 # cargo demo, from a fresh clone and an empty target folder
    packaging/time_to_first_event.py wheel DIRECTORY       # the wheel in the directory, in a new virtual environment
    packaging/time_to_first_event.py npm DIRECTORY         # the npm packages in the directory, in a new project
    packaging/time_to_first_event.py binary PROGRAM        # a program that is there

The first event is the first one that a proxy of `serve --demo` sends to a client that asks for `sse.v1`. Each step is printed with its seconds.
"""

import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PATIENCE = 3600


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def first_event(command, cwd, environment=None):
    """Starts a proxy with the demo's recordings, and returns when it has sent an event."""
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    with open(os.path.join(cwd, "proxy.log"), "wb") as log:
        proxy = subprocess.Popen(
            [*command, "--listen", f"127.0.0.1:{port}"],
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if proxy.poll() is not None:
                raise SystemExit(f"the proxy ended: {open(os.path.join(cwd, 'proxy.log')).read()[-2000:]}")
            try:
                runs = json.load(urllib.request.urlopen(f"{base}/v1/runs?limit=1", timeout=10))["data"]
                if runs:
                    events = f"{base}/v1/runs/{runs[0]['run_id']}/events?contract=sse.v1"
                    with urllib.request.urlopen(events, timeout=10) as response:
                        if any(line.startswith(b"data:") for line in response):
                            return
            except (OSError, urllib.error.URLError):
                pass
            time.sleep(0.02)
        raise SystemExit("there was no event")
    finally:
        os.killpg(proxy.pid, signal.SIGKILL)
        proxy.wait()


class Steps:
    """Prints each step with its time."""

    def __init__(self):
        self.began = self.last = time.monotonic()

    def done(self, what):
        now = time.monotonic()
        print(f"{what:44} {now - self.last:8.2f} s", flush=True)
        self.last = now

    def end(self):
        print(f"{'in total':44} {time.monotonic() - self.began:8.2f} s", flush=True)


def run(*command, cwd):
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def cargo(work):
    root = subprocess.run(["git", "rev-parse", "--show-toplevel"], check=True, capture_output=True, text=True).stdout.strip()
    steps = Steps()
    clone = os.path.join(work, "framegate")
    run("git", "clone", "--quiet", root, clone, cwd=work)
    steps.done("git clone, of a local repository")
    run("cargo", "fetch", "--quiet", "--locked", cwd=clone)
    steps.done("cargo fetch, with what the registry has cached")
    first_event(["cargo", "demo"], clone, {"CARGO_TARGET_DIR": os.path.join(work, "target")})
    steps.done("cargo demo, until the first event")
    steps.end()


def wheel(work, directory):
    found = glob.glob(os.path.join(os.path.abspath(directory), "*.whl"))
    if not found:
        raise SystemExit(f"{directory} has no wheel; packaging/build.sh makes one")
    steps = Steps()
    run(sys.executable, "-m", "venv", "venv", cwd=work)
    steps.done("python3 -m venv")
    run("venv/bin/pip", "install", "--quiet", "--no-index", found[0], cwd=work)
    steps.done("pip install")
    first_event([os.path.join(work, "venv/bin/framegate"), "serve", "--demo"], work)
    steps.done("framegate serve --demo, until the first event")
    steps.end()


def npm(work, directory):
    found = glob.glob(os.path.join(os.path.abspath(directory), "**", "*.tgz"), recursive=True)
    if not found:
        raise SystemExit(f"{directory} has no npm packages; packaging/build.sh makes them")
    steps = Steps()
    run("npm", "init", "--yes", cwd=work)
    run("npm", "install", "--no-audit", "--no-fund", "--offline", *found, cwd=work)
    steps.done("npm install")
    first_event(["npx", "--no-install", "framegate", "serve", "--demo"], work)
    steps.done("npx framegate serve --demo, until the first event")
    steps.end()


def binary(work, program):
    steps = Steps()
    first_event([os.path.abspath(program), "serve", "--demo"], work)
    steps.done("framegate serve --demo, until the first event")
    steps.end()


def main():
    ways = {"cargo": (cargo, 0), "wheel": (wheel, 1), "npm": (npm, 1), "binary": (binary, 1)}
    way, count = ways.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if way is None or len(sys.argv) != 2 + count:
        raise SystemExit(__doc__.strip())
    work = tempfile.mkdtemp(prefix="framegate-first-event-")
    try:
        way(work, *sys.argv[2:])
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
