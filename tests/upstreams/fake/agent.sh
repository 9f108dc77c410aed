#!/bin/sh
# An agent that speaks Claude Code's protocol and keeps its sessions in files of the working directory. It counts the prompts of each
# session, and does what the words of a prompt say. The mode of each prompt is a line of the file modes.
session=""
model=m
mode=none
while [ $# -gt 0 ]; do
    case "$1" in
    --resume) session="$2" && shift ;;
    --model) model="$2" && shift ;;
    --permission-mode) mode="$2" && shift ;;
    esac
    shift
done
[ -n "$session" ] || session=$(cat /proc/sys/kernel/random/uuid)

say() { printf '%s\n' "$1"; }
message() {
    say '{"type":"assistant","session_id":"'"$session"'","parent_tool_use_id":null,"message":{"id":"msg_'"$nth"'_'"$1"'","type":"message","role":"assistant","model":"'"$model"'","content":['"$2"'],"stop_reason":'"${stop:-null}"',"usage":{"input_tokens":10,"output_tokens":2}}}'
}
# Waits for a file, and ends if the proxy is killed.
until_there() { while [ ! -e "$1" ]; do kill -0 "$PPID" 2>/dev/null || exit 9; sleep 0.05; done; }

read -r first || exit 8
say '{"type":"control_response","response":{"subtype":"success","request_id":"req_1","response":{}}}'
while read -r prompt; do
    case "$prompt" in *'"type":"user"'*) ;; *) continue ;; esac
    say "$session $prompt" >>prompts
    say "$mode" >>modes
    nth=$(($(cat "count.$session" 2>/dev/null || echo 0) + 1))
    say "$nth" >"count.$session"
    say '{"type":"system","subtype":"init","session_id":"'"$session"'","model":"'"$model"'","cwd":"/","tools":["Bash"]}'
    case "$prompt" in
    *slowly*)
        message slow '{"type":"text","text":"I am at it."}'
        until_there end
        ;;
    *dearly*)
        # A message with a reason for its end has its final usage.
        stop='"end_turn"'
        message first '{"type":"text","text":"I begin."}'
        message second '{"type":"text","text":"I go on."}'
        until_there more
        message third '{"type":"text","text":"I go further."}'
        message fourth '{"type":"text","text":"I do not end."}'
        until_there end
        ;;
    *secretly*) message think '{"type":"thinking","thinking":"I wonder."}' ;;
    *carefully*)
        input='{"command":"touch file"}'
        case "$prompt" in *twice*) calls="$nth.1 $nth.2" ;; *) calls="$nth" ;; esac
        for call in $calls; do
            message "tool$call" '{"type":"tool_use","id":"toolu_'"$call"'","name":"Bash","input":'"$input"'}'
            say '{"type":"control_request","request_id":"ask-'"$call"'","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"toolu_'"$call"'","input":'"$input"'}}'
            read -r answer || exit 9
            say "$answer" >>answers
            case "$answer" in
            *'"behavior":"allow"'*) outcome='"content":"done","is_error":false' ;;
            *) outcome='"content":"refused","is_error":true' ;;
            esac
            say '{"type":"user","session_id":"'"$session"'","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_'"$call"'",'"$outcome"'}]}}'
        done
        ;;
    *badly*)
        say '{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"'"$session"'","errors":["it broke"],"duration_ms":1,"num_turns":1}'
        continue
        ;;
    esac
    message text '{"type":"text","text":"Answer '"$nth"'."}'
    say '{"type":"result","subtype":"success","is_error":false,"session_id":"'"$session"'","result":"Answer '"$nth"'.","duration_ms":1,"num_turns":1,"total_cost_usd":0.5,"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":2}}'
done
