// Asks a coding agent, and answers its questions: node ask.mjs "Write a note"
// FRAMEGATE_URL and UPSTREAM in the environment choose another proxy and another upstream.
import { createInterface } from 'node:readline';
import { HttpAgent } from '@ag-ui/client';

const { FRAMEGATE_URL = 'http://127.0.0.1:8080', UPSTREAM = 'demo' } = process.env;
const content = process.argv.slice(2).join(' ') || 'Make a plan, then write a note';
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const write = (text) => void process.stdout.write(text);

const agent = new HttpAgent({ url: `${FRAMEGATE_URL}/ag-ui/${UPSTREAM}` });
agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });

const subscriber = {
  onTextMessageContentEvent: ({ event }) => write(event.delta),
  onTextMessageEndEvent: () => write('\n'),
  onToolCallEndEvent: ({ toolCallName, toolCallArgs }) => write(`  ${toolCallName} ${JSON.stringify(toolCallArgs)}\n`),
  onToolCallResultEvent: ({ event }) => write(`  -> ${event.content}\n`),
  onRunErrorEvent: ({ event }) => {
    write(`failed: ${event.message}\n`);
    process.exitCode = 1;
  },
};

async function answer(question) {
  write(question);
  const { value = '' } = await lines.next();
  return value.trim();
}

async function permit(message) {
  return { decision: (await answer(`${message} [y/n] `)) === 'y' ? 'approved' : 'rejected' };
}

// A question that wants a choice or a text: an approval with one answer for each of its parts.
async function choose(questions) {
  const answers = [];
  for (const { question, options = [] } of questions) {
    answers.push(await answer(`${question} [${options.map(({ label }) => label).join('/')}] `));
  }
  return { decision: 'approved', answers };
}

// A run that asks ends with interrupts. The next one resumes it with an answer to each.
let resume;
do {
  await agent.runAgent(resume ? { resume } : {}, subscriber).catch(() => (process.exitCode = 1));
  resume = [];
  for (const { id, message, metadata } of agent.pendingInterrupts) {
    const questions = metadata?.args?.questions;
    const payload = questions ? await choose(questions) : await permit(message ?? 'May I?');
    resume.push({ interruptId: id, status: 'resolved', payload });
  }
} while (resume.length > 0);
process.stdin.destroy();
