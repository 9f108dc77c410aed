// The `openai` package: reads runs as streamed chat completions. Says one JSON object for each run: the accumulated completion, the
// reasoning, and the error with which the stream ended.
import OpenAI from 'openai';
import { plan, say } from './plan.mjs';

async function read({ run, url }) {
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: new URL(url).origin,
    maxRetries: 0,
    fetch: () => fetch(url, { headers: { accept: 'text/event-stream' } }),
  });
  const request = { model: 'any', messages: [{ role: 'user', content: 'any' }], stream_options: { include_usage: true } };
  const stream = client.chat.completions.stream(request);
  let content = '';
  let reasoning = '';
  let usage = null;
  stream.on('chunk', (chunk) => {
    content += chunk.choices[0]?.delta.content ?? '';
    reasoning += chunk.choices[0]?.delta.reasoning_content ?? '';
    usage = chunk.usage ?? usage;
  });
  let completion = null;
  let error = null;
  try {
    completion = await stream.finalChatCompletion();
  } catch (caught) {
    error = { message: caught.message, code: caught.code ?? null };
  }
  say({ run, content, reasoning, usage, completion, error });
}

for (const one of plan()) await read(one);
