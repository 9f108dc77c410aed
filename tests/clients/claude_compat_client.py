"""The claude-agent-sdk package drives another runner: `program` stands in for Claude Code. Says one JSON object for each step."""

import asyncio
import json
import os
import sys

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)

plan = json.loads(sys.argv[1])
prompts = plan["prompts"]
# The names of the steps; without them, all are taken.
only = plan.get("only")


def is_wanted(step):
    return only is None or step in only


def options(**more):
    return ClaudeAgentOptions(cli_path=plan["program"], cwd=plan["cwd"], env=plan["env"], **more)


class Seen:
    """What a client shows of a turn."""

    def __init__(self):
        self.said = {"text": "", "thinking": "", "streamed": "", "asked": [], "models": [], "session": None, "error": None}
        self.calls = {}

    def take(self, message):
        said = self.said
        if isinstance(message, StreamEvent):
            said["streamed"] += message.event.get("delta", {}).get("text", "")
        elif isinstance(message, SystemMessage) and message.subtype == "init":
            said["models"].append(message.data["model"])
        elif isinstance(message, (AssistantMessage, UserMessage)) and isinstance(message.content, list):
            for block in message.content:
                self.block(message, block)
        elif isinstance(message, ResultMessage):
            said["session"] = message.session_id
            said["result"] = {"subtype": message.subtype, "is_error": message.is_error, "text": message.result or message.errors}
            said["denials"] = len(message.permission_denials or [])

    def block(self, message, block):
        if isinstance(block, TextBlock) and isinstance(message, AssistantMessage):
            self.said["text"] += block.text
        elif isinstance(block, ThinkingBlock):
            self.said["thinking"] += block.thinking
        elif isinstance(block, ToolUseBlock):
            self.calls[block.id] = {"name": block.name, "input": block.input}
        elif isinstance(block, ToolResultBlock):
            self.calls[block.tool_use_id]["failed"] = bool(block.is_error)

    def told(self, step):
        print(json.dumps({"step": step, **self.said, "calls": list(self.calls.values())}), flush=True)


async def typed(*texts):
    for text in texts:
        yield {"type": "user", "session_id": "", "message": {"role": "user", "content": text}, "parent_tool_use_id": None}


async def once(step, prompt, decision=None, **more):
    """One prompt in a process of its own."""
    if not is_wanted(step):
        return None
    seen = Seen()

    async def decide(name, tool_input, context):
        seen.said["asked"].append({"name": name, "input": tool_input, "toolUseID": context.tool_use_id})
        return decision(tool_input)

    if decision:
        more["can_use_tool"], prompt = decide, typed(prompt)
    try:
        async for message in query(prompt=prompt, options=options(**more)):
            seen.take(message)
    except Exception as error:  # Whatever the package lets through.
        seen.said["error"] = f"{type(error).__name__}: {error}"
    seen.told(step)
    return seen.said["session"]


def allow(_):
    return PermissionResultAllow()


def deny(_):
    return PermissionResultDeny(message="not that one")


def change(tool_input):
    return PermissionResultAllow(updated_input={**tool_input, "command": "rm file"})


async def turn(step, client, seen, text, meanwhile=None):
    """One of several prompts in one process."""
    seen.__init__()
    await client.query(text)
    async for message in client.receive_response():
        seen.take(message)
        if meanwhile:
            await meanwhile(message)
    seen.told(step)


async def main():
    session = await once("text", prompts["text"], include_partial_messages=True)
    for step, decision in {"allowed": allow, "denied": deny, "changed": change}.items():
        await once(step, prompts["tool"], decision, resume=session)
    await once("unasked", prompts["tool"], resume=session)
    await once("bypassed", prompts["tool"], permission_mode="bypassPermissions")
    if prompts.get("failure"):
        await once("failure", prompts["failure"], resume=session)
    await once("unknown", prompts["text"], resume="018f0000-0000-7000-8000-000000000000")
    await once("named", prompts["text"], session_id="018f0000-0000-7000-8000-00000000000a")
    await once("continued", prompts["text"], continue_conversation=True)
    await once("forbidden", prompts["text"], disallowed_tools=["Bash"])

    # Two prompts at once, both with questions: the input stays open until the second one is answered.
    seen, results = Seen(), []

    async def decide(name, tool_input, context):
        seen.said["asked"].append({"name": name, "input": tool_input, "toolUseID": context.tool_use_id})
        return PermissionResultAllow()

    if is_wanted("both"):
        async for message in query(prompt=typed(prompts["tool"], prompts["tool"]), options=options(can_use_tool=decide)):
            seen.take(message)
            results += [message.result] if isinstance(message, ResultMessage) else []
        seen.said["results"] = results
        seen.told("both")
    if not is_wanted("end"):
        return

    async with ClaudeSDKClient(options(can_use_tool=decide)) as client:
        await turn("first", client, seen, prompts["text"])
        await turn("tool", client, seen, prompts["tool"])
        interrupted = []

        async def interrupt(message):
            if not interrupted and isinstance(message, AssistantMessage):
                interrupted.append(True)
                await client.interrupt()

        await turn("interrupted", client, seen, prompts["slow"], interrupt)
        await client.set_model("other")
        await turn("model", client, seen, prompts["text"])
        await client.set_permission_mode("dontAsk")
        await turn("refused", client, seen, prompts["tool"])
        refused = []
        try:
            await client.set_permission_mode("plan")
        except Exception as error:
            refused.append(str(error))
        print(json.dumps({"step": "end", "refused": refused, "info": await client.get_server_info()}), flush=True)


asyncio.run(main())
