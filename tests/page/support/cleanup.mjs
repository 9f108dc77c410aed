// What a test undoes when it ends, the latest first: a page is closed before its proxy stops.
const pending = new WeakMap();

/** Runs `undo` at the end of the test. */
export function atEnd(test, undo) {
  const known = pending.get(test);
  if (known) return void known.push(undo);
  const undos = [undo];
  pending.set(test, undos);
  test.after(async () => {
    const errors = [];
    for (const next of undos.reverse()) {
      try {
        await next();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  });
}
