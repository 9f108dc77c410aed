#!/usr/bin/env python3
"""Packs a framegate binary into a Debian package with dpkg-deb.

    packaging/debian/build.py [--output DIR] [--runs BINARY] [--notices FILE] BINARY

The manual pages and completions come from the binary itself. For a processor other than this machine's, --runs names a binary of
the same version that runs here. --notices names the output of packaging/notices.py, which the copyright file then contains.
"""

import gzip
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from executable import Unreadable, describe  # noqa: E402
from project import ROOT, command_line, compression_level, project, timestamp  # noqa: E402

HERE = Path(__file__).resolve().parent
MAINTAINER = "The framegate maintainers <framegate@users.noreply.github.com>"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# The revision of the package, for a change of the package alone.
REVISION = "1"
# The files of the package, as `man`, the shells and systemd look for them.
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/framegate",
    "zsh": "usr/share/zsh/vendor-completions/_framegate",
    "fish": "usr/share/fish/vendor_completions.d/framegate.fish",
}
SCRIPTS = ("postinst", "prerm", "postrm")
CONFFILES = ["/etc/framegate/config.toml"]
LONG_DESCRIPTION = """\
 framegate reads what a coding agent's runner emits (Claude Code, Codex, OpenCode
 and others), normalises it to one frame model, and serves it live and as a
 replay in the event contract that a client asks for.
 .
 The service listens on loopback and is not started by the installation."""


def debian_version(version):
    """A pre-release is older than its release: 1.2.3~rc.1."""
    return version.replace("-", "~", 1) + f"-{REVISION}"


def dependencies(path, executable):
    if executable.is_static:
        return None
    unknown = [name for name in executable.libraries if not re.match(r"lib(c|m|dl|rt|pthread|gcc_s)\.so|ld-linux", name)]
    if unknown or not executable.glibc:
        raise SystemExit(f"debian/build.py: it is not known which package has {', '.join(unknown)}, which {path} needs")
    needs_gcc = any(name.startswith("libgcc_s") for name in executable.libraries)
    return "libc6 (>= {}.{})".format(*executable.glibc) + (", libgcc-s1" if needs_gcc else "")


def write(root, name, data, mode=0o644):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    path.chmod(mode)


def compressed(data):
    return gzip.compress(data, 9, mtime=0)


def output_of(program, *arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, check=True).stdout


def copyright_file(about, notices):
    # The paragraphs of the format end at an empty line, so empty lines of a text become dots.
    text = "\n".join(f" {line}" if line.strip() else " ." for line in (ROOT / "LICENSE").read_text().splitlines())
    header = (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        f"Upstream-Name: framegate\nSource: {about.repository}\n\n"
        f"Files: *\nCopyright: The framegate authors\nLicense: {about.license}\n{text}\n"
    )
    if notices is None:
        return header
    lines = notices.read_text(encoding="utf-8").splitlines()
    return header + "Comment:\n" + "\n".join(f" {line}" if line.strip() else " ." for line in lines) + "\n"


def contents(root, arguments, about, version):
    """Writes the files of the package."""
    shutil.copyfile(arguments.binary, root / "framegate")
    (root / "usr/bin").mkdir(parents=True)
    shutil.move(root / "framegate", root / "usr/bin/framegate")
    (root / "usr/bin/framegate").chmod(0o755)
    runs = (arguments.runs or arguments.binary).resolve()
    said = output_of(runs, "--version").decode().split()[1]
    if said != about.version:
        raise SystemExit(f"debian/build.py: {runs} has the version {said}, and Cargo.toml {about.version}: build it again")
    with tempfile.TemporaryDirectory() as pages:
        output_of(runs, "man", "--dir", pages)
        for page in sorted(Path(pages).iterdir()):
            write(root, f"usr/share/man/man1/{page.name}.gz", compressed(page.read_bytes()))
    for shell, name in COMPLETIONS.items():
        write(root, name, output_of(runs, "completions", shell))
    write(root, "usr/lib/systemd/system/framegate.service", (HERE.parent / "framegate.service").read_bytes())
    write(root, "usr/lib/sysusers.d/framegate.conf", (HERE / "sysusers.conf").read_bytes())
    write(root, "etc/framegate/config.toml", (ROOT / "config.toml").read_bytes())
    write(root, "usr/share/doc/framegate/copyright", copyright_file(about, arguments.notices))
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(timestamp()))
    changelog = f"framegate ({version}) unstable; urgency=medium\n\n  * Release {about.version}.\n\n -- {MAINTAINER}  {date}\n"
    write(root, "usr/share/doc/framegate/changelog.Debian.gz", compressed(changelog.encode()))


def control(root, executable, path, about, version):
    """Writes the package's metadata and its scripts."""
    size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file())
    depends = dependencies(path, executable)
    fields = {
        "Package": "framegate",
        "Version": version,
        "Architecture": ARCHITECTURES[executable.machine],
        "Maintainer": MAINTAINER,
        "Installed-Size": str(-(-size // 1024)),
        "Depends": depends,
        "Recommends": "ca-certificates",
        "Section": "net",
        "Priority": "optional",
        "Homepage": about.repository,
        "Description": about.description + "\n" + LONG_DESCRIPTION,
    }
    write(root, "DEBIAN/control", "".join(f"{name}: {value}\n" for name, value in fields.items() if value))
    write(root, "DEBIAN/conffiles", "".join(f"{name}\n" for name in CONFFILES))
    # For `dpkg --verify`, which knows the sums of configuration files from elsewhere.
    files = sorted(file for file in root.rglob("*") if file.is_file() and not file.is_relative_to(root / "DEBIAN"))
    names = [str(file.relative_to(root)) for file in files]
    sums = [f"{hashlib.md5((root / name).read_bytes()).hexdigest()}  {name}\n" for name in names if f"/{name}" not in CONFFILES]
    write(root, "DEBIAN/md5sums", "".join(sums))
    for script in SCRIPTS:
        write(root, f"DEBIAN/{script}", (HERE / script).read_bytes(), 0o755)


def main():
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=Path, metavar="BINARY", help="writes the manual pages and completions")
    parser.add_argument("binary", type=Path, metavar="BINARY")
    arguments = parser.parse_args()
    try:
        executable = describe(arguments.binary)
    except (OSError, Unreadable) as error:
        raise SystemExit(f"debian/build.py: {error}") from error
    if executable.system != "linux":
        raise SystemExit(f"debian/build.py: {arguments.binary} is for {executable.system}, not for Linux")
    about = project()
    version = debian_version(about.version)
    output = arguments.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    target = output / f"framegate_{version}_{ARCHITECTURES[executable.machine]}.deb"
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "framegate"
        root.mkdir(mode=0o755)
        contents(root, arguments, about, version)
        control(root, executable, arguments.binary, about, version)
        for folder in (path for path in root.rglob("*") if path.is_dir()):
            folder.chmod(0o755)
        # Every dpkg reads xz, which is smaller than gzip and zstd.
        command = ["dpkg-deb", "-Zxz", f"-z{compression_level()}", "--root-owner-group", "--build", root, target]
        # dpkg-deb takes the time of the package from the environment, or else the present one.
        environment = {"SOURCE_DATE_EPOCH": str(timestamp()), "PATH": "/usr/bin:/bin"}
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    print(target)


if __name__ == "__main__":
    main()
