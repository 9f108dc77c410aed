// The `openai` package: reads runs as streamed responses. Says one JSON object for each run: the types of the events, the pieces of text
// and reasoning, the response that the package folded, the terminal event, and the error with which the stream ended.
import OpenAI from 'openai';
import { plan, say } from './plan.mjs';

const TERMINAL = ['response.completed', 'response.incomplete', 'response.failed'];

async function read({ run, url }) {
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: new URL(url).origin,
    maxRetries: 0,
    fetch: () => fetch(url, { headers: { accept: 'text/event-stream' } }),
  });
  const stream = client.responses.stream({ model: 'any', input: 'any' });
  const types = [];
  const done = [];
  let text = '';
  let snapshots = '';
  let reasoning = '';
  let terminal = null;
  stream.on('event', (event) => {
    types.push(event.type);
    if (event.type === 'response.output_item.done') done[event.output_index] = event.item;
    if (TERMINAL.includes(event.type)) terminal = structuredClone(event.response);
  });
  stream.on('response.output_text.delta', (event) => {
    text += event.delta;
    snapshots = event.snapshot;
  });
  stream.on('response.reasoning_summary_text.delta', (event) => {
    reasoning += event.delta;
  });
  let final = null;
  let error = null;
  try {
    final = await stream.finalResponse();
    // The package adds what it parsed, which is nothing without a schema for the answer.
    for (const item of final.output) for (const part of item.content ?? []) delete part.parsed;
  } catch (caught) {
    error = caught.message;
  }
  say({ run, types, done, text, last_snapshot: snapshots, reasoning, terminal, final, error });
}

for (const one of plan()) await read(one);
