#!/usr/bin/env bash
# Checks and tests everything: format, lints, documentation, tests. Installs what is missing of the toolchain first.
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
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
cargo test --workspace --locked
not_done=()

if command -v cargo-deny >/dev/null; then
    # Without the advisories, which need the network and change by themselves: `cargo deny check` has them too.
    cargo deny --locked check bans licenses sources
else
    not_done+=("cargo-deny is missing: deny.toml was NOT checked (cargo install --locked cargo-deny)")
fi

# The TypeScript declarations are compiled with a compiler of a pinned version, which only this test needs.
if command -v node >/dev/null && command -v npm >/dev/null; then
    compiler=tests/node/node_modules/typescript/package.json
    wanted=$(node -p 'require("./tests/node/package.json").devDependencies.typescript')
    if [ ! -f "$compiler" ] || [ "$(node -p "require('./$compiler').version")" != "$wanted" ]; then
        npm ci --prefix tests/node
    fi
    cargo test -p framegate-translators --test published --locked -- --ignored
else
    not_done+=("node or npm is missing: schemas/types/ was NOT compiled with TypeScript (https://nodejs.org)")
fi

# The benchmarks run once, shortly, so that they cannot rot.
cargo test --benches --locked

for what in ${not_done[@]+"${not_done[@]}"}; do
    echo "$what" >&2
done
