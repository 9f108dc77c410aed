// The `@agentclientprotocol/sdk` package drives `framegate acp`, as an editor does: two sessions, questions, a failure, a cancelled turn, and a
// history. Every message of the agent conforms to the package's JSON Schema. Says one JSON object.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { PROTOCOL_VERSION, client, ndJsonStream } from '@agentclientprotocol/sdk';
import Ajv from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { plan, say } from './plan.mjs';

// `unoffered` is a mode that the agent does not offer.
const { program, arguments: programArguments, cwd, unoffered = 'bypassPermissions' } = plan();
const complaints = [];
console.error = (...what) => complaints.push(what.map(String).join(' '));
console.warn = console.error;

const schema = JSON.parse(readFileSync(new URL('./node_modules/@agentclientprotocol/sdk/schema/v1/schema.json', import.meta.url), 'utf8'));
const ajv = formats(new Ajv({ strict: false, allErrors: true }));
for (const bits of [16, 32, 64]) ajv.addFormat(`uint${bits}`, { type: 'number', validate: (value) => value >= 0 && value < 2 ** bits });
ajv.addSchema({ ...schema, $id: 'acp' });
const asked = new Map();
const definitions = {
  initialize: 'InitializeResponse',
  'session/new': 'NewSessionResponse',
  'session/load': 'LoadSessionResponse',
  'session/list': 'ListSessionsResponse',
  'session/prompt': 'PromptResponse',
  'session/set_mode': 'SetSessionModeResponse',
  'session/set_config_option': 'SetSessionConfigOptionResponse',
  'session/update': 'SessionNotification',
  'session/request_permission': 'RequestPermissionRequest',
  '$/cancel_request': 'CancelRequestNotification',
};
const invalid = [];
function check(line) {
  const message = JSON.parse(line);
  const name = definitions[message.method ?? asked.get(message.id)];
  const validate = (definition, value) => {
    const validator = ajv.getSchema(definition ? `acp#/$defs/${definition}` : 'acp');
    if (!validator(value)) invalid.push(`${line.slice(0, 200)}: ${ajv.errorsText(validator.errors)}`);
  };
  validate(undefined, message);
  if (message.error) validate('Error', message.error);
  else if (!name) invalid.push(`${line.slice(0, 200)}: not expected`);
  else validate(name, message.params ?? message.result);
}

const child = spawn(program, programArguments, { stdio: ['pipe', 'pipe', 'inherit'] });
let rest = '';
child.stdout.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  lines.forEach(check);
});
const write = child.stdin.write.bind(child.stdin);
child.stdin.write = (chunk, ...more) => {
  for (const line of String(Buffer.from(chunk)).split('\n').filter(Boolean)) {
    const message = JSON.parse(line);
    if (message.method && message.id !== undefined) asked.set(message.id, message.method);
  }
  return write(chunk, ...more);
};

let seen;
const begin = () => (seen = { text: '', thought: '', user: [], calls: {} });
begin();
const choices = ['allow_once', 'reject_once'];
let onText = () => {};
let onUpdate = () => {};
const app = client()
  .onNotification('session/update', ({ params: { update } }) => {
    if (update.sessionUpdate === 'agent_message_chunk') seen.text += update.content.text;
    else if (update.sessionUpdate === 'agent_thought_chunk') seen.thought += update.content.text;
    else if (update.sessionUpdate === 'user_message_chunk') seen.user.push(update.content.text);
    else if (update.sessionUpdate.startsWith('tool_call')) seen.calls[update.toolCallId] = update.status ?? seen.calls[update.toolCallId];
    onText(seen.text);
    if (['current_mode_update', 'config_option_update'].includes(update.sessionUpdate)) onUpdate(update);
  })
  .onRequest('session/request_permission', ({ params }) => {
    const kind = choices.shift();
    const option = params.options.find((option) => option.kind === kind);
    return { outcome: { outcome: 'selected', optionId: option.optionId } };
  });

const turns = [];
await app.connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
  await agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
  const { sessionId, modes, configOptions } = await agent.request('session/new', { cwd, mcpServers: [] });
  const turn = async (text) => {
    begin();
    let end;
    try {
      end = (await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })).stopReason;
    } catch (error) {
      end = error.message;
    }
    turns.push({ end, text: seen.text, thought: seen.thought, calls: Object.values(seen.calls) });
  };
  for (const text of ['hello', 'carefully', 'carefully', 'secretly', 'badly']) await turn(text);
  onText = (text) => {
    if (text !== 'I am at it.') return;
    onText = () => {};
    agent.notify('session/cancel', { sessionId });
  };
  await turn('slowly');
  // A mode is chosen in both ways, and one that is not offered is refused.
  const mode = { offered: modes?.availableModes.map(({ id }) => id), options: configOptions?.map(({ id }) => id), seen: [] };
  onUpdate = (update) => mode.seen.push(update.currentModeId ?? update.configOptions?.find(({ id }) => id === 'mode')?.currentValue);
  await agent.request('session/set_mode', { sessionId, modeId: 'plan' });
  await agent.request('session/set_config_option', { sessionId, configId: 'mode', value: 'default' });
  onUpdate = () => {};
  mode.refused = await agent.request('session/set_mode', { sessionId, modeId: unoffered }).then(() => null, (error) => error.code);
  await turn('hello');
  begin();
  await agent.request('session/load', { sessionId, cwd, mcpServers: [] });
  const history = { user: seen.user, calls: Object.keys(seen.calls).length };
  const list = (await agent.request('session/list', { cwd })).sessions.map((session) => session.title);
  say({ turns, history, list, mode, invalid, complaints });
});
child.stdin.end();
