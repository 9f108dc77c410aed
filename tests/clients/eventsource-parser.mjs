// The `eventsource-parser` package over fetch: whoever uses it goes on by hand after the last id.
import { createParser } from 'eventsource-parser';
import { setTimeout as sleep } from 'node:timers/promises';
import { plan, say } from './plan.mjs';

async function follow({ contract, url }) {
  let last = null;
  const parser = createParser({
    onEvent({ id, event, data }) {
      if (id !== undefined) last = id;
      say({ contract, name: event ?? 'message', id: id ?? '', data });
    },
    onError: (error) => say({ contract, error: String(error) }),
  });
  while (true) {
    const headers = { accept: 'text/event-stream', ...(last !== null && { 'last-event-id': last }) };
    const answer = await fetch(url, { headers });
    if (answer.status !== 200) return say({ contract, end: answer.status });
    say({ contract, open: true });
    parser.reset();
    try {
      for await (const text of answer.body.pipeThrough(new TextDecoderStream())) parser.feed(text);
    } catch {
      // Cut off: what was read of an event is dropped, as EventSource drops it.
    }
    await sleep(50);
  }
}

await Promise.all(plan().map(follow));
