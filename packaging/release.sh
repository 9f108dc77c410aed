#!/usr/bin/env bash
# Makes all packages of a release from the binaries of packaging/build.sh.
#
#   packaging/release.sh BINARIES OUTPUT
#
# BINARIES has a folder [binary-]TARGET for each target, as build.sh and the release workflow write them. One of them must be for this
# machine, because it writes the manual pages and completions. OUTPUT gets archives, debug information, wheels, npm packages, Debian
# packages, the licences of the libraries, SHA256SUMS, and, if there are binaries for all its targets, the Homebrew formula.
# COMPRESSION_LEVEL is how hard it compresses: 9, and 6 for the debug information, for which 9 takes minutes and saves little.
set -euo pipefail
fail() { echo "packaging/release.sh: $1" >&2; exit 2; }
[ $# -eq 2 ] || fail "name the folder with the binaries and the folder for the packages"
binaries=$(cd "$1" && pwd)
mkdir -p "$2"
output=$(cd "$2" && pwd)
[ -z "$(ls -A "$output")" ] || fail "$output is not empty, and SHA256SUMS would list what is in it"
cd "$(dirname "$0")/.."

# The targets of the Homebrew formula.
FORMULA="aarch64-apple-darwin x86_64-apple-darwin aarch64-unknown-linux-musl x86_64-unknown-linux-musl"

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
targets=()
found=()
runs=
for folder in "$binaries"/*/; do
    target=$(basename "$folder")
    target=${target#binary-}
    binary=$folder/framegate
    case $target in *-windows-*) binary=$folder/framegate.exe ;; esac
    [ -f "$binary" ] || continue
    chmod +x "$binary"
    targets+=("$target")
    found+=("$binary")
    # A binary for another machine cannot be executed.
    if [ -z "$runs" ] && said=$("$binary" --version 2>/dev/null); then
        runs=$binary
        [ "$said" = "framegate $version" ] || fail "$binary says $said, and Cargo.toml has the version $version: build it again"
    fi
done
[ ${#targets[@]} -gt 0 ] || fail "$binaries has no folder with a binary: run packaging/build.sh first"
[ -n "$runs" ] || fail "none of the binaries in $binaries runs on this machine"

notices=$output/THIRD-PARTY-LICENSES.txt
python3 packaging/notices.py --output "$notices"
for nth in "${!targets[@]}"; do
    target=${targets[nth]} binary=${found[nth]}
    python3 packaging/archive/build.py --output "$output" --runs "$runs" --notices "$notices" "$target" "$binary"
    case $target in
        *-linux-*)
            python3 packaging/debian/build.py --output "$output" --runs "$runs" --notices "$notices" "$binary"
            gzip "-${COMPRESSION_LEVEL:-6}" --no-name --stdout "$(dirname "$binary")/framegate.debug" >"$output/framegate-$version-$target.debug.gz"
            ;;
    esac
done
python3 packaging/wheel/build.py --output "$output" --notices "$notices" "${found[@]}"
python3 packaging/npm/build.py --output "$output" --notices "$notices" "${found[@]}"

sums() { (cd "$output" && sha256sum -- *) }
listed=$(sums)
printf '%s\n' "$listed" >"$output/SHA256SUMS"
missing=
for target in $FORMULA; do
    [ -f "$output/framegate-$version-$target.tar.gz" ] || missing="$missing $target"
done
if [ -z "$missing" ]; then
    python3 packaging/homebrew/build.py "$output/SHA256SUMS" >"$output/framegate.rb"
    listed=$(rm "$output/SHA256SUMS" && sums)
    printf '%s\n' "$listed" >"$output/SHA256SUMS"
else
    echo "packaging/release.sh: no Homebrew formula, because there is no binary for:$missing" >&2
fi
