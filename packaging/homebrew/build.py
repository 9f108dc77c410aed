#!/usr/bin/env python3
"""Fills the Homebrew formula with the version and the checksums of a release.

    packaging/homebrew/build.py [--url URL] SHA256SUMS > framegate.rb

SHA256SUMS is what `sha256sum` printed for the archives of the release. URL is the folder that has them: that of the release at
GitHub by default. A target without an archive is an error, because its users would get a formula that cannot be installed.
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from project import project  # noqa: E402

TEMPLATE = Path(__file__).resolve().parent / "framegate.rb.in"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="the folder with the archives")
    parser.add_argument("sums", type=Path, metavar="SHA256SUMS")
    arguments = parser.parse_args()
    about = project()
    url = arguments.url or f"{about.repository}/releases/download/v{about.version}"
    lines = arguments.sums.read_text(encoding="utf-8").splitlines()
    # A line is the sum, a space, a space or an asterisk, and the name.
    sums = {name.rsplit("/", 1)[-1]: sum for sum, name in (re.split(r" [ *]", line, maxsplit=1) for line in lines if line)}

    def value(found):
        key = found[1]
        if not key.startswith("sha256 "):
            return {"version": about.version, "description": about.description, "license": about.license,
                    "repository": about.repository, "url": url}[key]
        name = f"framegate-{about.version}-{key.split()[1]}.tar.gz"
        if not re.fullmatch(r"[0-9a-f]{64}", sums.get(name, "")):
            raise SystemExit(f"homebrew/build.py: {arguments.sums} has no SHA-256 of {name}, which the formula needs")
        return sums[name]

    sys.stdout.write(re.sub(r"@([^@\n]+)@", value, TEMPLATE.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
