// What a client is to read, and how it says what it read: one JSON object a line.
import { writeSync } from 'node:fs';

// Streams: contract, url, names (of named events).
export const plan = () => JSON.parse(process.argv[2]);

export const say = (what) => writeSync(1, `${JSON.stringify(what)}\n`);
