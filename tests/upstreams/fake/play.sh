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
# Exits before it reports the end of its run.
early) begin; exit 3 ;;
nothing) exit 4 ;;
errors) echo "it cannot be done" >&2; seq 1 5000 >&2; exit 5 ;;
# Reports its prompt, directory and environment.
echo)
    begin
    text=$(cat)
    printf '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"%s|%s|%s|%s"}}\n' \
        "$text" "$PWD" "$ONE-$KEY" "$(env | wc -l)"
    echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
    ;;
# Tests in the background are started with the signal ignored, and a shell cannot change that.
hang) begin; exec env --default-signal=INT sleep 600 ;;
# Begins once the file `begin` exists, and ends once `end` does.
gated)
    echo "began $3" >> starts
    until_there begin
    begin
    until_there end
    echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
    ;;
# Emits nothing.
mute) sleep 600 ;;
# Ignores signals and messages.
deaf)
    trap '' INT TERM
    begin
    while :; do sleep 1; done
    ;;
# Closes its output and keeps running.
closes)
    begin
    exec >&- 2>&-
    sleep 600
    ;;
# Exits, and leaves a child process that keeps its output open.
child)
    cat "$whole"
    sleep 600 &
    exit 0
    ;;
# Is killed in the middle of a line.
half)
    begin
    printf '{"type":"item.completed","item":{"id":"item_0","type":"agent_'
    kill -KILL $$
    ;;
# Writes output without end.
flood)
    begin
    yes '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"more"}}'
    ;;
# Writes to standard error without end.
flood-errors)
    begin
    yes "this goes wrong" >&2
    ;;
# Does not read its input.
reads-nothing)
    begin
    exec <&-
    echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
    sleep 1
    ;;
esac
