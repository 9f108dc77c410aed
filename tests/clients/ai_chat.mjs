// The engine of the AI SDK's `useChat` chats with a coding agent. Says one JSON object for each step.
import { writeFileSync } from 'node:fs';
import { AbstractChat, DefaultChatTransport } from 'ai';
import { interruptNewest, plan, say } from './plan.mjs';

const api = new URL(`/ai-sdk/${plan().upstream ?? 'fake'}`, plan().base_url).href;

// Waits for a condition, at most half a minute.
async function until(what, isSo) {
  for (const end = Date.now() + 30_000; !isSo(); await new Promise((done) => setTimeout(done, 10))) {
    if (Date.now() > end) throw new Error(`${what} in time`);
  }
}

// Whether every question has an answer. Other tools may still be at work.
function isAnswered({ messages }) {
  const states = messages.findLast((message) => message.role === 'assistant')?.parts.map((part) => part.state) ?? [];
  return states.includes('approval-responded') && !states.includes('approval-requested');
}

// The state of a chat as an application keeps it.
class State {
  status = 'ready';
  error = undefined;
  messages = [];
  pushMessage = (message) => void (this.messages = [...this.messages, message]);
  popMessage = () => void (this.messages = this.messages.slice(0, -1));
  replaceMessage = (at, message) => void (this.messages = this.messages.with(at, structuredClone(message)));
  snapshot = (value) => structuredClone(value);
}

class Chat extends AbstractChat {
  constructor(id, at = api) {
    super({
      id,
      state: new State(),
      transport: new DefaultChatTransport({ api: at }),
      sendAutomaticallyWhen: isAnswered,
    });
  }
  parts(type) {
    return this.lastMessage.parts.filter((part) => part.type === type);
  }
  texts(type) {
    return this.parts(type).map((part) => part.text);
  }
}

const chat = new Chat('first');
for (const text of ['secretly', 'quickly']) {
  await chat.sendMessage({ text });
  say({ status: chat.status, text: chat.texts('text'), reasoning: chat.texts('reasoning') });
}
for (const approved of [true, false]) {
  await chat.sendMessage({ text: 'carefully' });
  const tools = chat.parts('dynamic-tool');
  say({ asked: tools.map((part) => part.state), tool: tools[0].toolName, input: tools[0].input });
  await chat.addToolApprovalResponse({ id: tools[0].approval.id, approved });
  // The answer is sent by itself.
  await until('the message does not go on', () => chat.status === 'ready' && chat.texts('text').length > 0);
  const codes = chat.parts('dynamic-tool').map((part) => part.output?.exit_code ?? part.state);
  say({ status: chat.status, text: chat.texts('text'), exit_codes: codes, messages: chat.messages.length });
}

const failing = new Chat('failing');
await failing.sendMessage({ text: 'badly' });
say({ status: failing.status, error: failing.error?.message });

// Another client interrupts the run, and the chat goes on.
const stopped = new Chat('stopped');
const working = stopped.sendMessage({ text: 'slowly' });
await until('no answer', () => stopped.lastMessage?.role === 'assistant' && stopped.texts('text').join(''));
await interruptNewest();
await working;
say({ interrupted: stopped.texts('text'), status: stopped.status });
await stopped.sendMessage({ text: 'quickly' });
say({ status: stopped.status, text: stopped.texts('text') });

// A page that is left and opened again.
const left = new Chat('left');
const sending = left.sendMessage({ text: 'slowly' });
await until('no answer', () => left.lastMessage?.role === 'assistant' && left.texts('text').join(''));
await left.stop();
await sending;
const opened = new Chat('left');
opened.messages = left.messages.slice(0, 1);
const resuming = opened.resumeStream();
await until('not resumed', () => opened.status === 'streaming');
writeFileSync(plan().release, '');
await resuming;
say({ resumed: opened.texts('text').join(''), status: opened.status });

const refused = new Chat('refused', new URL(`/ai-sdk/${plan().upstream ?? 'fak'}s`, api).href);
await refused.sendMessage({ text: 'x' });
say({ status: refused.status, refused: refused.error.message.includes('did you mean') });
