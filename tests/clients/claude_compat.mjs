// The Claude Agent SDK drives another runner: `program` stands in for Claude Code. Says one JSON object for each step.
import { query } from '@anthropic-ai/claude-agent-sdk';
import { plan, say } from './plan.mjs';

// `only` names the steps; without it, all are taken.
const { program, cwd, env, prompts, only } = plan();
const isWanted = (step) => !only || only.includes(step);
const base = { pathToClaudeCodeExecutable: program, cwd, env: { ...process.env, ...env }, settingSources: [] };

// What a client shows of a turn.
class Seen {
  text = '';
  thinking = '';
  streamed = '';
  calls = {};
  asked = [];
  models = [];
  withdrawn = 0;

  take(message) {
    this.session ??= message.session_id;
    if (message.session_id !== this.session) throw new Error(`another session: ${JSON.stringify(message)}`);
    if (message.type === 'system' && message.subtype === 'init') this.models.push(message.model);
    if (message.type === 'stream_event') {
      const { delta } = message.event;
      this.streamed += delta?.text ?? '';
    }
    const blocks = Array.isArray(message.message?.content) ? message.message.content : [];
    for (const block of blocks) {
      if (message.type === 'assistant' && block.type === 'text') this.text += block.text;
      if (block.type === 'thinking') this.thinking += block.thinking;
      if (block.type === 'tool_use') this.calls[block.id] = { name: block.name, input: block.input };
      if (block.type === 'tool_result') this.calls[block.tool_use_id].failed = block.is_error ?? false;
    }
    if (message.type === 'result') {
      this.result = { subtype: message.subtype, is_error: message.is_error, text: message.result ?? message.errors };
      this.denials = message.permission_denials.length;
    }
    return message;
  }

  told(step) {
    const { calls, ...rest } = this;
    say({ step, ...rest, calls: Object.values(calls) });
  }
}

// One prompt in a process of its own.
async function once(step, prompt, options = {}) {
  if (!isWanted(step)) return;
  const seen = new Seen();
  try {
    for await (const message of query({ prompt, options: { ...base, ...options } })) seen.take(message);
  } catch (error) {
    seen.error = String(error);
  }
  seen.told(step);
  return seen.session;
}

const decide = (seen, decision) => (name, input, { signal, toolUseID }) => {
  seen.asked.push({ name, input, toolUseID });
  signal.addEventListener('abort', () => (seen.withdrawn += 1));
  return decision(input);
};
const allow = (input) => ({ behavior: 'allow', updatedInput: input });
const deny = () => ({ behavior: 'deny', message: 'not that one' });
const change = (input) => ({ behavior: 'allow', updatedInput: { ...input, command: 'rm file' } });

const session = await once('text', prompts.text, { includePartialMessages: true });
for (const [step, decision] of Object.entries({ allowed: allow, denied: deny, changed: change })) {
  if (!isWanted(step)) continue;
  const seen = new Seen();
  const canUseTool = decide(seen, async (input) => decision(input));
  for await (const message of query({ prompt: prompts.tool, options: { ...base, resume: session, canUseTool } })) {
    seen.take(message);
  }
  seen.told(step);
}
await once('unasked', prompts.tool, { resume: session });
await once('bypassed', prompts.tool, { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true });
if (prompts.failure) await once('failure', prompts.failure, { resume: session });
await once('unknown', prompts.text, { resume: '018f0000-0000-7000-8000-000000000000' });
const own = '018f0000-0000-7000-8000-00000000000a';
await once('named', prompts.text, { sessionId: own });
await once('continued', prompts.text, { continue: true });
await once('hooks', prompts.text, { hooks: { PreToolUse: [{ hooks: [async () => ({})] }] } });
await once('forbidden', prompts.text, { disallowedTools: ['Bash'] });

if (!isWanted('end')) process.exit();

// Several prompts in one process, which are typed while it works.
const typed = [];
let wake = () => {};
const type = (text) => {
  typed.push(text);
  wake();
};
async function* typing() {
  for (;;) {
    while (typed.length) {
      const text = typed.shift();
      if (text === null) return;
      yield { type: 'user', session_id: '', message: { role: 'user', content: text }, parent_tool_use_id: null };
    }
    await new Promise((resolve) => (wake = resolve));
  }
}
let seen = new Seen();
const canUseTool = (...all) => decide(seen, async (input) => allow(input))(...all);
const talk = query({ prompt: typing(), options: { ...base, canUseTool, includePartialMessages: true } });
const commands = await talk.supportedCommands();
const turn = async (step, text, meanwhile = () => {}) => {
  seen = new Seen();
  type(text);
  for (;;) {
    const { value } = await talk.next();
    seen.take(value);
    await meanwhile(value);
    if (value.type === 'result') break;
  }
  seen.told(step);
};
await turn('first', prompts.text);
await turn('tool', prompts.tool);
let interrupted;
await turn('interrupted', prompts.slow, async (message) => {
  const hasText = message.type === 'assistant' || message.event?.delta?.text;
  if (!interrupted && hasText) interrupted = await talk.interrupt();
});
await talk.setModel('other');
await turn('model', prompts.text);
const refused = [];
for (const attempt of [() => talk.setPermissionMode('plan'), () => talk.mcpServerStatus()]) {
  await attempt().catch((error) => refused.push(String(error)));
}
await talk.setPermissionMode('dontAsk');
await turn('refused', prompts.tool);
type(null);
const { done } = await talk.next();
say({ step: 'end', commands, interrupted, refused, done });
