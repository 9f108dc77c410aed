// The `openai` package holds a conversation with a coding agent. Says one JSON object for each step.
import OpenAI from 'openai';
import { interruptNewest, plan, say } from './plan.mjs';

const { base_url: baseURL, upstream = 'fake' } = plan();
const client = new OpenAI({ apiKey: 'none', baseURL });
const messages = [];

async function failing(body) {
  try {
    const stream = await client.chat.completions.create({ model: upstream, ...body });
    if (body.stream) for await (const chunk of stream) void chunk;
    say({ error: null });
  } catch (error) {
    if (error.status === undefined) say({ error: error.constructor.name, message: error.error?.message ?? error.message });
    else say({ error: error.constructor.name, code: error.code, param: error.param });
  }
}

const models = [];
for await (const model of client.models.list()) models.push(model.id);
say({ models });

messages.push({ role: 'user', content: 'secretly' });
const whole = await client.chat.completions.create({ model: upstream, messages });
const [{ message, finish_reason }] = whole.choices;
say({ content: message.content, reasoning: message.reasoning_content, finish_reason, total_tokens: whole.usage.total_tokens });
messages.push(message);

for (const prompt of ['quickly', 'carefully', 'carefully']) {
  messages.push({ role: 'user', content: prompt });
  const stream = client.chat.completions.stream({ model: upstream, messages, stream_options: { include_usage: true } });
  let reasoning = '';
  stream.on('chunk', (chunk) => (reasoning += chunk.choices[0]?.delta.reasoning_content ?? ''));
  const completion = await stream.finalChatCompletion();
  const work = reasoning.split('\n\n').filter((line) => line.includes('pproval'));
  const [choice] = completion.choices;
  say({ content: choice.message.content, finish_reason: choice.finish_reason, total_tokens: completion.usage.total_tokens, work });
  messages.push({ role: 'assistant', content: choice.message.content });
}

// Another client interrupts the run, and the conversation goes on.
const stopped = [{ role: 'user', content: 'slowly' }];
const working = client.chat.completions.stream({ model: upstream, messages: stopped });
let seen = '';
working.on('content', (delta) => {
  if (!seen) void interruptNewest();
  seen += delta;
});
const end = await working.finalChatCompletion().catch((error) => error);
say({ interrupted: seen, code: end.code ?? null });
stopped.push({ role: 'assistant', content: seen }, { role: 'user', content: 'quickly' });
const after = await client.chat.completions.create({ model: upstream, messages: stopped });
say({ content: after.choices[0].message.content });

const prompt = [{ role: 'user', content: 'badly' }];
await failing({ model: 'fale', messages: prompt });
await failing({ messages: prompt, tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] });
await failing({ messages: prompt, stream: true });
