// The `ai` package: reads runs as UI message streams. Each chunk passes the package's own schema, and its reader folds the chunks into
// a message. Says one JSON object for each run: the message, the types of the chunks, and every error.
import { parseJsonEventStream, readUIMessageStream, uiMessageChunkSchema } from 'ai';
import { plan, say } from './plan.mjs';

async function read({ run, url }) {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' } });
  const types = [];
  const invalid = [];
  const errorTexts = [];
  const chunks = parseJsonEventStream({ stream: response.body, schema: uiMessageChunkSchema }).pipeThrough(
    new TransformStream({
      transform(result, controller) {
        if (!result.success) return void invalid.push(String(result.error));
        types.push(result.value.type);
        if (result.value.type === 'error') errorTexts.push(result.value.errorText);
        controller.enqueue(result.value);
      },
    }),
  );
  const errors = [];
  let message = null;
  let states = 0;
  for await (const state of readUIMessageStream({ stream: chunks, onError: (error) => errors.push(error.message) })) {
    message = state;
    states += 1;
  }
  // An `error` chunk is reported to the application; any other error is one of the reader.
  const refused = errors.filter((error) => !errorTexts.includes(error));
  say({ run, status: response.status, types, invalid, refused, error_texts: errorTexts, states, message });
}

for (const one of plan()) await read(one);
