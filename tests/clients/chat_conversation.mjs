// The `openai` package holds a conversation with a coding agent. Says one JSON object for each step.
import OpenAI from 'openai';

const { base_url: baseURL } = JSON.parse(process.argv[2]);
const client = new OpenAI({ apiKey: 'none', baseURL });
const say = (what) => console.log(JSON.stringify(what));
const messages = [];

async function failing(body) {
  try {
    const stream = await client.chat.completions.create({ model: 'fake', ...body });
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
const whole = await client.chat.completions.create({ model: 'fake', messages });
const [{ message, finish_reason }] = whole.choices;
say({ content: message.content, reasoning: message.reasoning_content, finish_reason, total_tokens: whole.usage.total_tokens });
messages.push(message);

for (const prompt of ['quickly', 'carefully']) {
  messages.push({ role: 'user', content: prompt });
  const stream = client.chat.completions.stream({ model: 'fake', messages, stream_options: { include_usage: true } });
  let reasoning = '';
  stream.on('chunk', (chunk) => (reasoning += chunk.choices[0]?.delta.reasoning_content ?? ''));
  const completion = await stream.finalChatCompletion();
  const work = reasoning.split('\n\n').filter((line) => line.includes('pproval'));
  const [choice] = completion.choices;
  say({ content: choice.message.content, finish_reason: choice.finish_reason, total_tokens: completion.usage.total_tokens, work });
  messages.push({ role: 'assistant', content: choice.message.content });
}

const prompt = [{ role: 'user', content: 'badly' }];
await failing({ model: 'fale', messages: prompt });
await failing({ messages: prompt, tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] });
await failing({ messages: prompt, stream: true });
