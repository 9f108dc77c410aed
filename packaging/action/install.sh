#!/usr/bin/env bash
# Finds the framegate binary for the GitHub Action: the one that INPUT_BINARY names, or a released one, whose checksum is compared.
# Writes its path to the step's output `binary`, and its folder to GITHUB_PATH. It also runs on macOS, whose bash is 3.2.
set -euo pipefail

fail() { echo "::error title=framegate::$1"; exit 2; }

# Where the releases are. Tests set it.
RELEASES=${FRAMEGATE_RELEASES:-https://github.com/framegate/framegate/releases/download}
# How often a download is tried again, and how long one may take, in seconds.
RETRIES=3
TIMEOUT=300

use() {
    "$1" --version || fail "$1 cannot be run"
    echo "binary=$1" >>"$GITHUB_OUTPUT"
    dirname "$1" >>"$GITHUB_PATH"
}

if [ -n "${INPUT_BINARY:-}" ]; then
    [ -x "$INPUT_BINARY" ] || fail "the input \`binary\` is $INPUT_BINARY, which is no executable file"
    use "$(cd "$(dirname "$INPUT_BINARY")" && pwd)/$(basename "$INPUT_BINARY")"
    exit
fi

version=${INPUT_VERSION:-}
version=${version#v}
if [ -z "$version" ]; then
    # The action's own version.
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$(dirname "$0")/../../Cargo.toml" | head -n 1)
fi
# The version becomes a part of paths and of a URL.
case $version in
    "" | *[!0-9A-Za-z.-]*) fail "the input \`version\` is \"$version\": use a version such as 0.1.0" ;;
esac

case $RUNNER_OS-$RUNNER_ARCH in
    Linux-X64) target=x86_64-unknown-linux-musl ;;
    Linux-ARM64) target=aarch64-unknown-linux-musl ;;
    macOS-X64) target=x86_64-apple-darwin ;;
    macOS-ARM64) target=aarch64-apple-darwin ;;
    *) fail "there is no binary for $RUNNER_OS on $RUNNER_ARCH: use a runner with Linux or macOS, or build framegate and set the input \`binary\`" ;;
esac
name=framegate-$version-$target
folder=$RUNNER_TEMP/framegate
mkdir -p "$folder"
if [ ! -x "$folder/$name/framegate" ]; then
    for file in "$name.tar.gz" SHA256SUMS; do
        curl --fail --silent --show-error --location --proto =https,file --proto-redir =https --retry "$RETRIES" --max-time "$TIMEOUT" \
            --output "$folder/$file" "$RELEASES/v$version/$file" ||
            fail "cannot download $RELEASES/v$version/$file: is $version a released version?"
    done
    expected=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\.tar\.gz\$/\1/p" "$folder/SHA256SUMS")
    if command -v sha256sum >/dev/null; then
        found=$(sha256sum "$folder/$name.tar.gz")
    else
        found=$(shasum -a 256 "$folder/$name.tar.gz")
    fi
    found=${found%% *}
    if [ -z "$expected" ] || [ "$found" != "$expected" ]; then
        rm -f "$folder/$name.tar.gz"
        fail "$name.tar.gz has the SHA-256 $found, and the release lists ${expected:-none}"
    fi
    tar -xzf "$folder/$name.tar.gz" -C "$folder"
fi
use "$folder/$name/framegate"
