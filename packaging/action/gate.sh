#!/usr/bin/env bash
# The check of the GitHub Action: findings become annotations, the runs' usage becomes a table in the job's summary, and the exit code is
# that of `framegate check`. It also runs on macOS, whose bash is 3.2.
set -euo pipefail

fail() { echo "::error title=framegate::$1"; exit 2; }

FRAMEGATE=${FRAMEGATE:-framegate}
# Outside of GitHub Actions, only the findings are printed.
: "${GITHUB_OUTPUT:=/dev/null}" "${GITHUB_STEP_SUMMARY:=/dev/null}"
# Frames are not needed for the summary. This is the smallest limit that `framegate export` accepts.
EXPORTED_BYTES=1024
contract=${INPUT_CONTRACT:-sse.v1}
from=${INPUT_FROM-auto}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Patterns that match nothing are errors: a gate without files would always be open.
shopt -s nullglob
shopt -s globstar 2>/dev/null || true
files=()
while IFS= read -r pattern || [ -n "$pattern" ]; do
    pattern=${pattern#"${pattern%%[![:space:]]*}"}
    pattern=${pattern%"${pattern##*[![:space:]]}"}
    if [ -z "$pattern" ]; then continue; fi
    # A path that exists is not a pattern, also if it has brackets. Otherwise, it may have spaces.
    if [ -e "$pattern" ]; then matches=("$pattern"); else IFS= matches=($pattern); fi
    # Without nullglob characters, the pattern stands for itself.
    if [ ${#matches[@]} -eq 0 ] || [ ! -e "${matches[0]}" ]; then fail "no file matches \"$pattern\", which the input \`files\` names"; fi
    files+=("${matches[@]}")
done <<<"${INPUT_FILES:-}"
[ ${#files[@]} -gt 0 ] || fail "the input \`files\` names no file"

arguments=(--contract "$contract" --format github)
if [ -n "$from" ]; then
    # This is always strict.
    arguments+=(--from "$from")
elif [ "${INPUT_STRICT:-false}" = true ]; then
    arguments+=(--strict)
fi
code=0
"$FRAMEGATE" check "${arguments[@]}" -- "${files[@]}" | tee "$scratch/findings" || code=${PIPESTATUS[0]}
case $code in
    0) result=passed ;;
    1) result=findings ;;
    *) result=unreadable ;;
esac
echo "result=$result" >>"$GITHUB_OUTPUT"

# Names of models and runners come from recordings, and must not become markup of the summary.
TABLE='
def cell: tostring | gsub("[\\r\\n]"; " ") | gsub("&"; "&amp;") | gsub("<"; "&lt;") | gsub(">"; "&gt;")
    | gsub("(?<c>[\\\\`*_{}\\[\\]|~@])"; "\\\(.c)");
def number: if . == null then "" else tostring | until(test("^-?[0-9]{4}") | not; sub("(?<a>[0-9])(?<b>[0-9]{3}(,|$))"; "\(.a),\(.b)")) end;
def dollars: if . == null then "" else (. * 10000 | round / 10000 | tostring | "$" + .) end;
def row: "| \(.runs | number) | \(.completed | number) | \(.failed | number) | \(.interrupted | number) "
    + "| \(.tool_calls | number) | \(.failed_tool_calls | number) "
    + "| \(.input_tokens | number) | \(.cache_read_tokens | number) | \(.output_tokens | number) | \(.cost_usd | dollars) |";
"| runner | model | runs | completed | failed | interrupted | tool calls | failed | input tokens | from cache | output tokens | cost |",
"|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
(.data[] | "| \(.runner // "" | cell) | \(.model // "" | cell) \(row)"),
(if (.data | length) > 1 then .total | "| **all** | \(row)" else empty end),
(if .total.runs > (.total.runs_with_cost // 0)
 then "", "\(.total.runs - (.total.runs_with_cost // 0)) of \(.total.runs) runs reported no cost." else empty end)'

# Writes the status of each run in the recordings, one on each line. The exported page has them as one line of JSON.
statuses() {
    "$FRAMEGATE" --log off export --from "$from" --max-bytes "$EXPORTED_BYTES" --html - -- "${files[@]}" |
        sed -n 's/.*<script type="application\/json" id="framegate-export">\(.*\)<\/script>.*/\1/p' | jq -c '.runs[].status'
}

if [ "${INPUT_SUMMARY:-true}" = true ]; then
    case $result in
        passed) title="✅ no findings in \`$contract\`" ;;
        findings) title="❌ findings in \`$contract\`" ;;
        *) title="❌ files could not be read" ;;
    esac
    {
        echo "### framegate: $title"
        echo
        # The last line counts errors, warnings and events. It has no text of the files.
        tail -n 1 "$scratch/findings"
        echo
    } >>"$GITHUB_STEP_SUMMARY"
    if [ -n "$from" ]; then
        command -v jq >/dev/null || fail "jq is missing, which makes the summary: install it, or set the input \`summary\` to false"
        # The export fails if a file cannot be read, which the check has reported, and has the others.
        statuses >"$scratch/statuses" 2>"$scratch/errors" || [ "$result" = unreadable ] || { cat "$scratch/errors" >&2; exit 2; }
        if [ -s "$scratch/statuses" ]; then
            "$FRAMEGATE" --log off stats --by runner,model --format json --from "$scratch/statuses" >"$scratch/stats"
            jq -r "$TABLE" "$scratch/stats" >>"$GITHUB_STEP_SUMMARY"
            jq -r '"runs=\(.total.runs)", "cost-usd=\(.total.cost_usd | if . == null then "" else . * 1e6 | round / 1e6 end)"' "$scratch/stats" >>"$GITHUB_OUTPUT"
        fi
    fi
fi
exit "$code"
