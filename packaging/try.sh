#!/usr/bin/env bash
# Installs the packages of a release on this machine, each in a folder of its own, and runs them.
#
#   packaging/try.sh DIST TARGET
#
# DIST is what packaging/release.sh wrote, and TARGET is this machine's. Nothing is downloaded. tests/packages looks closer; this is for
# the systems on which it does not run.
set -euo pipefail
fail() { echo "packaging/try.sh: $1" >&2; exit 1; }
[ $# -eq 2 ] || fail "name the folder with the packages and the target of this machine"
dist=$(cd "$1" && pwd)
target=$2
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
recording=tests/fixtures/claude-code/bash_ok.partial.ndjson
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Runs a command that should be framegate: its version, a translation, and an exit code other than 0.
try() {
    local way=$1 code=0
    shift
    [ "$("$@" --version)" = "framegate $version" ] || fail "$way: it does not say that it is framegate $version"
    "$@" translate --from claude-code --to sse.v1 "$recording" 2>/dev/null | grep -q '"type":"run_completed"' ||
        fail "$way: the translation of $recording has no run_completed"
    echo '{}' | "$@" check --contract sse.v1 - >/dev/null || code=$?
    [ "$code" = 1 ] || fail "$way: a check with findings exits with $code, not with 1"
    echo "$way: ok"
}

if command -v sha256sum >/dev/null; then sum=sha256sum; else sum="shasum -a 256"; fi
(cd "$dist" && $sum --check --quiet SHA256SUMS) || fail "the files differ from SHA256SUMS"

tar -xzf "$dist/framegate-$version-$target.tar.gz" -C "$scratch"
try archive "$scratch/framegate-$version-$target/framegate"

python3 -m venv --without-pip "$scratch/venv"
python3 -m pip --python "$scratch/venv/bin/python" install --quiet --disable-pip-version-check --no-index --find-links "$dist" --pre framegate
try wheel "$scratch/venv/bin/framegate"

case $target in aarch64-*) cpu=arm64 ;; *) cpu=x64 ;; esac
case $target in *-apple-*) system=darwin ;; *) system=linux ;; esac
mkdir "$scratch/npm"
npm install --silent --no-audit --no-fund --offline --prefix "$scratch/npm" \
    "$dist/framegate-$system-$cpu-$version.tgz" "$dist/framegate-$version.tgz"
try npm "$scratch/npm/node_modules/.bin/framegate"

if [ "$system" = linux ] && command -v dpkg >/dev/null; then
    dpkg -x "$dist"/framegate_*_"$(dpkg --print-architecture)".deb "$scratch/deb"
    try deb "$scratch/deb/usr/bin/framegate"
fi
