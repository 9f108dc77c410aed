// A coding agent as the model of a LangChain chain: node ask.mjs "Write a note"
// FRAMEGATE_URL and UPSTREAM in the environment choose another proxy and another upstream.
import { createInterface } from 'node:readline';
import { HumanMessage } from '@langchain/core/messages';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { ChatOpenAI } from '@langchain/openai';

const { FRAMEGATE_URL = 'http://127.0.0.1:8080', FRAMEGATE_TOKEN = 'none', UPSTREAM = 'demo' } = process.env;
const task = process.argv.slice(2).join(' ') || 'Make a plan, then write a note';
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// The Responses API, because Chat Completions have no questions.
const model = new ChatOpenAI({
  model: UPSTREAM,
  apiKey: FRAMEGATE_TOKEN,
  configuration: { baseURL: `${FRAMEGATE_URL}/v1` },
  useResponsesApi: true,
  streaming: true,
});
const prompt = ChatPromptTemplate.fromMessages([
  ['system', 'Answer in {language}.'],
  ['human', '{task}'],
]);

// Prints an answer while it is written. Returns the whole message.
async function show(chunks) {
  let whole;
  for await (const chunk of chunks) {
    process.stdout.write(chunk.text);
    whole = whole ? whole.concat(chunk) : chunk;
  }
  process.stdout.write('\n');
  return whole;
}

let answer = await show(await prompt.pipe(model).stream({ language: 'English', task }));
for (;;) {
  const questions = (answer.additional_kwargs.tool_outputs ?? []).filter(({ type }) => type === 'mcp_approval_request');
  if (questions.length === 0) break;
  const given = [];
  for (const { id, name } of questions) {
    process.stdout.write(`May the agent use ${name}? [y/n] `);
    const { value = 'n' } = await lines.next();
    given.push({ type: 'mcp_approval_response', approval_request_id: id, approve: value.trim() === 'y' });
  }
  const options = { previous_response_id: answer.response_metadata.id };
  answer = await show(await model.stream([new HumanMessage({ content: given })], options));
}
process.stdin.destroy();

// LangChain streams a failed response as one that breaks off.
if (answer.response_metadata.status !== 'completed') {
  console.error('failed: GET /v1/runs of framegate has the reason');
  process.exitCode = 1;
}
