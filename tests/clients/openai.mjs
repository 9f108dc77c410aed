// The `openai` package: says everything that it sees of some responses, one JSON object a line.
import OpenAI from 'openai';
import { plan, say } from './plan.mjs';

const { base_url: baseURL, api_key: apiKey = 'of-the-client', streams, wholes, retrieve = [], refused = [] } = plan();
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 60_000 });

async function read(name, ask) {
  try {
    for await (const event of await ask()) say({ case: name, event: event.type, value: event });
  } catch (error) {
    if (!(error instanceof OpenAI.APIError) || error.status === undefined) {
      return say({ case: name, error: error.constructor.name });
    }
    const { status, requestID } = error;
    return say({ case: name, error: error.constructor.name, status, body: error.error, request_id: requestID });
  }
  say({ case: name, end: true });
}

for (const model of streams) await read(model, () => client.responses.create({ model, input: 'Say hello', stream: true }));
for (const model of wholes) {
  const response = await client.responses.create({ model, input: 'Say hello' });
  say({ case: model, text: response.output_text, request_id: response._request_id, value: response });
}
for (const { id, after } of retrieve) {
  const starting = after === null ? {} : { starting_after: after };
  await read('retrieve', () => client.responses.retrieve(id, { stream: true, ...starting }));
  say({ case: 'retrieve', value: await client.responses.retrieve(id) });
}
for (const { key = apiKey, model, id } of refused) {
  const other = new OpenAI({ baseURL, apiKey: key, maxRetries: 0, timeout: 60_000 });
  try {
    await (id ? other.responses.retrieve(id) : other.responses.create({ model, input: 'Say hello' }));
    say({ case: 'refused', error: null });
  } catch (error) {
    const retry = error.headers?.get('retry-after') ?? null;
    say({ case: 'refused', error: error.constructor.name, status: error.status, message: error.error?.message, code: error.code, retry });
  }
}
