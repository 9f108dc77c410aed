#!/bin/sh
# An agent that speaks ACP, as far as the tests need it. The first argument selects the behaviour. The file `heard` of its directory has
# every line that it gets.
say() { printf '%s\n' "$1"; }
hear() {
    read -r line || exit 9
    printf '%s\n' "$line" >>heard
    id=$(printf '%s' "$line" | sed 's/^{"jsonrpc":"2.0","id":\("[^"]*"\|[0-9]*\).*/\1/')
}
answer() { say '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'; }
request() { say '{"jsonrpc":"2.0","id":'"$1"',"method":"'"$2"'","params":{"sessionId":"'"${session:-s1}"'",'"$3"'}}'; }
ask() { request "$@" && hear; }
update() { say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'"$1"'}}'; }
speak() { update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$1"'"}}'; }
end_turn() { say '{"jsonrpc":"2.0","id":'"$prompt"',"result":{"stopReason":"end_turn"}}'; }
new_terminal() { ask "$1" terminal/create '"command":"sh","args":["-c","'"$2"'"]' && terminal=$(printf '%s' "$line" | sed -n 's/.*"terminalId":"\([^"]*\)".*/\1/p'); }

hear
answer '{"protocolVersion":1,"agentCapabilities":{"mcpCapabilities":{"http":true}},"authMethods":[{"id":"key","name":"Key"},{"id":"login","name":"Login"}]}'
hear
case "$line" in *'"authenticate"'*) answer '{}' && hear ;; esac
answer '{"sessionId":"s1"}'
hear
prompt=$id
case "$1" in
services)
    ask 1 fs/read_text_file '"path":"'"$PWD"'/a.txt","line":2,"limit":1'
    ask 2 fs/read_text_file '"path":"'"$PWD"'/../../etc/passwd"'
    ask 3 fs/write_text_file '"path":"'"$PWD"'/new/b.txt","content":"made"'
    new_terminal 4 'echo out; echo err >&2; exit 4'
    ask 5 terminal/wait_for_exit '"terminalId":"'"$terminal"'"'
    ask 6 terminal/output '"terminalId":"'"$terminal"'"'
    ask 7 terminal/release '"terminalId":"'"$terminal"'"'
    ask 8 terminal/output '"terminalId":"'"$terminal"'"'
    new_terminal 9 'sleep 600'
    request 10 terminal/wait_for_exit '"terminalId":"'"$terminal"'"'
    say '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":10}}'
    hear
    ask 11 terminal/create '"command":7'
    ask 12 craft/unknown '"a":1'
    speak "All is done."
    end_turn
    cat >>heard
    ;;
crowd)
    n=0
    while [ $n -lt 300 ]; do
        n=$((n + 1))
        request $n terminal/create '"command":"sleep","args":["600"]'
    done
    while [ $n -gt 0 ]; do
        n=$((n - 1))
        hear
    done
    speak "So many."
    exit 5
    ;;
hostile)
    say '{"jsonrpc":"2.0","id":77,"result":{}}'
    say '{"jsonrpc":"2.0","id":'"$prompt"'}'
    session=other ask 1 fs/read_text_file '"path":"'"$PWD"'/a.txt"'
    ask 2 session/request_permission '"toolCall":{"toolCallId":"c1","title":"t"}'
    say '{"jsonrpc":"2.0","id":3,"method":"fs/read_text_file"}'
    hear
    say '{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":{"deep":[]}}}'
    speak "Still here."
    end_turn
    end_turn
    speak "Too late."
    cat >>heard
    ;;
silent) cat >>heard ;;
*)
    speak "Hello."
    end_turn
    cat >>heard
    ;;
esac
