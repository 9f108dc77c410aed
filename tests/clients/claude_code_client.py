"""The claude-agent-sdk package: reads runs as Claude Code's output. `claude` beside this script stands in for Claude Code.

Says one JSON object for each run: the SDK's messages as dictionaries, the number of stream events, the questions, and every error.
"""

import asyncio
import dataclasses
import json
import os
import pathlib
import sys
import tempfile
import urllib.request

from claude_agent_sdk import ClaudeAgentOptions, PermissionResultDeny, StreamEvent, query

CLAUDE = str(pathlib.Path(__file__).parent / "claude")


async def prompt():
    yield {"type": "user", "session_id": "", "message": {"role": "user", "content": "any"}, "parent_tool_use_id": None}


def said(message):
    blocks = getattr(message, "content", None)
    fields = {key: value for key, value in dataclasses.asdict(message).items() if key != "data"}
    if isinstance(blocks, list):
        fields["content"] = [{"kind": type(block).__name__, **dataclasses.asdict(block)} for block in blocks]
    return {"kind": type(message).__name__, **fields}


async def read(run, url, replay):
    request = urllib.request.Request(url, headers={"accept": "application/x-ndjson"})
    with urllib.request.urlopen(request) as response:
        replay.write_bytes(response.read())
    asked, messages, errors, streamed = [], [], [], 0

    async def decide(name, tool_input, context):
        asked.append({"name": name, "input": tool_input, "tool_use_id": context.tool_use_id})
        await asyncio.sleep(60)  # The decision is taken elsewhere, so the request is withdrawn before.
        return PermissionResultDeny(message="late")

    options = ClaudeAgentOptions(
        cli_path=CLAUDE,
        include_partial_messages=True,
        can_use_tool=decide,
        env={**os.environ, "FRAMEGATE_REPLAY": str(replay)},
    )
    try:
        async for message in query(prompt=prompt(), options=options):
            if isinstance(message, StreamEvent):
                streamed += 1
            else:
                messages.append(said(message))
    except Exception as error:  # Whatever the package lets through.
        errors.append(f"{type(error).__name__}: {error}")
    print(json.dumps({"run": run, "messages": messages, "streamed": streamed, "asked": asked, "errors": errors}), flush=True)


async def main():
    with tempfile.TemporaryDirectory() as folder:
        for one in json.loads(sys.argv[1]):
            await read(one["run"], one["url"], pathlib.Path(folder) / "run.ndjson")


asyncio.run(main())
