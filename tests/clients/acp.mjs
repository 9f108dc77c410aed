// The `@agentclientprotocol/sdk` package: each run is the work of an agent between a prompt and its answer, and the package's client
// reads it from that agent's standard output. Each message conforms to the package's JSON Schema, and the client gets it whole: the
// package drops what it does not accept. Says one JSON object for each run: what the client saw, and every complaint.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { PROTOCOL_VERSION, client, ndJsonStream } from '@agentclientprotocol/sdk';
import Ajv from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { plan, say } from './plan.mjs';

const complaints = [];
console.error = (...what) => complaints.push(what.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(' '));
console.warn = console.error;

const folder = new URL('./node_modules/@agentclientprotocol/sdk/schema/v1/', import.meta.url);
function definitions(file) {
  const schema = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
  const ajv = formats(new Ajv({ strict: false, allErrors: true }));
  for (const bits of [16, 32, 64]) {
    const limit = 2 ** bits;
    ajv.addFormat(`uint${bits}`, { type: 'number', validate: (value) => value >= 0 && value < limit });
  }
  ajv.addSchema({ ...schema, $id: file });
  return (name) => ajv.getSchema(name ? `${file}#/$defs/${name}` : file);
}
const stable = definitions('schema.json');
const unstable = definitions('schema.unstable.json');

// What the schema says about one message.
function violations(message) {
  const found = [];
  const check = (validator, value) => validator(value) || found.push(...validator.errors.map((error) => `${error.instancePath} ${error.message}`));
  check(stable(), message);
  if (message.method === 'session/update') check(stable('SessionNotification'), message.params);
  else if (message.method === 'session/request_permission') check(stable('RequestPermissionRequest'), message.params);
  else if (message.method === '$/cancel_request') check(stable('CancelRequestNotification'), message.params);
  else if (message.method) found.push(`unexpected method ${message.method}`);
  else if (message.error) check(stable('Error'), message.error);
  else {
    check(stable('PromptResponse'), message.result);
    // The tokens of a turn are not stable yet.
    check(unstable('PromptResponse'), message.result);
  }
  return found.map((what) => `${JSON.stringify(message).slice(0, 200)}: ${what}`);
}

async function messagesOf(url) {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' } });
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => line.slice('data: '.length));
}

// An agent that answers one prompt with these messages. A bridge replaces the answer's id.
function agentOf(lines, sessionId, answers) {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let out;
  let rest = '';
  const write = (text) => out.enqueue(encoder.encode(`${text}\n`));
  const on = (message) => {
    const answer = (result) => write(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    if (message.method === 'initialize') answer({ protocolVersion: PROTOCOL_VERSION });
    else if (message.method === 'session/new') answer({ sessionId });
    else if (message.method === 'session/prompt') {
      lines.slice(0, -1).forEach(write);
      write(JSON.stringify({ ...JSON.parse(lines.at(-1)), id: message.id }));
    } else if (!message.method) answers.push(message);
  };
  const input = new WritableStream({
    write(bytes) {
      const read = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = read.pop();
      read.filter((line) => line).forEach((line) => on(JSON.parse(line)));
    },
  });
  const output = new ReadableStream({ start: (controller) => void (out = controller) });
  return ndJsonStream(input, output);
}

async function read({ run, url }) {
  complaints.length = 0;
  const lines = await messagesOf(url);
  const messages = lines.map((line) => JSON.parse(line));
  const invalid = messages.flatMap(violations);
  const sent = messages.filter((message) => message.params);
  const seen = { text: '', thought: '', user: '', messages: {}, calls: {}, plan: null, model: null, notices: 0, questions: [] };
  const dropped = [];
  const answers = [];
  const received = [];
  const take = (params) => {
    received.push(params);
    const update = params.update;
    const own = params._meta.framegate;
    if (own.notice) seen.notices += 1;
    if (update.sessionUpdate.endsWith('_chunk')) {
      const [kind] = update.sessionUpdate.replace('agent_message', 'text').replace('agent_thought', 'thought').split('_');
      seen[kind] += update.content.text ?? '';
      (seen.messages[update.messageId] ??= []).push(kind);
    } else if (update.sessionUpdate === 'tool_call') {
      if (seen.calls[update.toolCallId]) complaints.push(`second tool_call ${update.toolCallId}`);
      seen.calls[update.toolCallId] = { status: 'pending', ...update, updates: 0, own };
    } else if (update.sessionUpdate === 'tool_call_update') {
      const call = seen.calls[update.toolCallId];
      if (!call) return void complaints.push(`update of an unknown call ${update.toolCallId}`);
      if (['completed', 'failed'].includes(call.status)) complaints.push(`update of a call that is over ${update.toolCallId}`);
      Object.assign(call, update, { updates: call.updates + 1, own: { ...call.own, ...own } });
    } else if (update.sessionUpdate === 'plan') seen.plan = update.entries;
    else if (update.sessionUpdate === 'config_option_update') seen.model = update.configOptions[0].currentValue;
  };
  const app = client()
    .onNotification('session/update', ({ params }) => take(params))
    .onRequest('session/request_permission', async ({ params, requestId, signal }) => {
      received.push(params);
      if (!seen.calls[params.toolCall.toolCallId]) complaints.push(`question about an unknown call ${requestId}`);
      seen.questions.push(requestId);
      // Every other question is left to somebody else, whose decision withdraws it.
      if (seen.questions.length % 2) return { outcome: { outcome: 'selected', optionId: params.options[0].optionId } };
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return { outcome: { outcome: 'cancelled' } };
    });
  const sessionId = sent[0].params.sessionId;
  let end;
  await app.connectWith(agentOf(lines, sessionId, answers), async (agent) => {
    await agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    const session = await agent.request('session/new', { cwd: '/', mcpServers: [] });
    try {
      end = { result: await agent.request('session/prompt', { sessionId: session.sessionId, prompt: [] }) };
    } catch (error) {
      end = { error: { code: error.code, message: error.message, data: error.data } };
    }
    // Handlers and answers of the last messages.
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  });
  const expected = sent.filter((message) => message.method !== '$/cancel_request').map((message) => message.params);
  if (received.length !== expected.length) dropped.push(`${received.length} of ${expected.length} messages arrived`);
  expected.forEach((params, at) => {
    if (!isDeepStrictEqual(params, received[at])) dropped.push(`${JSON.stringify(params).slice(0, 300)} arrived as ${JSON.stringify(received[at]).slice(0, 300)}`);
  });
  say({ run, invalid, dropped, complaints: [...complaints], seen, answers, last: messages.at(-1), end });
}

for (const one of plan()) await read(one);
