// What a client is to read, and how it says what it read: one JSON object a line.
import { writeSync } from 'node:fs';

// Streams: contract, url, names (of named events).
export const plan = () => JSON.parse(process.argv[2]);

// Interrupts the newest run, as another client does.
export async function interruptNewest() {
  const { base_url } = plan();
  const { data } = await (await fetch(new URL('/v1/runs', base_url))).json();
  const { status } = await fetch(new URL(`/v1/runs/${data[0].run_id}/interrupt`, base_url), { method: 'POST' });
  if (status !== 202) throw new Error(`the run is not interrupted: ${status}`);
}

export const say = (what) => {
  const line = Buffer.from(`${JSON.stringify(what)}\n`);
  // A pipe may take a part of a long line, or nothing until its reader goes on.
  for (let at = 0; at < line.length; ) {
    try {
      at += writeSync(1, line, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
};
