#!/usr/bin/env bash
# Runs a program that was built for Windows, on Windows in Git's bash, or elsewhere under Wine.
#
#   packaging/try_windows.sh FRAMEGATE.EXE
#
# It looks at what Windows does in its own way: standard input, the database and its lock, a runner that is a `.cmd` script, and the end of
# the runner's processes. Needs curl. Ctrl-C is not tried, because a script cannot press it. Wine 8 lacks `bcryptprimitives.dll`, which every Rust
# program needs: put a library with its function `ProcessPrng` beside the program.
set -euo pipefail
fail() { echo "packaging/try_windows.sh: $1" >&2; exit 1; }
[ $# -eq 1 ] || fail "name the program"
program=$(realpath "$1")
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
recording=tests/fixtures/claude-code/bash_ok.partial.ndjson
scratch=$(mktemp -d)
proxy=
trap '[ -z "$proxy" ] || kill "$proxy" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$scratch" || true' EXIT

case $(uname -s) in
    MINGW* | MSYS* | CYGWIN*) run=("$program") ;;
    *) run=(wine "$program"); export WINEDEBUG=-all ;;
esac
framegate() { "${run[@]}" "$@" </dev/null; }
address_in() { sed -n 's/\r//; s/^framegate listens on //p' "$1"; }

[ "$(framegate --version | tr -d '\r')" = "framegate $version" ] || fail "it does not say that it is framegate $version"
framegate translate --from claude-code --to sse.v1 "$recording" 2>/dev/null | grep -q '"type":"run_completed"' ||
    fail "the translation of a file has no run_completed"
"${run[@]}" translate --from claude-code --to sse.v1 - <"$recording" 2>/dev/null | grep -q '"type":"run_completed"' ||
    fail "the translation of standard input has no run_completed"
# A pipe whose writer pauses: what came before is translated, and nothing is lost.
(head -n 3 "$recording"; sleep 1; tail -n +4 "$recording") | "${run[@]}" translate --from claude-code --to sse.v1 - 2>/dev/null |
    grep -q '"type":"run_completed"' || fail "the translation of a pipe has no run_completed"

# A runner as npm installs one: a script that is found by its name without an end.
mkdir "$scratch/bin"
printf '@echo off\r\ntype "%%~dp0recording.ndjson"\r\n' >"$scratch/bin/scripted.cmd"
cp "$recording" "$scratch/bin/recording.ndjson"
# Leaves a process behind: a proxy, whose address shows when it has started.
cat >"$scratch/bin/leaving.cmd" <<'END'
@echo off
start /b "" "%FRAMEGATE_EXE%" serve --listen 127.0.0.1:0 --config "%~dp0memory.toml" >"%~dp0left"
:again
for %%f in ("%~dp0left") do if %%~zf==0 goto again
type "%~dp0recording.ndjson"
END
sed -i 's/$/\r/' "$scratch/bin/leaving.cmd"
printf '[log]\nkind = "memory"\n' >"$scratch/bin/memory.toml"
cat >"$scratch/config.toml" <<'END'
[[upstream]]
name = "scripted"
kind = "command"
runner = "claude-code"
program = "scripted"
arguments = ["-p", "{prompt}"]

[[upstream]]
name = "leaving"
kind = "command"
runner = "claude-code"
program = "leaving"
arguments = ["{prompt}"]
secret_variables = { FRAMEGATE_EXE = "FRAMEGATE_EXE" }
END
cat >>"$scratch/config.toml" <<'END'

[server]
listen = "127.0.0.1:0"
END
cd "$scratch"
# Wine has the folders of this machine on the drive Z:, and takes further folders of PATH from WINEPATH.
case $(uname -s) in
    MINGW* | MSYS* | CYGWIN*)
        export PATH=$scratch/bin:$PATH
        FRAMEGATE_EXE=$(cygpath -w "$program")
        ;;
    *)
        export WINEPATH="Z:${scratch//\//\\}\\bin"
        FRAMEGATE_EXE="Z:${program//\//\\}"
        ;;
esac
export FRAMEGATE_EXE
framegate run scripted "Say \"hello\" & %PATH%" --to sse.v1 >events 2>messages || fail "a .cmd script as runner: $(cat messages)"
grep -q '"type":"run_completed"' events || fail "the run of a .cmd script has no run_completed"
framegate run leaving prompt --to sse.v1 >events 2>messages || fail "a runner that leaves a process behind: $(cat messages)"
left=$(address_in bin/left)
[ -n "$left" ] || fail "the process that the runner leaves behind did not start"
if curl -fsS --max-time 5 "$left/healthz" >/dev/null 2>&1; then fail "a process that the runner started outlived it"; fi

"${run[@]}" serve </dev/null >served 2>log &
proxy=$!
for _ in $(seq 100); do [ -s served ] && break; sleep 0.2; done
address=$(address_in served)
[ -n "$address" ] || fail "the proxy does not start: $(cat log)"
curl -fsS "$address/healthz" >/dev/null || fail "the proxy is not healthy"
curl -fsS "$address/v1/ingest/claude-code" --data-binary @- <"$OLDPWD/$recording" >/dev/null || fail "the proxy takes no records"
curl -fsS "$address/v1/runs" -d '{"upstream": "scripted", "prompt": "Hello"}' >/dev/null || fail "the proxy starts no runs"
for _ in $(seq 50); do
    ended=$(curl -fsS "$address/v1/runs" | grep -o '"state":"completed"' | wc -l)
    [ "$ended" -ge 2 ] && break
    sleep 0.2
done
[ "$ended" -ge 2 ] || fail "$ended of 2 runs were completed: $(curl -fsS "$address/v1/runs")"
if framegate serve >second 2>&1; then fail "a second proxy uses the same database"; fi
grep -q "in use by another" second || fail "a second proxy does not say that the database is in use: $(cat second)"
framegate log verify >verified 2>&1 || fail "the log has errors: $(cat verified)"
echo "$program: ok"
