// The `openai` package reads a stored response as a stream, and asks for the rest after each break. Says each event, and each connection.
import OpenAI from 'openai';
import { plan, say } from './plan.mjs';

const TERMINAL = ['response.completed', 'response.incomplete', 'response.failed'];
const { base_url: baseURL, id } = plan();
const client = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0, timeout: 60_000 });

let seen;
let over = false;
while (!over) {
  try {
    const starting = seen === undefined ? {} : { starting_after: seen };
    const stream = await client.responses.retrieve(id, { stream: true, ...starting });
    say({ open: true });
    for await (const event of stream) {
      seen = event.sequence_number;
      over = TERMINAL.includes(event.type);
      say({ event });
    }
  } catch (error) {
    // A cut connection, or a proxy that is not there. Everything else is a failure of the test.
    if (error instanceof OpenAI.APIError && error.status !== undefined) throw error;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const whole = await client.responses.retrieve(id);
say({ text: whole.output_text, status: whole.status });
