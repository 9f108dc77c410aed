#!/usr/bin/env bash
# Checks and tests everything: format, lints, documentation, tests. Installs what is missing of the toolchain first.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v cargo >/dev/null; then
    echo "cargo is missing: install Rust (https://rustup.rs), then run this again" >&2
    exit 2
fi
# Dependencies have C in them.
for tool in cc make; do
    if ! command -v "$tool" >/dev/null; then
        echo "$tool is missing: install a C compiler and make (apt-get install build-essential), then run this again" >&2
        exit 2
    fi
done
for component in rustfmt clippy; do
    cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 || rustup component add "$component"
done

cargo fmt --all --check
cargo clippy --workspace --all-targets --features framegate/otel --locked -- -D warnings
cargo clippy --locked -- -D warnings
cargo clippy --locked --no-default-features -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
# Everything is tested with what is not built by default; that it builds without is seen above. One set of features and of
# packages in all of them, so that nothing is built twice.
tests=(cargo test --workspace --features framegate/otel --locked)
"${tests[@]}"
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
    "${tests[@]}" --test published -- --ignored
else
    not_done+=("node or npm is missing: schemas/types/ was NOT compiled with TypeScript (https://nodejs.org)")
fi

# Clients of others read the proxy's streams; their libraries have pinned versions and hashes.
ignored_clients() { "${tests[@]}" --test serve -- --ignored "$1"; }
if command -v node >/dev/null && command -v npm >/dev/null; then
    # npm notes what it has installed: anything else than the lock file is installed again.
    if ! npm ls --prefix tests/clients --all >/dev/null 2>&1; then
        npm ci --prefix tests/clients
    fi
    ignored_clients eventsource
    ignored_clients npm_openai
    ignored_clients openapi_typescript
    ignored_clients ajv
    for browser in ${CHROMIUM:-} chromium chromium-headless-shell chromium-browser google-chrome; do
        if CHROMIUM=$(command -v "$browser"); then break; fi
    done
    if [ -n "$CHROMIUM" ]; then
        export CHROMIUM
        ignored_clients browsers_event_source
    else
        not_done+=("no Chromium is found: the browser's EventSource was NOT tested (apt-get install chromium, or set CHROMIUM)")
    fi
else
    not_done+=("node or npm is missing: the clients of tests/clients were NOT run (https://nodejs.org)")
fi
# Real runners are started by the proxy, against a scripted model; where the system lets us, with loopback alone.
if command -v node >/dev/null && command -v npm >/dev/null; then
    runners=ready
    if ! npm ls --prefix tests/runners --all >/dev/null 2>&1; then
        # Without a lock file: the runners' own packages name those of every platform, and not every registry has all of them.
        npm install --prefix tests/runners --no-package-lock --no-audit --no-fund || runners=missing
    fi
    if [ "$runners" = ready ]; then
        alone=()
        if unshare --map-root-user --net sh -c 'ip link set lo up' 2>/dev/null; then
            alone=(unshare --map-root-user --net sh -c 'ip link set lo up && exec "$@"' sh)
        else
            not_done+=("no network namespace is to be had: the real runners were NOT kept from the network")
        fi
        "${tests[@]}" --test upstreams --no-run
        ${alone[@]+"${alone[@]}"} "${tests[@]}" --test upstreams --offline -- --ignored --test-threads 2
    else
        not_done+=("npm could not install tests/runners: the real runners were NOT started")
    fi
else
    not_done+=("node or npm is missing: the real runners of tests/runners were NOT started (https://nodejs.org)")
fi
if command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1; then
    if ! cmp -s tests/clients/requirements.txt tests/clients/python_modules/requirements.txt; then
        rm -rf tests/clients/python_modules
        python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
            --require-hashes --only-binary :all: --target tests/clients/python_modules -r tests/clients/requirements.txt
        cp tests/clients/requirements.txt tests/clients/python_modules/
    fi
    ignored_clients httpx_sse
    ignored_clients python_openai
    ignored_clients openapi_spec_validator
    ignored_clients openapi_python_client
else
    not_done+=("python3 or pip is missing: httpx-sse and openai were NOT run against the proxy (https://www.python.org)")
fi

# The benchmarks run once, shortly, so that they cannot rot.
"${tests[@]}" --bench '*'

# The instructions of each stage are held against those of the baseline.
if [ "${CI:-}" = true ] && ! command -v valgrind >/dev/null && command -v apt-get >/dev/null; then
    { apt-get update --quiet && apt-get install --yes --quiet valgrind; } || true
fi
if command -v valgrind >/dev/null; then
    counted=$(mktemp)
    cargo bench -p framegate-translators --bench instructions --locked 2>&1 | tee "$counted"
    if grep -q '^NOT compared' "$counted"; then
        not_done+=("the processor is of another kind than the baseline's: instructions were NOT compared with it")
    fi
    rm -f "$counted"
else
    not_done+=("valgrind is missing: the instructions of the stages were NOT counted (apt-get install valgrind)")
fi

for what in ${not_done[@]+"${not_done[@]}"}; do
    echo "$what" >&2
done
