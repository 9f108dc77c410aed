// The agent of `@ag-ui/client` talks to a coding agent. Its own checks of the events' order are on. Says one JSON object for each step.
import { writeFileSync } from 'node:fs';
import { HttpAgent } from '@ag-ui/client';
import { interruptNewest, plan, say } from './plan.mjs';

const url = new URL(`/ag-ui/${plan().upstream ?? 'fake'}`, plan().base_url).href;
const warnings = [];
console.warn = (...what) => warnings.push(what.map(String).join(' '));
console.error = console.warn;
const complaints = () => warnings.splice(0);

let ids = 0;
const ask = (agent, content) => agent.addMessage({ id: `u${(ids += 1)}`, role: 'user', content });
const roles = (messages) => messages.map((message) => message.role);

const agent = new HttpAgent({ url, threadId: 'first' });
for (const content of ['secretly', 'quickly']) {
  const before = agent.messages.length;
  ask(agent, content);
  await agent.runAgent();
  say({ roles: roles(agent.messages.slice(before)), text: agent.messages.at(-1).content, warnings: complaints() });
}
for (const payload of [{ decision: 'approved' }, false]) {
  ask(agent, 'carefully');
  const before = agent.messages.length;
  await agent.runAgent();
  const interrupts = agent.pendingInterrupts.map(({ reason }) => reason);
  const resume = agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: 'resolved', payload }));
  await agent.runAgent({ resume });
  const then = agent.messages.slice(before);
  const result = then.find((message) => message.role === 'tool').content;
  say({ interrupts, then: roles(then), result, text: then.at(-1).content, warnings: complaints() });
}

const failing = new HttpAgent({ url, threadId: 'failing' });
ask(failing, 'badly');
await failing.runAgent({}, { onRunErrorEvent: ({ event }) => say({ failed: event.message }) }).catch(() => {});
complaints();

// Another client interrupts the run, and the thread goes on.
const stopped = new HttpAgent({ url, threadId: 'stopped' });
ask(stopped, 'slowly');
const begun = new Promise((done) => {
  stopped.subscribe({ onTextMessageContentEvent: done });
});
let outcome = null;
const working = stopped.runAgent({}, { onRunFinishedEvent: ({ event }) => void (outcome = event.outcome?.type) });
await begun;
await interruptNewest();
await working;
say({ interrupted: stopped.messages.at(-1).content, outcome });
ask(stopped, 'quickly');
await stopped.runAgent();
say({ text: stopped.messages.at(-1).content });
complaints();

// A page that is left and opened again: the thread is read with GET.
const left = new HttpAgent({ url, threadId: 'left' });
ask(left, 'slowly');
const seen = new Promise((done) => {
  left.subscribe({ onTextMessageContentEvent: done });
});
const running = left.runAgent().catch(() => {});
await seen;
left.abortRun();
await running;
complaints();
class Opened extends HttpAgent {
  requestInit() {
    return { headers: { Accept: 'text/event-stream' }, signal: this.abortController.signal };
  }
}
const opened = new Opened({ url: `${url}/left`, threadId: 'left' });
const release = new Promise((done) => {
  opened.subscribe({ onMessagesSnapshotEvent: done });
});
const reading = opened.runAgent();
await release;
writeFileSync(plan().release, '');
await reading;
const said = opened.messages.filter((message) => message.role === 'assistant').map((message) => message.content);
say({
  opened: [...new Set(roles(opened.messages))],
  text: said.join(''),
  pending: opened.pendingInterrupts.length,
  warnings: complaints(),
});

const refused = new HttpAgent({ url: new URL(`/ag-ui/${plan().upstream ?? 'fak'}s`, url).href, threadId: 'refused' });
ask(refused, 'x');
await refused.runAgent().catch((error) => say({ refused: String(error.message ?? error).includes('did you mean') }));
