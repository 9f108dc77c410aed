// The Claude Agent SDK: reads runs as Claude Code's output. `claude` beside this script stands in for Claude Code. Says one JSON object for
// each run: the SDK's messages without stream events, what the stream events add up to, the questions, and every error.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { query } from '@anthropic-ai/claude-agent-sdk';
import { plan, say } from './plan.mjs';

const folder = mkdtempSync(join(tmpdir(), 'framegate-'));
const replay = join(folder, 'run.ndjson');

// The content of the streamed messages, as the API's clients fold it.
function fold(streamed, event) {
  if (event.type === 'message_start') return void streamed.push({ ...event.message, content: [], stopped: false });
  const message = streamed.at(-1);
  if (event.type === 'message_delta') message.stop_reason = event.delta.stop_reason;
  if (event.type === 'message_stop') message.stopped = true;
  if (event.type === 'content_block_start') message.content.push({ ...event.content_block, json: '' });
  if (event.type !== 'content_block_delta') return;
  const block = message.content.at(event.index);
  block.text !== undefined && (block.text += event.delta.text ?? '');
  block.thinking !== undefined && (block.thinking += event.delta.thinking ?? '');
  block.json += event.delta.partial_json ?? '';
}

async function read({ run, url }) {
  const response = await fetch(url, { headers: { accept: 'application/x-ndjson' } });
  writeFileSync(replay, await response.text());
  const asked = [];
  const messages = [];
  const streamed = [];
  const errors = [];
  const options = {
    pathToClaudeCodeExecutable: new URL('claude', import.meta.url).pathname,
    includePartialMessages: true,
    settingSources: [],
    env: { ...process.env, FRAMEGATE_REPLAY: replay },
    // The decision is taken elsewhere, so the request is withdrawn before an answer.
    canUseTool: (name, input, { signal, requestId, toolUseID }) => {
      asked.push({ name, input, request_id: requestId, tool_use_id: toolUseID });
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ behavior: 'deny', message: 'withdrawn' }));
      });
    },
  };
  try {
    for await (const message of query({ prompt: 'any', options })) {
      if (message.type === 'stream_event') fold(streamed, message.event);
      else messages.push(message);
    }
  } catch (error) {
    errors.push(String(error));
  }
  say({ run, status: response.status, messages, streamed, asked, errors });
}

for (const one of plan()) await read(one);
rmSync(folder, { recursive: true });
