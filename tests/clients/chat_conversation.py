"""The openai package holds a conversation with a coding agent. Says one JSON object for each step."""

import json
import sys
import urllib.parse
import urllib.request

import openai

plan = json.loads(sys.argv[1])
upstream = plan.get("upstream", "fake")
client = openai.OpenAI(base_url=plan["base_url"], api_key="none", timeout=60)
messages = []


def say(**what):
    print(json.dumps(what), flush=True)


def failing(**body):
    try:
        stream = client.chat.completions.create(**{"model": upstream, **body})
        if body.get("stream"):
            for _ in stream:
                pass
        say(error=None)
    except openai.APIStatusError as error:
        say(error=type(error).__name__, code=error.code, param=error.param)
    except openai.APIError as error:
        say(error=type(error).__name__, message=error.message)


def interrupt_newest():
    """Interrupts the newest run, as another client does."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.parse.urljoin(plan["base_url"], "/v1/runs")) as answer:
        run = json.load(answer)["data"][0]["run_id"]
    path = f"/v1/runs/{run}/interrupt"
    opener.open(urllib.request.Request(urllib.parse.urljoin(plan["base_url"], path), method="POST")).close()


say(models=[model.id for model in client.models.list()])

messages.append({"role": "user", "content": "secretly"})
whole = client.chat.completions.create(model=upstream, messages=messages)
choice = whole.choices[0]
say(
    content=choice.message.content,
    reasoning=choice.message.reasoning_content,
    finish_reason=choice.finish_reason,
    total_tokens=whole.usage.total_tokens,
)
messages.append(choice.message)

for prompt in ["quickly", "carefully", "carefully"]:
    messages.append({"role": "user", "content": prompt})
    options = {"include_usage": True}
    with client.chat.completions.stream(model=upstream, messages=messages, stream_options=options) as stream:
        reasoning = ""
        for event in stream:
            if event.type == "chunk" and event.chunk.choices:
                reasoning += getattr(event.chunk.choices[0].delta, "reasoning_content", None) or ""
        completion = stream.get_final_completion()
    choice = completion.choices[0]
    say(
        content=choice.message.content,
        finish_reason=choice.finish_reason,
        total_tokens=completion.usage.total_tokens,
        work=[line for line in reasoning.split("\n\n") if "pproval" in line],
    )
    messages.append({"role": "assistant", "content": choice.message.content})

# Another client interrupts the run, and the conversation goes on.
stopped = [{"role": "user", "content": "slowly"}]
text, code = "", None
try:
    with client.chat.completions.stream(model=upstream, messages=stopped) as stream:
        for event in stream:
            if event.type == "content.delta":
                if not text:
                    interrupt_newest()
                text += event.delta
except openai.APIError as error:
    code = error.code
say(interrupted=text, code=code)
stopped += [{"role": "assistant", "content": text}, {"role": "user", "content": "quickly"}]
after = client.chat.completions.create(model=upstream, messages=stopped)
say(content=after.choices[0].message.content)

prompt = [{"role": "user", "content": "badly"}]
failing(model="fale", messages=prompt)
failing(messages=prompt, tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}])
failing(messages=prompt, stream=True)
