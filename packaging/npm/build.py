#!/usr/bin/env python3
"""Packs framegate binaries into npm packages, so that `npx framegate` runs the program.

    packaging/npm/build.py [--output DIR] [--notices FILE] BINARY...

makes a package `@framegate/PLATFORM` for each binary, and the package `framegate`, whose optional dependencies are these, and prints
their paths in the order in which they must be published. npm installs only the package whose `os` and `cpu` fit. There is no
install script, so `npm install --ignore-scripts` works too.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from executable import Unreadable, describe  # noqa: E402
from project import ROOT, command_line, project  # noqa: E402

LAUNCHER = Path(__file__).resolve().parent / "launcher"
CPUS = {"x86_64": "x64", "aarch64": "arm64"}
NODE = ">=20"


def common(about):
    return {
        "version": about.version,
        "license": about.license,
        "repository": {"type": "git", "url": f"git+{about.repository}.git", "directory": "packaging/npm"},
    }


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def platform_package(folder, path, about, notices):
    """Writes the package of a binary, and returns its name."""
    executable = describe(path)
    platform = f"{executable.system}-{CPUS[executable.machine]}"
    name = f"@framegate/{platform}"
    # npm then leaves the package out on a system with another C library. A static binary runs with each.
    libc = {} if executable.system != "linux" or executable.is_static else {"libc": ["glibc"]}
    (folder / "bin").mkdir(parents=True)
    target = folder / "bin" / ("framegate.exe" if executable.system == "win32" else "framegate")
    shutil.copyfile(path, target)
    target.chmod(0o755)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    if notices:
        shutil.copyfile(notices, folder / "THIRD-PARTY-LICENSES.txt")
    description = f"The framegate binary for {platform}; install the package framegate instead"
    manifest = {"name": name, "description": description, **common(about)}
    manifest |= {"os": [executable.system], "cpu": [CPUS[executable.machine]], **libc, "files": ["bin", "THIRD-PARTY-LICENSES.txt"]}
    # Yarn would run the binary from its archive otherwise.
    write_json(folder / "package.json", manifest | {"preferUnplugged": True})
    (folder / "README.md").write_text(f"# {name}\n\n{description}.\n", encoding="utf-8")
    return name


def launcher(folder, platforms, about):
    shutil.copytree(LAUNCHER, folder)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    manifest = {"name": "framegate", "description": about.description, **common(about)}
    manifest |= {"type": "module", "bin": {"framegate": "bin/framegate.mjs"}, "files": ["bin"], "engines": {"node": NODE}}
    # Exact versions: launcher and binary are released together.
    write_json(folder / "package.json", manifest | {"optionalDependencies": {name: about.version for name in platforms}})


def pack(folder, output):
    """Runs `npm pack`, and returns the path of the package."""
    # Nothing is fetched, and no other version of npm is looked up.
    environment = os.environ | {"npm_config_update_notifier": "false", "npm_config_offline": "true"}
    command = ["npm", "pack", "--json", "--ignore-scripts", "--pack-destination", str(output)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"npm/build.py: npm pack failed for {folder.name}: {done.stderr}")
    answer = json.loads(done.stdout)
    # A list, or since npm 12 an object by name.
    packed = answer[0] if isinstance(answer, list) else next(iter(answer.values()))
    # Some versions of npm report the file of a scoped package with its slash.
    return output / packed["filename"].replace("@", "").replace("/", "-")


def main():
    parser = command_line(__doc__)
    parser.add_argument("binaries", nargs="+", metavar="BINARY")
    arguments = parser.parse_args()
    output = arguments.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    about = project()
    with tempfile.TemporaryDirectory() as scratch:
        names = {}
        for nth, path in enumerate(arguments.binaries):
            folder = Path(scratch) / f"platform-{nth}"
            try:
                name = platform_package(folder, path, about, arguments.notices)
            except (OSError, Unreadable) as error:
                raise SystemExit(f"npm/build.py: {error}") from error
            if name in names:
                raise SystemExit(f"npm/build.py: {path} and {names[name]} are both for {name}: name one binary for each platform")
            names[name] = path
            print(pack(folder, output), flush=True)
        folder = Path(scratch) / "launcher"
        launcher(folder, sorted(names), about)
        print(pack(folder, output))


if __name__ == "__main__":
    main()
