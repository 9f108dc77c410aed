// The heights of the rows of a long list: measured ones, and guesses for the rest.
//
// Rows are known by key. Offsets and positions cost O(log n) (a Fenwick tree); a change at the end costs the same, any other change of the
// rows costs O(n).

export class Heights {
  #keys: string[] = [];
  #values = new Float64Array(64);
  #tree = new Float64Array(65);
  readonly #measured = new Map<string, number>();
  /** Made when a row is not where it was expected: for a million rows that takes a second, and most lists never need it. */
  #indexes: Map<string, number> | undefined;

  get count(): number {
    return this.#keys.length;
  }

  get total(): number {
    return this.offset(this.#keys.length);
  }

  keyAt(index: number): string | undefined {
    return this.#keys[index];
  }

  /** Where a row is; `expected`: where it was, which is looked at first. */
  indexOf(key: string, expected = -1): number | undefined {
    if (this.#keys[expected] === key) return expected;
    this.#indexes ??= new Map(this.#keys.map((known, index) => [known, index]));
    return this.#indexes.get(key);
  }

  /** Takes over the rows of a list. `isAppended`: those that are known are still the first ones. */
  sync(count: number, key: (index: number) => string, guess: (index: number) => number, isAppended: boolean): void {
    let from = isAppended && count >= this.#keys.length ? this.#keys.length : 0;
    if (from === 0) {
      this.#keys = [];
      this.#indexes = undefined;
    }
    if (count > this.#values.length) {
      const values = new Float64Array(Math.max(count, this.#values.length * 2));
      values.set(this.#values);
      this.#values = values;
      from = this.#rebuildFrom(from, count, key, guess);
    } else if (from === 0) {
      from = this.#rebuildFrom(0, count, key, guess);
    }
    for (let index = from; index < count; index += 1) this.#push(index, key(index), guess(index));
  }

  /** Takes over a measurement; the result is the change. */
  measure(index: number, height: number): number {
    const key = this.#keys[index];
    const before = this.#values[index];
    if (key === undefined || before === undefined) return 0;
    this.#measured.set(key, height);
    const change = height - before;
    if (change === 0) return 0;
    this.#values[index] = height;
    for (let node = index + 1; node < this.#tree.length; node += node & -node) this.#tree[node] = (this.#tree[node] ?? 0) + change;
    return change;
  }

  /** Forgets all measurements, as when the width changed. Rows keep their heights until they are measured again. */
  forget(): void {
    this.#measured.clear();
  }

  height(index: number): number {
    return index < this.#keys.length ? (this.#values[index] ?? 0) : 0;
  }

  /** Where a row begins. */
  offset(index: number): number {
    let sum = 0;
    for (let node = Math.min(index, this.#keys.length); node > 0; node -= node & -node) sum += this.#tree[node] ?? 0;
    return sum;
  }

  /** The row at an offset; the last one for an offset beyond it. */
  indexAt(offset: number): number {
    let node = 0;
    let rest = Math.max(0, offset);
    let step = 1;
    while (step * 2 < this.#tree.length) step *= 2;
    for (; step > 0; step = Math.floor(step / 2)) {
      const next = node + step;
      const sum = this.#tree[next];
      if (sum === undefined || next > this.#keys.length || sum > rest) continue;
      node = next;
      rest -= sum;
    }
    return Math.max(0, Math.min(node, this.#keys.length - 1));
  }

  #push(index: number, key: string, guess: number): void {
    const height = this.#measured.get(key) ?? guess;
    this.#keys.push(key);
    this.#indexes?.set(key, index);
    this.#values[index] = height;
    // A new node's sum is that of its children, which are complete.
    const node = index + 1;
    let sum = height;
    for (let child = 1; child < (node & -node); child *= 2) sum += this.#tree[node - child] ?? 0;
    this.#tree[node] = sum;
  }

  /** All rows anew, with a tree that has room; the result is how many are done. */
  #rebuildFrom(from: number, count: number, key: (index: number) => string, guess: (index: number) => number): number {
    const known = from;
    const tree = new Float64Array(this.#values.length + 1);
    tree.set(this.#tree.subarray(0, known + 1));
    this.#tree = tree;
    for (let index = known; index < count; index += 1) this.#push(index, key(index), guess(index));
    return count;
  }
}
