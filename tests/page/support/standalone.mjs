// Runs a program that is not a test with the helpers of the tests: what they started is ended when the program is over.
import { close } from './browser.mjs';

/** `work(test)`: `test` stands for the test of a program, with `after` and `diagnostic`. */
export async function standalone(work) {
  const undos = [];
  try {
    await work({ after: (undo) => undos.push(undo), diagnostic: (text) => console.log(text) });
  } finally {
    for (const undo of undos.reverse()) await undo();
    await close();
  }
}
