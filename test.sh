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


# Files of this run: packages, the output of what runs in the background, and what was not done.
work=$(mktemp -d)
touch "$work/not_done"
# Ends what still runs in the background: each job has a process group of its own.
clean_up() {
    local job
    for job in $(jobs -p); do kill -- "-$job" 2>/dev/null || true; done
    rm -rf "$work"
}
trap clean_up EXIT

# Names the next stage, and the time since the start. CONTRIBUTING.md lists the slowest stages.
stage() { echo "== $(printf '%02d:%02d' $((SECONDS / 60)) $((SECONDS % 60))) $1"; }
# Notes what could not be checked. The end of the output lists it.
not_done() { echo "$1" >>"$work/not_done"; }
# Runs a function in the background, and keeps its output.
start() {
    set -m
    { set -e; "$1"; } >"$work/$1.log" 2>&1 </dev/null &
    set +m
    printf -v "pid_of_$1" %s "$!"
}
# Waits for a function that runs in the background, and prints its output. Its failure is the failure of this script.
finish() {
    local pid="pid_of_$1" code=0
    wait "${!pid}" || code=$?
    cat "$work/$1.log"
    if [ "$code" -ne 0 ]; then
        echo "$1 failed with exit code $code; the lines above are its output" >&2
        exit "$code"
    fi
}

has_node() { command -v node >/dev/null && command -v npm >/dev/null; }
# Installs the packages of a folder, unless they are those that its lock file lists.
install_npm() { npm ls --prefix "$1" --all >/dev/null 2>&1 || npm ci --prefix "$1"; }
has_prometheus() { command -v prometheus >/dev/null && command -v promtool >/dev/null; }
any_chromium() {
    local browser
    for browser in ${CHROMIUM:-} chromium chromium-headless-shell chromium-browser google-chrome; do
        if command -v "$browser"; then return; fi
    done
}
# Sets CHROMIUM to a browser, or to nothing.
find_chromium() {
    CHROMIUM=$(any_chromium)
    export CHROMIUM
}
# Installs a system package in CI, unless its program is present. Without it, what needs it is not done.
install_system() {
    if [ "${CI:-}" = true ] && command -v apt-get >/dev/null; then
        { apt-get update --quiet && apt-get install --yes --quiet "$@"; } || true
    fi
}

# Installs the Python libraries of tests/clients, unless they are those that requirements.txt lists.
install_python_clients() {
    command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 || return 1
    if cmp -s tests/clients/requirements.txt tests/clients/python_modules/requirements.txt; then return; fi
    rm -rf tests/clients/python_modules
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
        --require-hashes --only-binary :all: --target tests/clients/python_modules -r tests/clients/requirements.txt || exit
    cp tests/clients/requirements.txt tests/clients/python_modules/
}

# Installs the NATS server of tests/nats, unless it is the one that requirements.txt lists.
install_nats_server() {
    command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 || return 1
    local folder=tests/nats/python_modules
    if ! cmp -s tests/nats/requirements.txt "$folder/requirements.txt"; then
        rm -rf "$folder"
        python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
            --require-hashes --only-binary :all: --target "$folder" -r tests/nats/requirements.txt || exit
        cp tests/nats/requirements.txt "$folder/"
    fi
}

# Installs the collector and the definitions of OTLP of tests/otlp, unless they are those that requirements.txt lists. Fails if there is no
# wheel of the collector for this machine or this Python.
install_collector() {
    command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 || return 1
    local folder=tests/otlp/python_modules
    if ! cmp -s tests/otlp/requirements.txt "$folder/requirements.txt"; then
        rm -rf "$folder"
        python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
            --require-hashes --only-binary :all: --target "$folder" -r tests/otlp/requirements.txt || return 1
        cp tests/otlp/requirements.txt "$folder/"
    fi
}

# Installs everything that the stages after the tests need. This waits for the network, so it runs beside the lints.
installations() {
    stage "installations"
    if [ -z "$(any_chromium)" ]; then install_system --no-install-recommends chromium; fi
    if ! command -v valgrind >/dev/null; then install_system valgrind; fi
    if ! has_prometheus; then install_system --no-install-recommends prometheus; fi
    if has_node; then
        # The version of the TypeScript compiler is pinned.
        local compiler=tests/node/node_modules/typescript/package.json wanted folder
        wanted=$(node -p 'require("./tests/node/package.json").devDependencies.typescript')
        if [ ! -f "$compiler" ] || [ "$(node -p "require('./$compiler').version")" != "$wanted" ]; then
            npm ci --prefix tests/node
        fi
        # The installation of the client package also builds it.
        for folder in tests/clients clients/typescript examples/ag-ui examples/langchain examples/react-chat ui tests/page; do
            install_npm "$folder"
        done
        # No lock file: the runners depend on packages for every platform, and not every registry has all of them.
        if ! npm ls --prefix tests/runners --all >/dev/null 2>&1; then
            npm install --prefix tests/runners --no-package-lock --no-audit --no-fund || touch "$work/no_runners"
        fi
    fi
    install_python_clients || touch "$work/no_python"
    install_nats_server || touch "$work/no_nats"
    install_collector || touch "$work/no_collector"
    stage "end of installations"
}

stage "format and lints"
cargo fmt --all --check
start installations
# The dependencies' C code and build scripts depend on this setting: with the one of the tests, they are compiled once for lints and tests.
export CARGO_PROFILE_DEV_OPT_LEVEL=1
features=(--features framegate/jetstream)
cargo clippy --workspace --all-targets "${features[@]}" --locked -- -D warnings
# Without all optional features. The default build is compiled below as a package.
cargo clippy --locked --no-default-features -- -D warnings
# Everything except TLS and jemalloc, which the default build has.
cargo clippy --locked --no-default-features --features jetstream,otel,ui -- -D warnings
# The translators without `jsonschema`.
cargo clippy --package framegate-translators --locked --no-default-features -- -D warnings
stage "documentation"
# With the default features, whose dependencies are compiled by now.
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
stage "packages"
# Each package is unpacked and compiled on its own, with what the lints compiled of its dependencies.
packages=$work/packages
mkdir "$packages"
cargo package --package framegate-validator --package framegate-translators --package framegate --no-verify --allow-dirty --locked --quiet
for package in framegate-validator framegate-translators framegate; do
    tar --extract --gzip --directory "$packages" --file "$(echo target/package/$package-[0-9]*.crate)"
    mv "$packages/$package"-[0-9]* "$packages/$package"
done
for package in framegate-validator framegate-translators framegate; do
    CARGO_TARGET_DIR=$PWD/target cargo check --manifest-path "$packages/$package/Cargo.toml" --offline \
        --config "patch.crates-io.framegate-validator.path='$packages/framegate-validator'" \
        --config "patch.crates-io.framegate-translators.path='$packages/framegate-translators'" \
        --config "patch.crates-io.httpdate.path='$PWD/httpdate'"
done

finish installations
stage "tests"
# All tests run with the optional features; the checks above cover the default build. Every command uses the same features
# and packages, so that nothing is compiled twice.
tests=(cargo test --workspace "${features[@]}" --locked)
"${tests[@]}"

stage "licences"
if command -v cargo-deny >/dev/null; then
    # Advisories are left out because they need the network and change over time; `cargo deny check` includes them.
    cargo deny --locked check bans licenses sources
else
    not_done "cargo-deny is missing: deny.toml was NOT checked (cargo install --locked cargo-deny)"
fi

# The stages from here to the benchmarks wait for browsers, clients and clocks most of the time. They run in two jobs, side by side.
find_chromium
# The proxy embeds ui/dist. It is built again elsewhere, and must be what is committed.
page() {
    stage "page"
    if ! has_node; then
        not_done "node or npm is missing: ui/ was NOT built and compared with ui/dist, and the page was NOT tested (https://nodejs.org)"
        return
    fi
    local built=$work/page
    npm run build --prefix ui -- --outDir "$built" --emptyOutDir
    if ! diff --recursive --brief "$built" ui/dist; then
        echo "ui/dist is not what ui/ builds: run \`npm ci --prefix ui && npm run build --prefix ui\`, and commit ui/dist" >&2
        exit 1
    fi
    npm test --prefix ui
    if [ -n "$CHROMIUM" ]; then
        "${tests[@]}" --test page -- --ignored browsers_page_ --test-threads 2
    else
        not_done "Chromium was not found: the page of ui/ was NOT tested in a browser (apt-get install chromium, or set CHROMIUM)"
    fi
}

# Third-party clients read the proxy's streams, and hold conversations with runners. The versions and hashes of their libraries are pinned.
ignored_clients() { "${tests[@]}" --test serve --test upstreams --test examples -- --ignored "$@"; }
clients_in_javascript() {
    stage "clients in JavaScript"
    if ! has_node; then
        not_done "node or npm is missing: schemas/types/ was NOT compiled with TypeScript, and the clients of tests/clients, clients/typescript and examples were NOT run (https://nodejs.org)"
        return
    fi
    "${tests[@]}" --test contracts -- --ignored published::
    ignored_clients npm_ openapi_typescript ajv_
    if [ -n "$CHROMIUM" ]; then
        # The tests of the page, and those with real runners, have stages of their own.
        "${tests[@]}" --test serve --test examples -- --ignored browsers_
    else
        not_done "Chromium was not found: the browser's EventSource and examples/react-chat were NOT tested (apt-get install chromium, or set CHROMIUM)"
    fi
}
clients_in_python() {
    stage "clients in Python"
    if [ -e "$work/no_python" ]; then
        not_done "python3 or pip is missing: httpx-sse, openai, claude-agent-sdk, clients/python and examples/python-openai were NOT run against the proxy (https://www.python.org)"
    else
        ignored_clients python_ openapi_spec_validator
    fi
    if command -v curl >/dev/null; then
        ignored_clients curl_
    else
        not_done "curl is missing: examples/curl and the command of serve --demo were NOT run (apt-get install curl)"
    fi
}
# A real OpenTelemetry collector, and OpenTelemetry's own definitions of what it receives.
collector() {
    stage "OpenTelemetry collector"
    if [ -e "$work/no_collector" ]; then
        not_done "python3 or pip is missing, or there is no wheel of tests/otlp for this machine: spans were NOT sent to a real OpenTelemetry collector (https://www.python.org)"
        return
    fi
    "${tests[@]}" --test serve -- --ignored otlp_collector::
}
# A real Prometheus scrapes a proxy, and answers the queries of the dashboard.
scraped_by_prometheus() {
    stage "Prometheus"
    if has_prometheus; then
        "${tests[@]}" --test serve -- --ignored prometheus::
    else
        not_done "prometheus or promtool is missing: no proxy was scraped by a real Prometheus (apt-get install prometheus)"
    fi
}
page_and_clients() { page; clients_in_javascript; clients_in_python; collector; scraped_by_prometheus; }

# The proxy starts real runners against a scripted model, also for the client libraries in JavaScript and Python. If the system allows
# it, they can only reach loopback. The tests of Python clients with real runners are named `…_in_python`.
real_runners() {
    stage "real runners"
    if ! has_node; then
        not_done "node or npm is missing: the real runners of tests/runners were NOT started (https://nodejs.org)"
        return
    fi
    if [ -e "$work/no_runners" ]; then
        not_done "npm could not install tests/runners: the real runners were NOT started"
        return
    fi
    local left_out=(--skip npm_ --skip python_ --skip curl_) alone=()
    if [ -e "$work/no_python" ]; then
        left_out+=(--skip in_python)
        not_done "python3 or pip is missing: openai and claude-agent-sdk in Python were NOT run with real runners (https://www.python.org)"
    fi
    if [ -z "$CHROMIUM" ]; then
        left_out+=(--skip in_a_browser)
        not_done "Chromium was not found: examples/react-chat was NOT run with a real runner (apt-get install chromium, or set CHROMIUM)"
    fi
    if unshare --map-root-user --net sh -c 'ip link set lo up' 2>/dev/null; then
        alone=(unshare --map-root-user --net sh -c 'ip link set lo up && exec "$@"' sh)
    else
        not_done "no network namespace is available: the real runners were NOT isolated from the network"
    fi
    "${tests[@]}" --test upstreams --no-run
    ${alone[@]+"${alone[@]}"} "${tests[@]}" --test upstreams --offline -- --ignored "${left_out[@]}" --test-threads 2
}

# Every package is made as for a release, from the binary of these tests, and is installed and run.
installable_packages() {
    stage "installable packages"
    local packages_need=() left_out=() tool
    for tool in node npm python3 dpkg-deb strip cc curl jq; do
        if ! command -v "$tool" >/dev/null; then packages_need+=("$tool"); fi
    done
    if [ "$(uname)" = Linux ] && [ ${#packages_need[@]} -eq 0 ] && python3 -m pip --version >/dev/null 2>&1; then
        if ! command -v systemd-analyze >/dev/null; then
            left_out+=(--skip systemd_)
            not_done "systemd-analyze is missing: packaging/framegate.service was NOT verified (apt-get install systemd)"
        elif ! strace --quiet=all true 2>/dev/null; then
            left_out+=(--skip systemd_allows_the_calls)
            not_done "strace is missing, or may not trace: the calls of the proxy were NOT compared with packaging/framegate.service (apt-get install strace)"
        fi
        if [ "$(id -u)" != 0 ] && ! command -v fakeroot >/dev/null; then
            left_out+=(--skip deb_is_installed)
            not_done "fakeroot is missing: the Debian package was NOT installed (apt-get install fakeroot)"
        fi
        "${tests[@]}" --test packages -- --ignored ${left_out[@]+"${left_out[@]}"}
    else
        not_done "the packages were NOT made and installed: this needs Linux, pip, and: ${packages_need[*]:-nothing else}"
    fi
    not_done "the container images, and the packages for macOS and Windows, were NOT built: .github/workflows/release.yml does that"
}

# Several proxies with one log on real NATS servers, which are killed and stopped while runs are open.
shared_log() {
    stage "shared log"
    if [ -e "$work/no_nats" ]; then
        not_done "python3 or pip is missing: the log on NATS servers was NOT tested (https://www.python.org)"
        return
    fi
    local left_out=()
    if ! command -v node >/dev/null || [ ! -d tests/clients/node_modules ]; then left_out=(--skip npm_); fi
    NATS_SERVER=$PWD/tests/nats/python_modules/bin/nats-server \
        "${tests[@]}" --test cluster -- --ignored --test-threads 1 ${left_out[@]+"${left_out[@]}"}
}
runners_packages_and_log() { real_runners; installable_packages; shared_log; }

stage "page and clients; beside them: real runners, installable packages, shared log"
start page_and_clients
start runners_packages_and_log
finish page_and_clients
finish runners_packages_and_log

stage "benchmarks"
# Run the benchmarks briefly, to check that they still work.
"${tests[@]}" --bench '*'

stage "instruction counts"
# Compare the instruction counts of each stage with the baseline.
if command -v valgrind >/dev/null; then
    counted=$work/counted
    cargo bench -p framegate-translators --bench instructions --locked 2>&1 | tee "$counted"
    if grep -q '^NOT compared' "$counted"; then
        not_done "the processor differs from the baseline's: instruction counts were NOT compared"
    fi
else
    not_done "valgrind is missing: the instructions of each stage were NOT counted (apt-get install valgrind)"
fi

stage "end"
cat "$work/not_done" >&2
