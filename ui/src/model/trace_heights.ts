// The heights of the rows of a long list, in lines.
//
// In: the number of rows, and the lines of rows as they become known; an unknown row has one line. Out: the line at which a row begins,
// and the row at a line. Both take time for the logarithm of the number of rows (a Fenwick tree of what exceeds one line).

export class Heights {
  #count = 0;
  #extra: Uint32Array = new Uint32Array(0);
  #tree: Float64Array = new Float64Array(1);

  constructor(count = 0) {
    this.resize(count);
  }

  get count(): number {
    return this.#count;
  }

  /** The number of all lines. */
  get total(): number {
    return this.top(this.#count);
  }

  /** Changes the number of rows. Rows that stay keep their lines. */
  resize(count: number): void {
    if (count === this.#count) return;
    if (count < this.#count || count > this.#extra.length) {
      const extra = new Uint32Array(count < this.#count ? count : Math.max(count, this.#extra.length * 2, 64));
      extra.set(this.#extra.subarray(0, Math.min(count, this.#count)));
      this.#extra = extra;
      // Builds the tree in one pass: each node adds itself to its parent.
      const tree = new Float64Array(extra.length + 1);
      for (let node = 1; node <= extra.length; node++) {
        tree[node] = (tree[node] ?? 0) + (extra[node - 1] ?? 0);
        const parent = node + (node & -node);
        if (parent <= extra.length) tree[parent] = (tree[parent] ?? 0) + (tree[node] ?? 0);
      }
      this.#tree = tree;
    }
    this.#count = count;
  }

  lines(row: number): number {
    return 1 + (this.#extra[row] ?? 0);
  }

  /** Sets the lines of a row, at least 1. Returns whether that changed anything. */
  set(row: number, lines: number): boolean {
    if (row < 0 || row >= this.#count) return false;
    const extra = Math.max(1, Math.floor(lines)) - 1;
    const difference = extra - (this.#extra[row] ?? 0);
    if (difference === 0) return false;
    this.#extra[row] = extra;
    for (let node = row + 1; node < this.#tree.length; node += node & -node) this.#tree[node] = (this.#tree[node] ?? 0) + difference;
    return true;
  }

  /** The line at which a row begins: the lines of all rows before it. */
  top(row: number): number {
    const end = Math.min(Math.max(row, 0), this.#count);
    let sum = end;
    for (let node = end; node > 0; node -= node & -node) sum += this.#tree[node] ?? 0;
    return sum;
  }

  /** The row that a line belongs to: the first or the last one for lines outside of the list. */
  rowAt(line: number): number {
    if (this.#count === 0 || line <= 0) return 0;
    let row = 0;
    let rest = Math.floor(line);
    for (let step = 2 ** Math.floor(Math.log2(this.#tree.length)); step >= 1; step /= 2) {
      const next = row + step;
      if (next > this.#count) continue;
      const lines = step + (this.#tree[next] ?? 0);
      if (lines <= rest) {
        row = next;
        rest -= lines;
      }
    }
    return Math.min(row, this.#count - 1);
  }
}
