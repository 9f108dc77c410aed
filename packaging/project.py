"""What the packages say about framegate: the workspace's Cargo.toml is its only source."""

import argparse
import os
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Project:
    version: str  # as Cargo writes it: 1.2.3 or 1.2.3-rc.1
    description: str
    license: str
    repository: str


def _value(manifest, key):
    found = re.search(rf'^{key} = "([^"]*)"$', manifest, re.MULTILINE)
    if not found:
        raise SystemExit(f"Cargo.toml has no line `{key} = \"…\"`")
    return found[1]


def project():
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    return Project(*(_value(manifest, key) for key in ("version", "description", "license", "repository")))


def command_line(description):
    """A parser with the options that every script for packages has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "target/packages/dist", metavar="DIR")
    parser.add_argument("--notices", type=Path, metavar="FILE", help="the licences of the libraries")
    return parser


def timestamp():
    """The time of files in packages: the same source gives the same package. The default is the first time that a zip can have."""
    first_of_zip = 315532800
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", first_of_zip)), first_of_zip)


def compression_level():
    """How hard packages are compressed, 1 to 9. Tests set a low level; a release is made once and downloaded often."""
    level = os.environ.get("COMPRESSION_LEVEL", "9")
    if not re.fullmatch("[1-9]", level):
        raise SystemExit(f"COMPRESSION_LEVEL is {level!r}: use a number from 1 to 9")
    return int(level)
