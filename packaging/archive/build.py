#!/usr/bin/env python3
"""Packs a framegate binary into an archive with its manual pages, completions, licences and a configuration to start from.

    packaging/archive/build.py [--output DIR] [--runs BINARY] [--notices FILE] TARGET BINARY

TARGET is the Rust target in the archive's name: framegate-VERSION-TARGET.tar.gz, or .zip for Windows. Everything is in one folder
of that name. The Homebrew formula, the GitHub Action and install commands of docs/install.md read these archives.
"""

import gzip
import io
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from executable import Unreadable, describe  # noqa: E402
from project import ROOT, command_line, compression_level, project, timestamp  # noqa: E402

SHELLS = {"bash": "framegate.bash", "zsh": "_framegate", "fish": "framegate.fish", "powershell": "_framegate.ps1"}
SYSTEMS = {"linux": "-linux-", "darwin": "-apple-", "win32": "-windows-"}


def contents(arguments, executable):
    """The files of the archive: name, bytes, whether it is a program."""
    binary = arguments.binary
    runs = (arguments.runs or binary).resolve()
    program = "framegate.exe" if executable.system == "win32" else "framegate"
    yield program, binary.read_bytes(), True
    for name in ("LICENSE", "README.md", "config.toml"):
        yield name, (ROOT / name).read_bytes(), False
    if arguments.notices:
        yield "THIRD-PARTY-LICENSES.txt", arguments.notices.read_bytes(), False
    for shell, name in SHELLS.items():
        completions = subprocess.run([runs, "completions", shell], stdout=subprocess.PIPE, check=True).stdout
        yield f"completions/{name}", completions, False
    with tempfile.TemporaryDirectory() as pages:
        subprocess.run([runs, "man", "--dir", pages], check=True)
        for page in sorted(Path(pages).iterdir()):
            yield f"man/{page.name}", page.read_bytes(), False


def write_tar(target, folder, files):
    # The same files give the same archive: no user, no present time, also not in the head of gzip.
    with open(target, "wb") as file, gzip.GzipFile("", "wb", compression_level(), file, mtime=timestamp()) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, data, is_program in files:
                entry = tarfile.TarInfo(f"{folder}/{name}")
                entry.size, entry.mtime, entry.mode = len(data), timestamp(), 0o755 if is_program else 0o644
                archive.addfile(entry, io.BytesIO(data))


def write_zip(target, folder, files):
    when = time.gmtime(timestamp())[:6]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, _ in files:
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}", when), data, zipfile.ZIP_DEFLATED, compression_level())


def main():
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=Path, metavar="BINARY", help="writes the manual pages and completions")
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("binary", type=Path, metavar="BINARY")
    arguments = parser.parse_args()
    try:
        executable = describe(arguments.binary)
    except (OSError, Unreadable) as error:
        raise SystemExit(f"archive/build.py: {error}") from error
    if SYSTEMS[executable.system] not in arguments.target or not arguments.target.startswith(executable.machine):
        raise SystemExit(f"archive/build.py: {arguments.binary} is for {executable}, not for {arguments.target}")
    folder = f"framegate-{project().version}-{arguments.target}"
    arguments.output.mkdir(parents=True, exist_ok=True)
    files = list(contents(arguments, executable))
    is_zip = executable.system == "win32"
    target = arguments.output / f"{folder}{'.zip' if is_zip else '.tar.gz'}"
    (write_zip if is_zip else write_tar)(target, folder, files)
    print(target)


if __name__ == "__main__":
    main()
