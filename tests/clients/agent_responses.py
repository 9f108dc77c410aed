"""The openai package asks a coding agent for responses. Says one JSON object for each step."""

import json
import os
import pathlib
import sys

import openai

plan = json.loads(sys.argv[1])
client = openai.OpenAI(base_url=plan["base_url"], api_key="none", timeout=60)
release = pathlib.Path(plan["release"])
model = plan.get("upstream", "fake")


def say(**what):
    print(json.dumps(what), flush=True)


def of_type(response, kind):
    return next(item for item in response.output if item.type == kind)


def final(**body):
    with client.responses.stream(model=model, **body) as stream:
        for _ in stream:
            pass
        return stream.get_final_response()


def failing(**body):
    try:
        client.responses.create(**{"model": model, "input": "x", **body})
        say(error=None)
    except openai.APIStatusError as error:
        say(error=type(error).__name__, code=error.code, param=error.param)


first = client.responses.create(model=model, input="secretly")
say(
    text=first.output_text,
    reasoning=of_type(first, "reasoning").summary[0].text,
    status=first.status,
    total_tokens=first.usage.total_tokens,
)

streamed, last = "", None
with client.responses.stream(model=model, input="quickly", previous_response_id=first.id) as stream:
    for event in stream:
        last = event.type
        if event.type == "response.output_text.delta":
            streamed += event.delta
    second = stream.get_final_response()
say(text=second.output_text, streamed=streamed, last=last)

previous = second
for approve in [True, False]:
    asked = final(input="carefully", previous_response_id=previous.id)
    question = of_type(asked, "mcp_approval_request")
    say(asked=question.name, arguments=json.loads(question.arguments))
    answer = {"type": "mcp_approval_response", "approval_request_id": question.id, "approve": approve}
    previous = final(input=[answer], previous_response_id=asked.id)
    say(approved=of_type(previous, "mcp_approval_response").approve, call=of_type(previous, "mcp_call").status)

failed = client.responses.create(model=model, input="badly")
say(status=failed.status, message=failed.error.message)

# A stream that breaks off is resumed after the last event.
response_id, seen = None, None
with client.responses.create(model=model, input="slowly", background=True, stream=True) as background:
    for event in background:
        if event.type == "response.created":
            response_id = event.response.id
        seen = event.sequence_number
        if event.type == "response.output_text.done":
            break
release.touch()
resumed = ""
for event in client.responses.retrieve(response_id, stream=True, starting_after=seen):
    if event.type == "response.output_text.delta":
        resumed += event.delta
retrieved = client.responses.retrieve(response_id)
say(background=retrieved.background, resumed=resumed, retrieved=retrieved.output_text)

if release.exists():
    os.remove(release)
slow = client.responses.create(model=model, input="slowly", background=True)
say(cancelled=client.responses.cancel(slow.id).status)

failing(model="fale")
failing(tools=[{"type": "function", "name": "f", "parameters": {}, "strict": False}])
