"""Asks a coding agent with the openai package, and answers its questions: python3 ask.py "Write a note"

FRAMEGATE_URL and UPSTREAM in the environment choose another proxy and another upstream.
"""

import json
import os
import sys

import openai

client = openai.OpenAI(
    base_url=os.environ.get("FRAMEGATE_URL", "http://127.0.0.1:8080") + "/v1",
    # The proxy's token, if it has tokens.
    api_key=os.environ.get("FRAMEGATE_TOKEN", "none"),
)
model = os.environ.get("UPSTREAM", "demo")


def stream(**request):
    """Prints a response while it is written. Returns the whole response."""
    with client.responses.stream(model=model, **request) as events:
        for event in events:
            if event.type == "response.output_text.delta":
                print(event.delta, end="", flush=True)
            elif event.type == "response.output_text.done":
                print()
            elif event.type == "response.output_item.done" and event.item.type == "mcp_call":
                print(f"  {event.item.name} {event.item.arguments}")
                if event.item.status != "in_progress":
                    print(f"  -> {event.item.output or event.item.error}")
            elif event.type in ("response.completed", "response.failed", "response.incomplete"):
                return event.response
        sys.exit("the response broke off")


def answers(response):
    """Asks the user about each question of a response."""
    for item in response.output:
        if item.type == "mcp_approval_request":
            arguments = json.dumps(json.loads(item.arguments), indent=2)
            decision = input(f"May the agent use {item.name}?\n{arguments}\n[y/n] ")
            yield {
                "type": "mcp_approval_response",
                "approval_request_id": item.id,
                "approve": decision.strip() == "y",
            }


response = stream(input=" ".join(sys.argv[1:]) or "Make a plan, then write a note")
# A response that asks is complete. The next one continues the run with the answers.
while given := list(answers(response)):
    response = stream(input=given, previous_response_id=response.id)

if response.error:
    sys.exit(f"failed: {response.error.message}")
