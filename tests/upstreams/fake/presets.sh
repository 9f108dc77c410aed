#!/bin/sh
# Plays claude, codex or opencode, depending on the name it is called by. FAKE selects the behaviour.
say() { printf '%s\n' "$1"; }
wait_for_signal() { exec env --default-signal=INT sh -c 'trap "exit 0" INT; while :; do sleep 0.1; done'; }
text="$ANTHROPIC_API_KEY|$OPENAI_API_KEY|$CODEX_HOME|$XDG_CONFIG_HOME|$UNRELATED"

case "$(basename "$0") $1" in
"claude -p")
    session="9b4d5cb3-2013-4b99-aa77-94eac18ffdf6"
    read -r first
    say '{"type":"control_response","response":{"subtype":"success","request_id":"req_1","response":{}}}'
    read -r prompt
    say '{"type":"system","subtype":"init","session_id":"'"$session"'","model":"m","cwd":"/","tools":[]}'
    case "$FAKE" in
    fails)
        echo "claude: the key is wrong" >&2
        say '{"type":"result","subtype":"success","is_error":true,"session_id":"'"$session"'","result":"Invalid API key. Please run /login","duration_ms":1,"num_turns":1}'
        ;;
    *) say '{"type":"result","subtype":"success","is_error":false,"session_id":"'"$session"'","result":"'"$text"'","duration_ms":1,"num_turns":1}' ;;
    esac
    cat >/dev/null
    ;;
"codex exec")
    say '{"type":"thread.started","thread_id":"01a1ffc9-90a9-7072-b240-f837ac957f3f"}'
    say '{"type":"turn.started"}'
    case "$FAKE" in
    fails)
        echo "codex: it cannot be done" >&2
        say "no record at all"
        say '{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}'
        ;;
    hangs) wait_for_signal ;;
    *)
        say '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"'"$text"'"}}'
        say '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
        ;;
    esac
    ;;
"codex app-server")
    thread="01a1ffca-c896-7061-90e1-a529d5aff1e1"
    turn() { say '{"method":"turn/'"$1"'","params":{"threadId":"'"$thread"'","turn":{"id":"t1","items":[],"status":"'"$2"'","error":'"$3"'}}}'; }
    read -r initialize
    say '{"id":0,"result":{"userAgent":"fake"}}'
    read -r initialized
    read -r start
    say '{"id":1,"result":{"thread":{"id":"'"$thread"'","turns":[]}}}'
    read -r turn_start
    say '{"id":2,"result":{"turn":{"id":"t1","items":[],"status":"inProgress"}}}'
    turn started inProgress null
    case "$FAKE" in
    fails) turn completed failed '{"message":"unexpected status 401 Unauthorized"}' ;;
    hangs)
        read -r interrupt
        say '{"id":3,"result":{}}'
        turn completed interrupted null
        ;;
    *) turn completed completed null ;;
    esac
    cat >/dev/null
    ;;
"opencode run")
    say '{"type":"step_start","timestamp":1795292877627,"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_1","sessionID":"ses_1","type":"step-start"}}'
    case "$FAKE" in
    fails) say '{"type":"error","timestamp":1795292877628,"sessionID":"ses_1","error":{"name":"ProviderAuthError","data":{"message":"no key"}}}' ;;
    hangs) wait_for_signal ;;
    *)
        say '{"type":"text","timestamp":1795292877629,"sessionID":"ses_1","part":{"id":"prt_2","messageID":"msg_1","sessionID":"ses_1","type":"text","text":"'"$text"'","time":{"start":1795292877628,"end":1795292877629}}}'
        say '{"type":"step_finish","timestamp":1795292877630,"sessionID":"ses_1","part":{"id":"prt_3","reason":"stop","messageID":"msg_1","sessionID":"ses_1","type":"step-finish","cost":0,"tokens":{"input":1,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}}'
        ;;
    esac
    ;;
*) echo "there is no such fake: $0 $1" >&2; exit 64 ;;
esac
