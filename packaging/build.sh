#!/usr/bin/env bash
# Builds the released binary for each target, with its debug information in a separate file.
#
#   packaging/build.sh [--profile NAME] [--output DIR] TARGET...
#
# Targets with static binaries: x86_64-unknown-linux-musl, aarch64-unknown-linux-musl. Zig compiles and links their C code (SQLite,
# jemalloc, ring); requirements.txt pins it, and pip installs it into the target folder. Other targets are built by the machine's
# own toolchain, so they need a machine of that system. The result is in DIR/TARGET (target/packages/TARGET by default):
#
#   framegate          the program without symbols; names the file below in its section .gnu_debuglink
#   framegate.debug    its debug information, for debuggers and for names in profiles
set -euo pipefail
cd "$(dirname "$0")/.."

# A prebuilt binary cannot be given a feature later, so it has all of them.
FEATURES=${FEATURES-jetstream}
target_folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")
output=$target_folder/packages
# Has the debug information that is separated below; the profile `release` has none.
profile=dist
targets=()
fail() { echo "packaging/build.sh: $1" >&2; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
        --profile | --output)
            [ $# -ge 2 ] || fail "$1 needs a value"
            if [ "$1" = --profile ]; then profile=$2; else output=$(realpath -m "$2"); fi
            shift 2
            ;;
        -*) fail "unknown option $1: use --profile NAME or --output DIR" ;;
        *) targets+=("$1"); shift ;;
    esac
done
[ ${#targets[@]} -gt 0 ] || fail "name a target, such as x86_64-unknown-linux-musl"

# Installs zig and cargo-zigbuild, unless they are those that requirements.txt lists.
install_zig() {
    local modules=$target_folder/packages/zig
    if ! cmp -s packaging/requirements.txt "$modules/requirements.txt"; then
        rm -rf "$modules"
        python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
            --require-hashes --only-binary :all: --target "$modules" -r packaging/requirements.txt
        cp packaging/requirements.txt "$modules/"
    fi
    export PATH=$modules/bin:$PATH PYTHONPATH=$modules${PYTHONPATH:+:$PYTHONPATH}
}

# Sets OBJCOPY to a program that reads the objects of every target. GNU objcopy reads those of its own machine only.
find_objcopy() {
    if [ -n "${OBJCOPY:-}" ]; then return; fi
    local host sysroot
    host=$(rustc -vV | sed -n 's/^host: //p')
    sysroot=$(rustc --print sysroot)
    OBJCOPY=$sysroot/lib/rustlib/$host/bin/llvm-objcopy
    if [ ! -x "$OBJCOPY" ] && command -v rustup >/dev/null; then rustup --quiet component add llvm-tools || true; fi
    if [ ! -x "$OBJCOPY" ]; then
        OBJCOPY=$(command -v llvm-objcopy) ||
            fail "llvm-objcopy is missing: run \`rustup component add llvm-tools\`, install LLVM, or set OBJCOPY"
    fi
}

# Paths of this machine would be in panic messages and debug information, and the same source would not give the same binary elsewhere.
# The more specific prefix comes last, because the last match wins.
remap="--remap-path-prefix=$PWD=/framegate --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
export RUSTFLAGS="${RUSTFLAGS:+$RUSTFLAGS }$remap"

for target in "${targets[@]}"; do
    if command -v rustup >/dev/null && ! rustup target list --installed | grep -qx "$target"; then
        rustup target add "$target"
    fi
    build=(cargo rustc)
    link=()
    unset JEMALLOC_SYS_WITH_LG_PAGE
    case $target in
        *-linux-musl)
            install_zig
            build=(cargo-zigbuild rustc)
            # Without this, zig links a static binary for a fixed address, which the system cannot randomise.
            link=(-- -C link-arg=-pie)
            ;;
    esac
    case $target in
        # Kernels for aarch64 have pages of 4, 16 or 64 KiB. jemalloc works on pages that are smaller than those it was built for, and
        # refuses to start on larger ones, so it is built for 64 KiB.
        aarch64-*-linux-*) export JEMALLOC_SYS_WITH_LG_PAGE=16 ;;
    esac
    "${build[@]}" --locked --package framegate --bin framegate --profile "$profile" --features "$FEATURES" --target "$target" \
        ${link[@]+"${link[@]}"}

    # Cargo calls the folder of the profile `dev` `debug`.
    built=$target_folder/$target/${profile/#dev/debug}
    to=$output/$target
    mkdir -p "$to"
    case $target in
        *-linux-*)
            find_objcopy
            "$OBJCOPY" --only-keep-debug "$built/framegate" "$to/framegate.debug"
            # The link has the name of the file only, so that both files can be moved together.
            (cd "$to" && "$OBJCOPY" --strip-all --add-gnu-debuglink=framegate.debug "$built/framegate" framegate)
            ;;
        *-apple-*)
            dsymutil "$built/framegate" -o "$to/framegate.dSYM"
            strip -o "$to/framegate" "$built/framegate"
            # Stripping invalidates the linker's signature, without which an Apple processor runs nothing.
            codesign --force --sign - "$to/framegate"
            ;;
        *-windows-*)
            # The debug information of this toolchain is separate already.
            cp "$built/framegate.exe" "$to/"
            if [ -f "$built/framegate.pdb" ]; then cp "$built/framegate.pdb" "$to/"; fi
            ;;
        *) fail "it is not known how to strip a binary for $target" ;;
    esac
    # A binary that needs a loader or a library would start here, and fail on a machine with another C library.
    case $target in
        *-linux-musl) python3 packaging/executable.py --static --relocatable "$to/framegate" ;;
        *-windows-*) python3 packaging/executable.py "$to/framegate.exe" ;;
        *) python3 packaging/executable.py "$to/framegate" ;;
    esac
done
