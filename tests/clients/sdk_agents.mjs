// The OpenAI Agents SDK and LangChain work with a coding agent as their model. Says one JSON object for each step.
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIProvider, Runner, hostedMcpTool, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';
import { interruptNewest, plan, say } from './plan.mjs';

setTracingDisabled(true);
const { base_url: baseURL, upstream = 'fake' } = plan();
const openAIClient = new OpenAI({ apiKey: 'none', baseURL });
const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses: true }) });

// The coding agent's own tools, under the name of its runner: so the SDK asks for their approvals.
const tools = [hostedMcpTool({ serverLabel: 'claude-code', serverUrl: 'http://localhost/', requireApproval: 'always' })];
const agent = new Agent({ name: 'Coder', instructions: 'Be brief.', model: upstream, tools });

const first = await runner.run(agent, 'hello');
say({ agents: first.finalOutput });
let history = [...first.history, { role: 'user', content: 'quickly' }];
const streamed = await runner.run(agent, history, { stream: true });
let text = '';
for await (const piece of streamed.toTextStream()) text += piece;
await streamed.completed;
say({ agents: streamed.finalOutput, streamed: text });

history = streamed.history;
for (const approved of [true, false]) {
  let result = await runner.run(agent, [...history, { role: 'user', content: 'carefully' }]);
  const names = result.interruptions.map(({ name }) => name);
  for (const question of result.interruptions) {
    if (approved) result.state.approve(question);
    else result.state.reject(question);
  }
  result = await runner.run(agent, result.state);
  say({ interruptions: names, agents: result.finalOutput });
  history = result.history;
}

// The model fails, and another client interrupts a run.
const outcome = (running) => running.then(({ finalOutput }) => ({ output: finalOutput ?? null }), (error) => ({ error: error.message }));
say({ failed: await outcome(runner.run(agent, 'badly')) });
const stopped = await runner.run(agent, 'slowly', { stream: true });
let begun = '';
try {
  for await (const piece of stopped.toTextStream()) {
    if (!begun) await interruptNewest();
    begun += piece;
  }
  await stopped.completed;
  say({ interrupted: begun });
} catch (error) {
  say({ interrupted: begun, error: error.message });
}

for (const useResponsesApi of [false, true]) {
  const model = new ChatOpenAI({ model: upstream, apiKey: 'none', configuration: { baseURL }, useResponsesApi, maxRetries: 0 });
  const messages = [['system', 'Be kind.'], ['human', `hello ${useResponsesApi}`]];
  const answer = await model.invoke(messages);
  let pieces = '';
  for await (const chunk of await model.stream([...messages, answer, ['human', 'quickly']])) pieces += chunk.text;
  say({ langchain: answer.text, streamed: pieces, tokens: answer.usage_metadata.total_tokens });
  const failed = await model.invoke('badly').then(({ text }) => ({ text }), (error) => ({ error: error.message }));
  say({ failed });
}
