// The `@ag-ui/client` package: its agent reads runs. Its own schemas check each event, `verifyEvents` the order, and its reducer makes
// messages and state of them. Says one JSON object for each run: the events' types, the messages, the state, and every complaint.
import { HttpAgent } from '@ag-ui/client';
import { EventSchema } from '@ag-ui/core/schemas';
import { plan, say } from './plan.mjs';

// A run that exists already is read with GET.
class Reader extends HttpAgent {
  requestInit() {
    return { method: 'GET', headers: { Accept: 'text/event-stream' }, signal: this.abortController.signal };
  }
}

const warnings = [];
console.warn = (...what) => warnings.push(what.map(String).join(' '));
console.error = console.warn;

async function read({ run, url }) {
  warnings.length = 0;
  const agent = new Reader({ url, threadId: 'thread', initialMessages: [], initialState: {} });
  const types = [];
  const invalid = [];
  const custom = [];
  const subagents = [];
  let last = null;
  let refused = null;
  try {
    await agent.runAgent(
      {},
      {
        onEvent({ event }) {
          types.push(event.type);
          last = event;
          const { success, error } = EventSchema.safeParse(event);
          if (!success) invalid.push(String(error));
          if (event.type === 'CUSTOM') custom.push({ name: event.name, value: event.value });
          if (event.type.startsWith('SUBAGENT_')) subagents.push(event);
        },
      },
    );
  } catch (error) {
    refused = String(error);
  }
  const { messages, state } = agent;
  say({ run, types, invalid, refused, warnings: [...warnings], last, messages, state, custom, subagents });
}

for (const one of plan()) await read(one);
