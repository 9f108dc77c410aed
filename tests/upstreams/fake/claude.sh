#!/bin/sh
# Speaks Claude Code's control protocol, as far as the tests need it. PLAY says what it does; the working directory is the test's.
session="9b4d5cb3-2013-4b99-aa77-94eac18ffdf6"
[ -n "$SESSION" ] && session="$SESSION"

say() { printf '%s\n' "$1"; }
begin() { say '{"type":"system","subtype":"init","session_id":"'"$session"'","model":"m","cwd":"/","tools":["Bash"]}'; }
text() {
    say '{"type":"assistant","session_id":"'"$session"'","parent_tool_use_id":null,"message":{"id":"msg_'"$1"'","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"'"$2"'"}]}}'
}
end() {
    say '{"type":"result","subtype":"success","is_error":false,"session_id":"'"$session"'","result":"'"$1"'","duration_ms":1,"num_turns":1}'
}
# A call, and the request for its approval: NAME, TOOL, INPUT.
call() {
    say '{"type":"assistant","session_id":"'"$session"'","parent_tool_use_id":null,"message":{"id":"msg_'"$1"'","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_'"$1"'","name":"'"$2"'","input":'"$3"'}]}}'
}
ask() {
    call "$1" "$2" "$3"
    say '{"type":"control_request","request_id":"ask-'"$1"'","request":{"subtype":"can_use_tool","tool_name":"'"$2"'","tool_use_id":"toolu_'"$1"'","decision_reason":"it writes","input":'"$3"'}}'
}
result() {
    say '{"type":"user","session_id":"'"$session"'","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_'"$1"'","content":"'"$2"'","is_error":'"$3"'}]}}'
}
# Reads the answer to a request, and acts on it.
obey() {
    read -r answer || exit 9
    say "$answer" >>answers
    case "$answer" in
    *'"request_id":"ask-'"$1"'"'*'"behavior":"allow"'* | *'"behavior":"allow"'*'"request_id":"ask-'"$1"'"'*)
        result "$1" done false
        ;;
    *) result "$1" refused true ;;
    esac
}
until_there() { while [ ! -e "$1" ]; do sleep 0.05; done; }

read -r first || exit 8
say '{"type":"control_response","response":{"subtype":"success","request_id":"req_1","response":{}}}'
read -r prompt || exit 8
say "$prompt" >prompt
begin
case "$PLAY" in
# Two requests, one after the other.
two)
    ask one Bash '{"command":"touch allowed","token":"'"$SECRET"'"}'
    obey one
    ask two Bash '{"command":"rm -f precious"}'
    obey two
    text last "one allowed, one denied"
    end over
    ;;
# Several requests, which are all sent before one is answered.
many)
    for nth in 1 2 3; do ask "$nth" Bash '{"command":"do '"$nth"'"}'; done
    for nth in 1 2 3; do read -r answer && say "$answer" >>answers; done
    for nth in 1 2 3; do result "$nth" done false; done
    end over
    ;;
question)
    ask one AskUserQuestion '{"questions":[{"question":"Which?","header":"W","options":[{"label":"Red"},{"label":"Blue"}]}]}'
    obey one
    end over
    ;;
# An MCP server of its own asks: in a form that can be filled in, and in one that cannot.
form)
    elicit() { say '{"type":"control_request","request_id":"ask-'"$1"'","request":{"subtype":"elicitation","mcp_server_name":"docs","message":"'"$2"'","mode":"form","requested_schema":{"type":"object","properties":'"$3"',"required":["zone"]}}}'; }
    elicit deep "Where is it?" '{"zone":{"type":"object"}}'
    read -r answer && say "$answer" >>answers
    elicit one "Which zone?" '{"zone":{"type":"string"},"count":{"type":"integer"}}'
    read -r answer && say "$answer" >>answers
    until_there leave
    end over
    ;;
# An MCP server of its own asks for a password.
login)
    say '{"type":"control_request","request_id":"ask-one","request":{"subtype":"elicitation","mcp_server_name":"docs","message":"Who?","mode":"form","requested_schema":{"type":"object","properties":{"name":{"type":"string"},"password":{"type":"string"},"note":{"type":"string"}},"required":["name","password"]}}}'
    read -r answer && say "$answer" >>answers
    until_there leave
    end over
    ;;
# Withdraws its request.
withdraws)
    ask one Bash '{"command":"x"}'
    until_there withdraw
    say '{"type":"control_cancel_request","request_id":"ask-one"}'
    until_there leave
    end over
    ;;
# Does not wait for the answer.
leaves)
    ask one Bash '{"command":"x"}'
    until_there leave
    end over
    ;;
# Closes its input.
closed)
    exec <&-
    ask one Bash '{"command":"x"}'
    until_there leave
    end over
    ;;
# Answers further prompts once the file `answer` exists, and exits once `leave` does.
chat)
    end over
    while read -r line; do
        say "$line" >>heard
        until_there answer
        begin
        text two "and again"
        end again
    done
    say over >eof
    until_there leave
    ;;
# Ends its first run once the file `end` exists, and begins each next one once its file `answer1`, `answer2`, … does.
turns)
    until_there end
    end over
    nth=0
    while read -r line; do
        say "$line" >>heard
        nth=$((nth + 1))
        until_there "answer$nth"
        begin
        text two "and again"
        end again
    done
    ;;
# Reads its input, but ignores messages and the first signal.
heedless)
    trap 'say over >signalled' INT
    while :; do read -r line || sleep 0.05; done
    ;;
# Does not exit on its own.
stays)
    end over
    while :; do sleep 600; done
    ;;
# Works until it is interrupted, and then takes the next prompt.
long)
    text one "a long answer that"
    while read -r line; do
        say "$line" >>heard
        case "$line" in
        *'"subtype":"interrupt"'*)
            say '{"type":"control_response","response":{"subtype":"success","request_id":"req_2","response":{}}}'
            say '{"type":"user","session_id":"'"$session"'","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}'
            say '{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"'"$session"'","duration_ms":1,"num_turns":1,"terminal_reason":"aborted_streaming"}'
            ;;
        *'"type":"user"'*)
            begin
            text two "and on it goes"
            end "and on it goes"
            ;;
        esac
    done
    ;;
esac
# Further prompts are not waited for, but standard input is read to its end.
cat >/dev/null
