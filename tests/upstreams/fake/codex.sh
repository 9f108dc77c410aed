#!/bin/sh
# Speaks Codex' app-server protocol, as far as the tests need it. The working directory is the test's.
say() { printf '%s\n' "$1"; }
hear() {
    read -r line || exit 9
    say "$line" >>heard
}
thread="01a1ffca-c896-7061-90e1-a529d5aff1e1"
ask() {
    say '{"method":"item/started","params":{"threadId":"'"$thread"'","turnId":"t1","item":{"type":"commandExecution","id":"call_'"$1"'","command":"'"$2"'","cwd":"/","status":"inProgress","commandActions":[]}}}'
    say '{"method":"item/commandExecution/requestApproval","id":'"$1"',"params":{"threadId":"'"$thread"'","turnId":"t1","itemId":"call_'"$1"'","command":"'"$2"'","reason":"it writes"}}'
    hear
    case "$line" in
    *'"accept"'*) status=completed code=0 ;;
    *) status=declined code=null ;;
    esac
    say '{"method":"serverRequest/resolved","params":{"threadId":"'"$thread"'","requestId":'"$1"'}}'
    say '{"method":"item/completed","params":{"threadId":"'"$thread"'","turnId":"t1","item":{"type":"commandExecution","id":"call_'"$1"'","command":"'"$2"'","cwd":"/","status":"'"$status"'","exitCode":'"$code"',"commandActions":[]}}}'
}
turn() { say '{"method":"turn/'"$1"'","params":{"threadId":"'"$thread"'","turn":{"id":"'"$2"'","items":[],"status":"'"$3"'","error":null}}}'; }

hear # initialize
say '{"id":0,"result":{"userAgent":"fake"}}'
hear # initialized
hear # thread/start
if [ "$PLAY" = refuses ]; then
    say '{"id":1,"error":{"code":-32600,"message":"no rollout found for that thread"}}'
    hear
    exit 0
fi
say '{"id":1,"result":{"thread":{"id":"'"$thread"'","turns":[]}}}'
hear # turn/start
say '{"id":2,"result":{"turn":{"id":"t1","items":[],"status":"inProgress"}}}'
turn started t1 inProgress
if [ "$PLAY" = secrets ]; then
    say '{"method":"item/tool/requestUserInput","id":0,"params":{"threadId":"'"$thread"'","turnId":"t1","itemId":"i","questions":[{"id":"who","header":"Who","question":"Who?","isOther":true,"isSecret":false,"options":null},{"id":"pin","header":"Pin","question":"The pin?","isOther":true,"isSecret":true,"options":null}]}}'
    hear
    say '{"method":"serverRequest/resolved","params":{"threadId":"'"$thread"'","requestId":0}}'
    turn completed t1 completed
    while read -r line; do say "$line" >>heard; done
    exit 0
fi
ask 0 "touch allowed"
ask 1 "rm -f precious"
hear # turn/interrupt
say '{"id":3,"result":{}}'
turn completed t1 interrupted
while read -r line; do say "$line" >>heard; done
