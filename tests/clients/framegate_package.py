"""The package of clients/python against a proxy.

The argument is {base_url, tokens_url, tokens, fixtures}: a proxy with the fake agent as the upstream `claude` and one that asks for a choice as `asks`, and one with tokens.
Says the name of each case that holds.
"""

import asyncio
import hashlib
import json
import os
import random
import socket
import struct
import sys
import threading
import time
import typing
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urlsplit

import httpx

import framegate_client as framegate
from framegate_client import AsyncFramegate, Framegate
from framegate_client.contracts import TYPE_KEYS, ContractName

PLAN = json.loads(sys.argv[1])
BASE = PLAN["base_url"]
CONTRACTS = [*typing.get_args(ContractName), "raw"]
MISSING = "00000000-0000-4000-8000-000000000000"
client = Framegate(BASE)


class Relay:
    """A relay to the proxy.

    `cut(number)` says after how many bytes of the answer the connection of that number is cut, if at all, and `is_stalled` withholds
    what the proxy sends.
    """

    def __init__(self, target=BASE):
        self.target = (urlsplit(target).hostname, urlsplit(target).port)
        self.connections, self.open = 0, set()
        self.cut, self.is_stalled = lambda number: None, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            try:
                inside, _ = self.listener.accept()
            except OSError:
                return
            outside = socket.create_connection(self.target)
            number, self.connections = self.connections, self.connections + 1
            self.open.add(inside)
            for source, sink, limit in ((inside, outside, lambda: None), (outside, inside, lambda number=number: self.cut(number))):
                threading.Thread(target=self._copy, args=(source, sink, limit, inside, outside), daemon=True).start()

    def _copy(self, source, sink, limit, inside, outside):
        sent = 0
        try:
            while data := source.recv(65_536):
                if source is outside and self.is_stalled:
                    continue
                most = limit()
                if most is not None and sent + len(data) >= most:
                    sink.sendall(data[: most - sent])
                    break
                sent += len(data)
                sink.sendall(data)
        except OSError:
            pass
        self.reset(inside)
        outside.close()

    def reset(self, inside):
        self.open.discard(inside)
        try:
            inside.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            inside.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        inside.close()

    def cut_all(self):
        for inside in list(self.open):
            self.reset(inside)

    def client(self, **options):
        return Framegate(self.url, **{"max_backoff": 0.1, **options})

    def close(self):
        # A thread that waits for a connection keeps the port open.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut_all()


def fixture(runner, name):
    return Path(PLAN["fixtures"], runner, name).read_bytes()


variants = iter(range(1_000_000))


def another(runner, name):
    """The recording with new records: what the proxy has already, it does not store again."""
    number = f'{{"another":{os.getpid()}{next(variants)},'.encode()
    lines = fixture(runner, name).splitlines(keepends=True)
    return b"".join(number + line[1:] if line.startswith(b'{"') else line for line in lines)


def replay(run, contract):
    url = f"{BASE}/v1/runs/{run}/events?contract={contract}"
    text = httpx.get(url, headers={"accept": "application/x-ndjson"}, trust_env=False).text
    return [json.loads(line) for line in text.split("\n") if line]


def until(what, is_so):
    end = time.monotonic() + 30
    while True:
        value = is_so()
        if value:
            return value
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.01)


def raises(kind, call, **more):
    try:
        call()
    except framegate.FramegateError as error:
        assert isinstance(error, kind), repr(error)
        for name, value in more.items():
            assert getattr(error, name) == value, (name, getattr(error, name))
        return error
    raise AssertionError(f"nothing was raised instead of {kind.__name__}")


class Later(threading.Thread):
    """Does something at the same time; `get` waits for its result."""

    def __init__(self, do, *args):
        super().__init__(daemon=True)
        self.do, self.args, self.result, self.error = do, args, None, None
        self.start()

    def run(self):
        try:
            self.result = self.do(*self.args)
        except BaseException as error:
            self.error = error

    def get(self):
        self.join(40)
        assert not self.is_alive(), "it takes too long"
        if self.error is not None:
            raise self.error
        return self.result


def runs_are_listed_in_pages_and_filtered():
    made = []
    recordings = [("codex", "exec-text-plain.ndjson"), ("claude-code", "text_plain.ndjson"), ("opencode", "run-text.ndjson")]
    for runner, name in recordings:
        result = client.ingest(runner, another(runner, name))
        assert result["records"] > 0 and result["runs"]
        made += result["runs"]
    page = client.run_page(limit=1)
    assert (len(page["data"]), page["next_skip"]) == (1, 1)
    listed = [run["run_id"] for run in client.runs(limit=2)]
    assert {run["run_id"] for run in made} <= set(listed) and len(set(listed)) == len(listed)
    codex = list(client.runs(runner="codex", state="completed"))
    assert 0 < len(codex) < len(listed) and all(run["runner"] == "codex" for run in codex)
    of_session = list(client.runs(session_id=made[0]["session_id"]))
    assert [run for run in of_session if run["run_id"] == made[0]["run_id"]] == [client.run(made[0]["run_id"])]


def figures_are_summed_over_labelled_runs():
    labels = {"package": "python", "file/name": "a:b c&d"}
    sent = {**labels, "runner": "codex"}
    runs = client.ingest("codex", another("codex", "exec-command-ok.ndjson"), labels=sent)["runs"]
    client.ingest("claude-code", another("claude-code", "text_plain.ndjson"), labels=labels)
    assert [run["labels"] for run in runs] == [sent]
    assert len(list(client.runs(labels=labels))) == 2
    stats = client.stats(by=["day", "runner"], labels=labels, tz="+02:00")
    assert stats["by"] == ["day", "runner"]
    assert sorted(row["runner"] for row in stats["data"]) == ["claude-code", "codex"]
    total = stats["total"]
    assert (total["runs"], total["tool_calls"], total["failed_tool_calls"]) == (2, 1, 0)
    assert [(tool["kind"], tool["calls"], tool["failed"]) for tool in stats["tools"]] == [("shell", 1, 0)]
    started = runs[0]["started_at_ms"]
    moment = datetime.fromtimestamp(started / 1000, tz=timezone.utc)
    assert client.stats(labels=sent, since=moment, until=started + 1)["total"]["runs"] == 1
    assert client.stats(labels=sent, since=started + 1)["total"]["runs"] == 0
    raises(framegate.BadRequestError, lambda: client.stats(tz="Europe/Berlin"))
    assert client.start_run("claude", "quickly", labels=labels)["labels"] == labels


def the_package_knows_every_contract_and_type_of_the_proxy():
    catalogue = client.catalogue()
    assert sorted(contract["name"] for contract in catalogue["contracts"]) == sorted(CONTRACTS)
    import framegate_client.contracts as contracts

    for contract in catalogue["contracts"]:
        if contract["name"] not in TYPE_KEYS:
            continue
        key = TYPE_KEYS[contract["name"]]
        assert key == contract["type_key"]
        words = contract["name"].replace(".", "-").split("-")
        union = getattr(contracts, "".join(word.capitalize() for word in words) + "Event")
        module = sys.modules[f"framegate_client.contracts.{contract['name'].replace('.', '_').replace('-', '_')}"]
        events = typing.get_args(union) or (union,)
        kinds = {typing.get_args(typing.get_type_hints(event, vars(module))[key])[0] for event in events}
        assert kinds == {kind["name"] for kind in contract["types"]}, contract["name"]
    assert len(TYPE_KEYS) >= 10


def every_contract_is_followed_to_its_end_although_the_connection_is_cut():
    cutting = Relay()
    state = {"reconnects": 0, "is_last": False}
    cutting.cut = lambda number: None if state["is_last"] else 700 + number * 2_377 % 9_000
    followers = {}

    def count(_):
        state["reconnects"] += 1

    def follow(run, contract):
        return list(cutting.client(max_reconnects=1_000).events(run, contract=contract, on_reconnect=count))

    def output():
        for at, line in enumerate(another("claude-code", "parallel_tools.partial.ndjson").splitlines(keepends=True)):
            yield line
            if at == 1:
                run = until("a run", lambda: client.run_page(state="running")["data"])[0]["run_id"]
                followers.update({contract: Later(follow, run, contract) for contract in CONTRACTS})
            time.sleep(0.002)

    made = client.ingest("claude-code", output())
    until("enough cuts", lambda: state["reconnects"] >= 3 * len(CONTRACTS))
    # The last event may be longer than a connection lasts.
    state["is_last"] = True
    for contract, follower in followers.items():
        events = follower.get()
        assert events == replay(made["runs"][0]["run_id"], contract), contract
        key = TYPE_KEYS.get(contract)
        assert key is None or all(isinstance(event[key], str) for event in events)
    cutting.close()


def a_stored_cursor_continues_anywhere_in_every_contract():
    run = client.ingest("claude-code", another("claude-code", "bash_ok.partial.ndjson"))["runs"][0]["run_id"]
    for contract in CONTRACTS:
        whole = replay(run, contract)
        for stop in (1, len(whole) // 2, len(whole) - 1):
            with client.events(run, contract=contract) as stream:
                had = [next(stream) for _ in range(stop)]
            assert had == whole[:stop]
            rest = list(client.events(run, contract=contract, after=stream.cursor))
            # Only what pixir.v1 shows live has no cursor of its own, and comes again.
            fresh = [event for event in rest if contract != "pixir.v1" or event not in had]
            assert had + fresh == whole, (contract, stream.cursor)
        over = client.events(run, contract=contract)
        list(over)
        assert list(client.events(run, contract=contract, after=over.cursor)) == [], contract
    assert list(client.events(run, contract="frames.v2", after=-1)) == replay(run, "frames.v2")


def questions_are_approved_and_rejected_and_not_repeated_after_a_cut():
    for decision in ("approved", "rejected"):
        cutting = Relay()
        run = client.start_run("claude", "carefully")
        reconnects, seen, answering = [], [], None

        def answer(approval_id):
            cutting.cut_all()
            until("another connection", lambda: cutting.connections > 1 and cutting.open)
            time.sleep(0.3)
            (question,) = client.pending_approvals(session_id=run["session_id"])
            assert (question["run_id"], question["approval_id"]) == (run["run_id"], approval_id)
            if decision == "approved":
                given = client.approve(run["run_id"], approval_id)
            else:
                given = client.reject(run["run_id"], approval_id, "not that")
            assert given["decision"] == decision
            raises(framegate.ConflictError, lambda: client.approve(run["run_id"], approval_id), status=409)

        for event in cutting.client().events(run["run_id"], contract="sse.v1", on_reconnect=reconnects.append):
            seen.append(event["type"])
            if event["type"] == "tool_call_proposed":
                answering = Later(answer, event["payload"]["approval_id"])
        answering.get()
        cutting.close()
        outcome = "tool_call_approved" if decision == "approved" else "tool_call_rejected"
        assert (seen.count("tool_call_proposed"), seen.count(outcome)) == (1, 1), seen
        assert reconnects
        assert client.wait_for_run(run["run_id"])["state"] == "completed"
    # A stream that begins after the question has it all the same.
    run = client.start_run("claude", "carefully")["run_id"]
    approval_id = until("a question", lambda: client.run(run)["pending_approvals"])[0]
    with client.events(run, contract="frames.v2", after=client.run(run)["frames"] - 1) as stream:
        event = next(stream)
    assert (event["type"], event["approval_id"]) == ("approval_requested", approval_id)
    raises(framegate.NotFoundError, lambda: client.approve(run, "no-such-question"))
    raises(framegate.ApiError, lambda: client.approve(run, approval_id, scope="nonsense"))
    client.answer_approval(run, approval_id, "rejected", reason="no")
    assert client.wait_for_run(run)["state"] == "completed"


def a_question_that_wants_a_choice_is_answered():
    run = client.start_run("asks", "ask me")["run_id"]
    approval_id = until("a question", lambda: client.run(run)["pending_approvals"])[0]
    raises(framegate.UnprocessableError, lambda: client.approve(run, approval_id), status=422)
    client.approve(run, approval_id, answers=["Blue"])
    frames = list(client.events(run, contract="frames.v2"))
    (asked,) = [frame for frame in frames if frame["type"] == "approval_requested"]
    assert asked["args"]["questions"][0]["question"] == "Which?"
    (resolved,) = [frame for frame in frames if frame["type"] == "approval_resolved"]
    assert (resolved["decision"], resolved["reason"]) == ("approved", "Blue")


def stubbed(answer, **options):
    return Framegate(BASE, http_client=httpx.Client(transport=httpx.MockTransport(answer)), **options)


def a_request_that_is_sent_again_has_the_same_key():
    keys = []

    def losing(body):
        def answer(request):
            keys.append(request.headers.get("idempotency-key"))
            if len(keys) % 2 == 1:
                raise httpx.ReadError("lost")
            return httpx.Response(200, json=body)

        return stubbed(answer, max_backoff=0.01)

    assert losing({"run_id": "x"}).start_run("claude", "x") == {"run_id": "x"}
    assert losing({"runs": []}).ingest("codex", "x") == {"runs": []}
    assert len(keys[0]) >= 32 and keys[0] == keys[1] != keys[2] == keys[3], keys
    # An iterator is gone after the first attempt.
    raises(framegate.FramegateConnectionError, lambda: losing({"runs": []}).ingest("codex", iter([b"x"])))
    assert keys[4:] == [None]


def pauses_grow_from_what_the_proxy_says():
    times, asked = [], []

    def sent(text):
        return httpx.Response(200, text=text, headers={"content-type": "text/event-stream"})

    answers = [
        sent('retry: 100\nid: 7\ndata: {"seq":7}\n\n'),
        sent(": nothing\n\n"),
        httpx.ReadError("lost"),
        httpx.Response(503),
        sent('id: 8\ndata: {"seq":8}\n\n'),
        httpx.Response(204),
    ]

    def answer(request):
        times.append(time.monotonic())
        asked.append(request.headers.get("last-event-id"))
        given = answers[len(times) - 1]
        if isinstance(given, Exception):
            raise given
        return given

    read = list(stubbed(answer).events("x", contract="frames.v2", after=6))
    assert read == [{"seq": 7}, {"seq": 8}]
    assert asked == ["6", "7", "7", "7", "7", "8"]
    pauses = [later - earlier for earlier, later in zip(times, times[1:])]
    # At once after an end, then 200, 400 and 800 ms, up to a fifth less.
    assert all(pause >= least for pause, least in zip(pauses, [0, 0.155, 0.315, 0.635, 0])), pauses
    assert max(pauses[0], pauses[4]) < pauses[3], pauses


def a_start_that_is_sent_again_starts_one_run():
    cutting = Relay()
    cutting.cut = lambda number: 0 if number == 0 else None
    run = cutting.client().start_run("claude", "quickly")
    assert cutting.connections >= 2, "the first answer was lost"
    assert [one["run_id"] for one in client.runs(session_id=run["session_id"])] == [run["run_id"]]
    before, key = len(list(client.runs())), f"key-{os.getpid()}"
    one = client.start_run("claude", "quickly", idempotency_key=key)
    other = client.start_run("claude", "quickly", idempotency_key=key)
    assert one["run_id"] == other["run_id"]
    again = lambda: client.start_run("claude", "differently", idempotency_key=key)  # noqa: E731
    raises(framegate.UnprocessableError, again, status=422)
    assert client.start_run("claude", "quickly")["run_id"] != one["run_id"]
    assert len(list(client.runs())) == before + 2
    cutting.close()


def an_ingest_that_is_sent_again_is_stored_once():
    cutting = Relay()
    cutting.cut = lambda number: 0 if number == 0 else None
    before = len(list(client.runs()))
    made = cutting.client().ingest("auto", another("codex", "exec-text-plain.ndjson"))
    assert cutting.connections >= 2
    assert len(list(client.runs())) == before + len(made["runs"])
    cutting.close()


def a_session_continues_and_its_feed_has_both_runs():
    run = client.start_run("claude", "quickly")
    client.wait_for_run(run["run_id"])
    ends = []
    with client.session_events(run["session_id"], contract="sse.v1", event_type=["run_completed"]) as feed:
        for event in feed:
            assert event["type"] == "run_completed"
            ends.append(event)
            if len(ends) == 2:
                break
            assert client.send_message(run["session_id"], "more") == {"session_id": run["session_id"]}
    assert [event["payload"]["final_text"] for event in ends] == ["Answer 1.", "Answer 2."]
    assert ends[0]["run_id"] == run["run_id"]
    raises(framegate.ApiError, lambda: client.send_message(MISSING, "hello"))


def the_feed_of_all_runs_continues_after_cuts():
    cutting = Relay()
    cutting.cut = lambda number: 2_500 if number < 4 else None
    last = client.run_page(limit=1)["data"][0]["run_id"]
    # The whole history, and a run that begins meanwhile.
    read, started = [], None
    with cutting.client().all_events(contract="agent-manager.v1") as feed:
        for event in feed:
            read.append((event["runId"], event["sequence"]))
            if event["runId"] == last and started is None:
                started = client.start_run("claude", "quickly")["run_id"]
            if event["runId"] == started and event["eventType"] == "status" and event["data"]["newStatus"] == "complete":
                break
    assert cutting.connections >= 5, cutting.connections
    assert len(set(read)) == len(read), "no event twice"
    for run in client.run_page(limit=3)["data"]:
        events = replay(run["run_id"], "agent-manager.v1")
        assert all((event["runId"], event["sequence"]) in read for event in events), "no event is missing"
    # Only what is new, and only one type.
    with client.all_events(contract="frames.v2", after="latest", event_type=["session_ended"]) as latest:
        first, begun = Later(next, latest), []
        # Nothing says when the feed is connected, so runs begin until it has one.
        while first.is_alive():
            begun.append(client.start_run("claude", "quickly")["run_id"])
            time.sleep(0.3)
        event = first.get()
        assert event["type"] == "session_ended" and event["stream_id"] in begun
    cutting.close()


def a_run_is_interrupted_and_a_wait_is_bounded():
    run = client.start_run("claude", "slowly")["run_id"]
    raises(framegate.FramegateTimeoutError, lambda: client.wait_for_run(run, timeout=0.3))
    ended = Later(client.wait_for_run, run)
    assert client.interrupt_run(run) == {"run_id": run}
    assert ended.get()["state"] == "interrupted"
    raises(framegate.ConflictError, lambda: client.interrupt_run(run), status=409)


def run_with_output(output):
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "x"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": output}
    return [
        {"type": "system", "subtype": "init", "session_id": "s-1", "model": "m", "tools": [], "cwd": "/"},
        {"type": "assistant", "session_id": "s-1", "message": {"id": "m1", "role": "assistant", "model": "m", "content": [call]}},
        {"type": "user", "session_id": "s-1", "message": {"role": "user", "content": [result]}},
        {"type": "result", "subtype": "success", "is_error": False, "session_id": "s-1", "result": "done"},
    ]


def ingest_output(output):
    records = "".join(json.dumps(record) + "\n" for record in run_with_output(output))
    return client.ingest("claude-code", records)["runs"][0]["run_id"]


def artifacts_are_listed_and_checked_while_they_are_read():
    output = "0123456789" * 50_000 + str(random.random())
    run = ingest_output(output)
    (artifact,) = client.artifacts(run)
    assert (artifact["bytes"], artifact["kind"]) == (len(output), "command_output")
    assert artifact["digest"] == "sha256:" + hashlib.sha256(output.encode()).hexdigest()
    for asked in (artifact, artifact["artifact_id"], artifact["digest"][len("sha256:") :]):
        with client.download_artifact(asked) as download:
            assert (download.digest, download.content_type) == (artifact["digest"], "text/plain; charset=utf-8")
            assert download.size == (len(output) if asked is artifact else None)
            assert b"".join(download.iter_bytes()).decode() == output
    assert client.download_artifact(artifact).read().decode() == output
    # Other bytes, and too few.
    for damage in (lambda data: data.replace(b"9", b"8", 1), lambda data: data[1:]):

        def damaged(request, damage=damage):
            content = httpx.get(request.url, trust_env=False).content
            return httpx.Response(200, content=iter([damage(content)]))

        damaging = Framegate(BASE, http_client=httpx.Client(transport=httpx.MockTransport(damaged)))
        for asked in (artifact, artifact["artifact_id"]):
            raises(framegate.IntegrityError, damaging.download_artifact(asked).read)
    cutting = Relay()
    cutting.cut = lambda number: 100_000
    raises(framegate.FramegateConnectionError, cutting.client().download_artifact(artifact).read)
    cutting.close()
    raises(framegate.NotFoundError, lambda: client.download_artifact("0" * 64))
    raises(framegate.BadRequestError, lambda: client.download_artifact("nonsense"))


def errors_are_typed_by_their_status():
    raises(framegate.BadRequestError, lambda: client.run("nonsense"), status=400)
    raises(framegate.NotFoundError, lambda: list(client.events(MISSING, contract="sse.v1")))
    raises(framegate.ApiError, lambda: list(client.events(MISSING, contract="no.such")))
    raises(framegate.NotFoundError, lambda: client.start_run("nobody", "x"))
    raises(framegate.UnprocessableError, lambda: client.ingest("auto", "this is no output of a runner\n"))
    problem = raises(framegate.NotFoundError, lambda: client.run(MISSING), status=404).problem
    assert (problem["status"], problem["title"], problem["type"]) == (404, "Not Found", "about:blank")
    assert MISSING in problem["detail"]
    tokens, reads = PLAN["tokens_url"], PLAN["tokens"]["reads"]
    raises(framegate.AuthenticationError, lambda: Framegate(tokens).run_page(), status=401)
    raises(framegate.AuthenticationError, lambda: Framegate(tokens, token="wrong-0123456789abcdef").run_page())
    raises(framegate.PermissionDeniedError, lambda: Framegate(tokens, token=reads).interrupt_run(MISSING), status=403)
    assert Framegate(tokens, token=lambda: reads).run_page()["data"] == []
    # Neither a proxy nor a problem document.
    raises(framegate.FramegateConnectionError, lambda: Framegate("http://127.0.0.1:9", max_retries=0).run_page())

    def answering(*answers, **options):
        left, asked = list(answers), []

        def answer(request):
            asked.append(request)
            return left.pop(0)()

        transport = httpx.MockTransport(answer)
        return Framegate(BASE, http_client=httpx.Client(transport=transport), max_backoff=0.02, **options), asked

    def page():
        return httpx.Response(200, json={"object": "list", "data": [], "next_skip": None})

    def gateway():
        return httpx.Response(502, text="<html>bad gateway</html>")

    def busy():
        body = {"type": "about:blank", "title": "", "status": 429, "detail": "slowly"}
        return httpx.Response(429, json=body, headers={"retry-after": "0"})

    recovering, asked = answering(gateway, busy, page)
    assert recovering.run_page()["data"] == [] and len(asked) == 3
    raises(framegate.ServerError, answering(gateway, max_retries=0)[0].run_page, status=502, problem=None)
    limited, asked = answering(busy, busy, busy, busy)
    raises(framegate.RateLimitError, limited.run_page, status=429, retry_after=0.0)
    assert len(asked) == 3
    # What may have been done is not sent again.
    once, asked = answering(gateway, page)
    raises(framegate.ServerError, lambda: once.send_message(MISSING, "x"))
    assert len(asked) == 1


def silence_ends_a_call_and_renews_a_stream():
    stalled = Relay()
    stalled.is_stalled = True
    raises(framegate.FramegateTimeoutError, stalled.client(timeout=1, max_retries=1).run_page)
    assert stalled.connections == 2
    stalled.is_stalled = False
    run = client.start_run("claude", "carefully")["run_id"]
    reconnects, read = [], []

    def reconnecting(reconnect):
        reconnects.append(reconnect)
        stalled.is_stalled = False

    stream = stalled.client(heartbeat_timeout=0.9).events(run, contract="hecate.v1", on_reconnect=reconnecting)
    for event in stream:
        read.append(event)
        if event["type"] == "approval.requested":
            # The rest of this connection is withheld, until the client gives it up.
            stalled.is_stalled = True
            client.approve(run, event["data"]["approval_id"])
    assert any(isinstance(one.error, framegate.FramegateTimeoutError) for one in reconnects), reconnects
    assert read == replay(run, "hecate.v1")
    # With heartbeats, silence is no reason to reconnect.
    run, reconnects = client.start_run("claude", "slowly")["run_id"], []
    quiet = stalled.client(heartbeat_timeout=2).events(run, contract="hecate.v1", on_reconnect=reconnects.append)
    reading = Later(list, quiet)
    time.sleep(4)
    client.interrupt_run(run)
    reading.get()
    assert all(one.error is None for one in reconnects), reconnects
    stalled.close()


def a_stream_that_gives_nothing_fails_in_the_end():
    gone = Relay()
    run = client.start_run("claude", "carefully")["run_id"]

    def read():
        for event in gone.client(max_reconnects=3, max_backoff=0.02).events(run, contract="sse.v1"):
            if event["type"] == "tool_call_proposed":
                gone.close()

    raises(framegate.FramegateConnectionError, read)
    client.interrupt_run(run)


def a_reader_that_leaves_closes_its_connection():
    counting = Relay()
    run = client.start_run("claude", "slowly")["run_id"]
    with counting.client() as through:
        with through.events(run, contract="sse.v1") as stream:
            assert next(stream)["type"] == "run_started"
            assert len(counting.open) == 1
        until("the connection is closed", lambda: not counting.open)
        assert list(stream) == [], "a closed stream is over"
    client.interrupt_run(run)
    counting.close()


async def follow_everything_at_once():
    cutting = Relay()
    cutting.cut = lambda number: 2_000 + number * 200
    lines = another("claude-code", "parallel_tools.partial.ndjson").splitlines(keepends=True)

    async def output():
        for line in lines:
            yield line
            await asyncio.sleep(0.001)

    async with AsyncFramegate(BASE) as direct, AsyncFramegate(cutting.url, max_backoff=0.1, max_reconnects=1_000) as through:
        run = (await direct.ingest("claude-code", output()))["runs"][0]["run_id"]

        async def follow(contract):
            return [event async for event in through.events(run, contract=contract)]

        for contract, events in zip(CONTRACTS, await asyncio.gather(*map(follow, CONTRACTS))):
            assert events == replay(run, contract), contract
        assert cutting.connections > 2 * len(CONTRACTS)
        assert run in [one["run_id"] async for one in direct.runs(limit=50)]
    cutting.close()


async def answer_and_abort():
    async with AsyncFramegate(BASE) as direct:
        run = (await direct.start_run("claude", "carefully"))["run_id"]
        waiting = asyncio.create_task(direct.wait_for_run(run))
        types = []
        async for event in direct.events(run, contract="sse.v1"):
            types.append(event["type"])
            if event["type"] == "tool_call_proposed":
                pending = [one async for one in direct.pending_approvals() if one["run_id"] == run]
                assert len(pending) == 1
                await direct.approve(run, event["payload"]["approval_id"])
        assert types[0] == "run_started" and types[-1] == "run_completed" and "tool_call_approved" in types
        assert (await waiting)["state"] == "completed"
        # A task that is cancelled ends its stream.
        counting = Relay()
        run = (await direct.start_run("claude", "slowly"))["run_id"]
        async with AsyncFramegate(counting.url) as through:
            seen = asyncio.Event()

            async def read():
                async with through.events(run, contract="sse.v1") as stream:
                    async for _ in stream:
                        seen.set()

            reading = asyncio.create_task(read())
            await asyncio.wait_for(seen.wait(), 20)
            reading.cancel()
            try:
                await reading
                raise AssertionError("the task was cancelled")
            except asyncio.CancelledError:
                pass
            await asyncio.to_thread(until, "the connection is closed", lambda: not counting.open)
        await direct.interrupt_run(run)
        assert (await direct.wait_for_run(run))["state"] == "interrupted"
        output = "9876543210" * 20_000 + str(random.random())
        (artifact,) = await direct.artifacts(await asyncio.to_thread(ingest_output, output))
        async with await direct.download_artifact(artifact) as download:
            assert (await download.aread()).decode() == output
        try:
            await direct.run(MISSING)
            raise AssertionError("there is no such run")
        except framegate.NotFoundError:
            pass
        counting.close()


def the_asynchronous_client_follows_everything_at_once():
    asyncio.run(follow_everything_at_once())


def the_asynchronous_client_answers_and_aborts():
    asyncio.run(answer_and_abort())


CASES = [
    runs_are_listed_in_pages_and_filtered,
    the_package_knows_every_contract_and_type_of_the_proxy,
    every_contract_is_followed_to_its_end_although_the_connection_is_cut,
    a_stored_cursor_continues_anywhere_in_every_contract,
    questions_are_approved_and_rejected_and_not_repeated_after_a_cut,
    a_question_that_wants_a_choice_is_answered,
    a_request_that_is_sent_again_has_the_same_key,
    pauses_grow_from_what_the_proxy_says,
    a_start_that_is_sent_again_starts_one_run,
    an_ingest_that_is_sent_again_is_stored_once,
    a_session_continues_and_its_feed_has_both_runs,
    the_feed_of_all_runs_continues_after_cuts,
    a_run_is_interrupted_and_a_wait_is_bounded,
    artifacts_are_listed_and_checked_while_they_are_read,
    errors_are_typed_by_their_status,
    silence_ends_a_call_and_renews_a_stream,
    a_stream_that_gives_nothing_fails_in_the_end,
    a_reader_that_leaves_closes_its_connection,
    the_asynchronous_client_follows_everything_at_once,
    the_asynchronous_client_answers_and_aborts,
]
for case in CASES:
    if len(sys.argv) < 3 or sys.argv[2] in case.__name__:
        case()
        print(case.__name__, flush=True)
