#!/usr/bin/env bash
# Checks and tests everything: format, lints, tests. Installs what is missing of the toolchain first.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v cargo >/dev/null; then
    echo "cargo is missing: install Rust (https://rustup.rs), then run this again" >&2
    exit 2
fi
for component in rustfmt clippy; do
    cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 || rustup component add "$component"
done

cargo fmt --all --check
cargo clippy --workspace --all-targets --locked -- -D warnings
cargo test --workspace --locked
# The benchmarks run once, shortly, so that they cannot rot.
cargo test --benches --locked
