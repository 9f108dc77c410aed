#!/bin/sh
# Plays a runner: `play.sh SCRIPT FIXTURES`. The prompt comes by the standard input.
fixtures="$2"
whole="$fixtures/codex/exec-command-ok.ndjson"

begin() {
    echo '{"type":"thread.started","thread_id":"01a1ffc9-90a9-7072-b240-f837ac957f3f"}'
    echo '{"type":"turn.started"}'
}

until_there() { while [ ! -e "$1" ]; do sleep 0.05; done; }

case "$1" in
well) cat "$whole" ;;
badly) cat "$whole"; exit 7 ;;
# Ends without a word of how its run ended.
early) begin; exit 3 ;;
nothing) exit 4 ;;
errors) echo "it cannot be done" >&2; seq 1 5000 >&2; exit 5 ;;
# What it was given.
echo)
    begin
    text=$(cat)
    printf '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"%s|%s|%s|%s"}}\n' \
        "$text" "$PWD" "$ONE-$KEY" "$(env | wc -l)"
    echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
    ;;
# Whoever began the tests in the background has them ignore the signal, and a shell cannot change that.
hang) begin; exec env --default-signal=INT sleep 600 ;;
# Begins when it is told to, and ends when it is told to.
told)
    echo "began $3" >> starts
    until_there begin
    begin
    until_there end
    echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
    ;;
# Says nothing at all.
mute) sleep 600 ;;
# Pays no attention to being asked.
deaf)
    trap '' INT TERM
    begin
    while :; do sleep 1; done
    ;;
# Closes its output and lives on.
closes)
    begin
    exec >&- 2>&-
    sleep 600
    ;;
# A child that keeps its output open behind it.
child)
    cat "$whole"
    sleep 600 &
    exit 0
    ;;
# Dies in the middle of a line.
half)
    begin
    printf '{"type":"item.completed","item":{"id":"item_0","type":"agent_'
    kill -KILL $$
    ;;
# Says more than anybody reads.
flood)
    begin
    yes '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"more"}}'
    ;;
# Says more than anybody reads, where nobody reads it.
flood-errors)
    begin
    yes "this goes wrong" >&2
    ;;
# Reads nothing of what it is told.
reads-nothing)
    begin
    exec <&-
    echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
    sleep 1
    ;;
esac
