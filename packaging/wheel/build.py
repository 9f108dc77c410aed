#!/usr/bin/env python3
"""Packs a framegate binary into a Python wheel, so that `uvx framegate` and `pip install framegate` install the program.

    packaging/wheel/build.py [--output DIR] [--notices FILE] BINARY...

makes one wheel for each binary and prints its path. The wheel has no Python code: pip and uv install what is in `*.data/scripts`
as programs. maturin makes such wheels too, but only from a binary that it compiles itself; here the wheel has the binary of
packaging/build.sh, which every other package has too.
"""

import base64
import hashlib
import re
import sys
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from executable import Unreadable, describe  # noqa: E402
from project import ROOT, command_line, compression_level, project, timestamp  # noqa: E402

# The oldest glibc that a tag of manylinux can name, and the musl of the oldest musllinux tag. A static binary needs neither.
OLDEST_GLIBC = (2, 17)
OLDEST_MUSL = (1, 1)
# What manylinux allows a wheel to expect of every system.
ALLOWED_LIBRARIES = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s)\.so\.\d+|ld-linux-[a-z0-9_-]+\.so\.\d+")
OLDEST_MACOS = {"x86_64": (10, 12), "aarch64": (11, 0)}
NOTICES = "THIRD-PARTY-LICENSES.txt"
MODE_PROGRAM, MODE_FILE = 0o100755, 0o100644


def pep440(version):
    """1.2.3-rc.1 is 1.2.3rc1 in Python."""
    found = re.fullmatch(r"(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.?(\d+))?", version)
    if not found:
        raise SystemExit(f"version {version} of Cargo.toml has no form in Python: use 1.2.3 or 1.2.3-alpha.1, -beta.1, -rc.1")
    release, kind, number = found.groups()
    return release + ({"alpha": "a", "beta": "b", "rc": "rc"}[kind] + number if kind else "")


def platform_tags(path, executable):
    machine = executable.machine
    if executable.system == "win32":
        return ["win_" + {"x86_64": "amd64", "aarch64": "arm64"}[machine]]
    if executable.system == "darwin":
        major, minor = executable.macos or OLDEST_MACOS[machine]
        # Since macOS 11, pip knows only tags with the minor version 0.
        minor = 0 if major >= 11 else minor
        return [f"macosx_{major}_{minor}_" + {"x86_64": "x86_64", "aarch64": "arm64"}[machine]]
    if executable.is_static:
        return [
            "manylinux_{}_{}_{}".format(*OLDEST_GLIBC, machine),
            f"manylinux2014_{machine}",
            "musllinux_{}_{}_{}".format(*OLDEST_MUSL, machine),
        ]
    other = [library for library in executable.libraries if not ALLOWED_LIBRARIES.fullmatch(library)]
    if other or not executable.glibc:
        raise SystemExit(f"{path} needs {', '.join(other or executable.libraries)}, which no tag of manylinux promises: link it statically")
    return ["manylinux_{}_{}_{}".format(*max(executable.glibc, OLDEST_GLIBC), machine)]


def build(path, output, notices):
    executable = describe(path)
    about = project()
    version = pep440(about.version)
    tags = platform_tags(path, executable)
    program = "framegate.exe" if executable.system == "win32" else "framegate"
    info = f"framegate-{version}.dist-info"
    readme = (Path(__file__).resolve().parent / "README.md").read_text(encoding="utf-8")
    metadata = (
        "Metadata-Version: 2.4\n"
        "Name: framegate\n"
        f"Version: {version}\n"
        f"Summary: {about.description}\n"
        f"License-Expression: {about.license}\n"
        "License-File: LICENSE\n" + (f"License-File: {NOTICES}\n" if notices else "") +
        f"Project-URL: Repository, {about.repository}\n"
        "Classifier: Environment :: Console\n"
        "Classifier: Programming Language :: Rust\n"
        "Requires-Python: >=3.8\n"
        "Description-Content-Type: text/markdown\n"
        "\n" + readme
    )
    wheel = (
        "Wheel-Version: 1.0\nGenerator: framegate packaging/wheel/build.py\nRoot-Is-Purelib: false\n"
        + "".join(f"Tag: py3-none-{tag}\n" for tag in tags)
    )
    files = [
        (f"framegate-{version}.data/scripts/{program}", Path(path).read_bytes(), MODE_PROGRAM),
        (f"{info}/METADATA", metadata.encode(), MODE_FILE),
        (f"{info}/WHEEL", wheel.encode(), MODE_FILE),
        (f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), MODE_FILE),
    ]
    if notices:
        files.append((f"{info}/licenses/{NOTICES}", notices.read_bytes(), MODE_FILE))
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()  # noqa: E731
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data, _ in files) + f"{info}/RECORD,,\n"
    files.append((f"{info}/RECORD", record.encode(), MODE_FILE))

    output.mkdir(parents=True, exist_ok=True)
    target = output / f"framegate-{version}-py3-none-{'.'.join(tags)}.whl"
    when, level = time.gmtime(timestamp())[:6], compression_level()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in files:
            entry = zipfile.ZipInfo(name, when)
            entry.create_system, entry.external_attr = 3, mode << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, level)
    return target


def main():
    parser = command_line(__doc__)
    parser.add_argument("binaries", nargs="+", metavar="BINARY")
    arguments = parser.parse_args()
    for path in arguments.binaries:
        try:
            print(build(path, arguments.output, arguments.notices))
        except (OSError, Unreadable) as error:
            raise SystemExit(f"wheel/build.py: {error}") from error


if __name__ == "__main__":
    main()
