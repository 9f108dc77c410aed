// What a client is to read, and how it says what it read: one JSON object a line.
import { writeSync } from 'node:fs';

// Streams: contract, url, names (of named events).
export const plan = () => JSON.parse(process.argv[2]);

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
