"""What a program that uses the package of clients/python relies on.

A contract's name decides the type of its events, their type key tells them apart, and each one has its own fields. mypy checks it
with `--strict --warn-unused-ignores`: every `type: ignore` must be needed.
"""

from typing import assert_never, assert_type

from framegate_client import AsyncFramegate, ConflictError, ContractName, EventStream, Framegate, RawRecord, RunState, RunStatus
from framegate_client.contracts import AgentManagerV1Event, HecateV1Event, SseV1Event, hecate_v1

client = Framegate("http://127.0.0.1:8080", token=lambda: "secret")
RUN = "01980000-0000-7000-8000-000000000001"


def is_the_end(event: SseV1Event) -> bool:
    """Every type has to be handled, or this fails."""
    match event["type"]:
        case "run_completed" | "run_failed" | "run_interrupted":
            return True
        case "run_started" | "assistant_delta" | "tool_call_proposed" | "tool_call_approved" | "tool_call_rejected" | "tool_result":
            return False
        case other:
            assert_never(other)


def is_text(event: SseV1Event) -> bool:
    match event["type"]:
        case "assistant_delta":
            return True
        case other:
            assert_never(other)  # type: ignore[arg-type]


def text_of(event: SseV1Event) -> str:
    """The type tells the events apart."""
    if event["type"] == "assistant_delta":
        return event["payload"]["text"]
    if event["type"] == "tool_call_proposed":
        return event["payload"]["approval_id"]
    if event["type"] == "run_started":
        return event["payload"]["text"]  # type: ignore[typeddict-item, no-any-return]
    if event["type"] == "assistant.text_delta":  # type: ignore[comparison-overlap]
        return ""
    return ""


def manager(event: AgentManagerV1Event) -> str:
    if event["eventType"] == "tool_call":
        return event["data"]["toolName"]
    return event["type"]  # type: ignore[typeddict-item, no-any-return]


def finished(event: HecateV1Event) -> hecate_v1.RunFinishedEvent | None:
    return event if event["type"] == "run.finished" else None


def follow() -> None:
    assert_type(client.events(RUN, contract="sse.v1"), EventStream[SseV1Event])
    assert_type(client.events(RUN, contract="raw", after=7), EventStream[RawRecord])
    for event in client.all_events(contract="hecate.v1", event_type=["run.finished"]):
        assert_type(event, HecateV1Event)
    client.all_events(contract="raw")  # type: ignore[call-overload]
    client.events(RUN, contract="sse.v9")  # type: ignore[call-overload]
    client.events(RUN)  # type: ignore[call-overload]


def read(contract: ContractName) -> str | None:
    """A contract that is chosen at run time."""
    with client.events(RUN, contract=contract) as stream:
        for _ in stream:
            break
    return stream.cursor


def control() -> RunState:
    run = client.start_run("claude", "Fix the test")
    client.start_run("claude")  # type: ignore[call-arg]
    client.runs(state="sleeping")  # type: ignore[arg-type]
    for approval in client.pending_approvals(runner="claude-code"):
        client.approve(approval["run_id"], approval["approval_id"], scope="once", answers=["a", ["b", "c"]])
        client.approve(approval["run_id"], approval["approval_id"], scope="forever")  # type: ignore[arg-type]
    try:
        client.interrupt_run(run["run_id"])
    except ConflictError as error:
        assert_type(error.problem["detail"] if error.problem else None, str | None)
    for artifact in client.artifacts(run["run_id"]):
        assert_type(client.download_artifact(artifact).read(), bytes)
    return client.wait_for_run(run["run_id"], timeout=60)["state"]


async def concurrently() -> RunStatus:
    async with AsyncFramegate("http://127.0.0.1:8080") as asynchronous:
        async for event in asynchronous.events(RUN, contract="sse.v1"):
            assert_type(event, SseV1Event)
        async for run in asynchronous.runs(state="failed", limit=10):
            assert_type(run, RunStatus)
        return await asynchronous.run(RUN)
