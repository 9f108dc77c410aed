"""The openai package: says everything that it sees of some responses, one JSON object a line."""

import json
import sys

import openai

plan = json.loads(sys.argv[1])
api_key = plan.get("api_key", "of-the-client")
client = openai.OpenAI(base_url=plan["base_url"], api_key=api_key, max_retries=0, timeout=60)


def say(**what):
    print(json.dumps(what), flush=True)


def read(name, ask):
    try:
        for event in ask():
            say(case=name, event=event.type, value=json.loads(event.to_json()))
    except openai.APIStatusError as error:
        request_id = error.response.headers.get("x-request-id")
        say(case=name, error=type(error).__name__, status=error.status_code, body=error.body, request_id=request_id)
    except Exception as error:  # Whatever the package lets through.
        say(case=name, error=type(error).__name__)
    else:
        say(case=name, end=True)


for case in plan["streams"]:
    read(case, lambda: client.responses.create(model=case, input="Say hello", stream=True))
for case in plan["wholes"]:
    response = client.responses.create(model=case, input="Say hello")
    say(case=case, text=response.output_text, request_id=response._request_id, value=json.loads(response.to_json()))
for retrieve in plan.get("retrieve", []):
    after = {} if retrieve["after"] is None else {"starting_after": retrieve["after"]}
    read("retrieve", lambda: client.responses.retrieve(retrieve["id"], stream=True, **after))
    say(case="retrieve", value=json.loads(client.responses.retrieve(retrieve["id"]).to_json()))
for refused in plan.get("refused", []):
    other = openai.OpenAI(base_url=plan["base_url"], api_key=refused.get("key", api_key), max_retries=0, timeout=60)
    try:
        if refused.get("id"):
            other.responses.retrieve(refused["id"])
        else:
            other.responses.create(model=refused["model"], input="Say hello")
        say(case="refused", error=None)
    except openai.APIStatusError as error:
        retry = error.response.headers.get("retry-after")
        message = error.body["message"] if isinstance(error.body, dict) else None
        say(case="refused", error=type(error).__name__, status=error.status_code, message=message, code=error.code, retry=retry)
