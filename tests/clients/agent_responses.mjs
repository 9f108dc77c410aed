// The `openai` package asks a coding agent for responses. Says one JSON object for each step.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import OpenAI from 'openai';
import { plan, say } from './plan.mjs';

const { base_url: baseURL, release, upstream: model = 'fake' } = plan();
const client = new OpenAI({ apiKey: 'none', baseURL });

async function failing(body) {
  try {
    await client.responses.create({ model, input: 'x', ...body });
    say({ error: null });
  } catch (error) {
    say({ error: error.constructor.name, code: error.code, param: error.param });
  }
}

const first = await client.responses.create({ model, input: 'secretly' });
const reasoning = first.output.find((item) => item.type === 'reasoning').summary[0].text;
say({ text: first.output_text, reasoning, status: first.status, total_tokens: first.usage.total_tokens });

const stream = client.responses.stream({ model, input: 'quickly', previous_response_id: first.id });
let streamed = '';
let last;
stream.on('response.output_text.delta', ({ delta }) => (streamed += delta));
stream.on('event', ({ type }) => (last = type));
const second = await stream.finalResponse();
say({ text: second.output.find((item) => item.type === 'message').content[0].text, streamed, last });

let previous = second;
for (const approve of [true, false]) {
  const asking = client.responses.stream({ model, input: 'carefully', previous_response_id: previous.id });
  const asked = await asking.finalResponse();
  const question = asked.output.find((item) => item.type === 'mcp_approval_request');
  say({ asked: question.name, arguments: JSON.parse(question.arguments) });
  const input = [{ type: 'mcp_approval_response', approval_request_id: question.id, approve }];
  previous = await client.responses.stream({ model, input, previous_response_id: asked.id }).finalResponse();
  const call = previous.output.find((item) => item.type === 'mcp_call');
  say({ approved: previous.output.find((item) => item.type === 'mcp_approval_response').approve, call: call.status });
}

const failed = await client.responses.create({ model, input: 'badly' });
say({ status: failed.status, message: failed.error.message });

// A stream that breaks off is resumed after the last event.
const background = await client.responses.create({ model, input: 'slowly', background: true, stream: true });
let id;
let seen;
for await (const event of background) {
  if (event.type === 'response.created') id = event.response.id;
  seen = event.sequence_number;
  if (event.type === 'response.output_text.done') break;
}
writeFileSync(release, '');
let resumed = '';
for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: seen })) {
  if (event.type === 'response.output_text.delta') resumed += event.delta;
}
const retrieved = await client.responses.retrieve(id);
say({ background: retrieved.background, resumed, retrieved: retrieved.output_text });

if (existsSync(release)) rmSync(release);
const slow = await client.responses.create({ model, input: 'slowly', background: true });
say({ cancelled: (await client.responses.cancel(slow.id)).status });

await failing({ model: 'fale' });
await failing({ tools: [{ type: 'function', name: 'f', parameters: {}, strict: false }] });
