#!/usr/bin/env python3
"""Writes the licences of the libraries that the binary contains, which packages with the binary must have with them.

    packaging/notices.py [--features LIST] [--target TARGET] [--output FILE]

The libraries are those of Cargo.lock that a build for TARGET links, with their licence files as crates.io has them.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from project import ROOT  # noqa: E402

LICENCE_FILES = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "UNLICENSE*", "*/LICENSE*", "*/COPYING*")
RULE = "=" * 100


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments, "--locked"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout


def linked(features, target):
    # The tree of normal dependencies is what the program is linked with. `cargo metadata` alone has more: optional dependencies that
    # are not built, and what only build scripts, macros and tests need.
    edges = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--no-dedupe", "--format", "{p}"]
    tree = cargo("tree", "--package", "framegate", "--features", features, "--target", target, *edges)
    names = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    metadata = json.loads(cargo("metadata", "--format-version", "1", "--features", features, "--filter-platform", target))
    own = set(metadata["workspace_members"])
    packages = []
    for package in metadata["packages"]:
        # httpdate is another author's, and patched here.
        is_own = package["id"] in own and package["name"] != "httpdate"
        if (package["name"], f"v{package['version']}") in names and not is_own:
            packages.append(package)
    return sorted(packages, key=lambda package: (package["name"], package["version"]))


def texts(folder):
    """The licence files of a package, by their paths in it."""
    paths = {path for pattern in LICENCE_FILES for path in folder.glob(pattern) if path.is_file()}
    for path in sorted(paths):
        yield path.relative_to(folder), path.read_text(encoding="utf-8", errors="replace").strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", default="jetstream", metavar="LIST")
    parser.add_argument("--target", default="x86_64-unknown-linux-musl", metavar="TARGET")
    parser.add_argument("--output", type=Path, default=Path("/dev/stdout"), metavar="FILE")
    arguments = parser.parse_args()
    packages = linked(arguments.features, arguments.target)
    # Many libraries have the same text, which is written once.
    by_text = {}
    for package in packages:
        for name, text in texts(Path(package["manifest_path"]).parent):
            by_text.setdefault(text, []).append(f"{package['name']} {package['version']} ({name})")
    parts = ["The framegate binary contains these libraries:\n"]
    for package in packages:
        authors = f", by {', '.join(package['authors'])}" if package["authors"] else ""
        parts.append(f"- {package['name']} {package['version']}: {package['license'] or package['license_file']}{authors}")
    for text, users in by_text.items():
        parts.append(f"\n{RULE}\n{chr(10).join(users)}\n{RULE}\n\n{text}")
    arguments.output.write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
