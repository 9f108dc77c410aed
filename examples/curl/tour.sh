#!/bin/sh
# Starts a run, follows it, answers its question, and interrupts another one: with curl alone.
# FRAMEGATE_URL and UPSTREAM in the environment choose another proxy and another upstream.
set -eu
base=${FRAMEGATE_URL:-http://127.0.0.1:8080}
upstream=${UPSTREAM:-demo}

# The value of a text field in a JSON object on one line. (With jq: jq -r .run_id)
field() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'; }

# The same of the event at hand.
of_event() { printf '%s\n' "$event" | field "$1"; }

start() { curl -sSf "$base/v1/runs" -d '{"upstream": "'"$upstream"'", "prompt": "'"$1"'"}' | field run_id; }

# The run's events in frames.v2, one on each line, as they come. The stream ends with the run.
follow() { curl -sSfN "$base/v1/runs/$1/events?contract=frames.v2" -H 'Accept: application/x-ndjson'; }

run=$(start 'Make a plan, then write a note')
echo "run $run"
follow "$run" | while read -r event; do
    case $(of_event type) in
    tool_started) echo "  tool: $(of_event name)" ;;
    output_text_completed) echo "  text: $(of_event text)" ;;
    approval_requested)
        approval=$(of_event approval_id)
        echo "  asks: $(of_event reason)"
        curl -sSf "$base/v1/runs/$run/approvals/$approval" -d '{"decision": "approved"}' >/dev/null
        echo '  answered: approved'
        ;;
    session_ended) echo "  ended: $(of_event reason)" ;;
    esac
done

run=$(start 'Count slowly')
echo "run $run"
pieces=0
follow "$run" | while read -r event; do
    case $(of_event type) in
    output_text_delta)
        pieces=$((pieces + 1))
        [ "$pieces" -ne 10 ] || curl -sSf -X POST "$base/v1/runs/$run/interrupt" >/dev/null
        ;;
    session_ended) echo "  ended after $pieces pieces of text: $(of_event reason)" ;;
    esac
done
