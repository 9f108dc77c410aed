// The part of PromQL that packaging/grafana/framegate.json uses, over scraped metrics. An expression with anything else is an error.
//
// evaluate(expression, scrapes, at) gives the series at the scrape number `at`: [{ labels, value }].
const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|([a-zA-Z_:][\w:]*)|(\{[^}]*\})|\[([^\]]+)\]|([()*/>,]))/y;
const AGGREGATES = new Set(['sum', 'max', 'min']);

/** The samples of a scrape in the text format: name -> [{ labels, value }]. */
export function parseMetrics(text) {
  const found = new Map();
  for (const line of text.split('\n')) {
    const [, name, labels, value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    if (!name) continue;
    const pairs = [...(labels ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, word]) => [key, word]);
    if (!found.has(name)) found.set(name, []);
    found.get(name).push({ labels: Object.fromEntries(pairs), value: Number(value) });
  }
  return found;
}

export function evaluate(expression, scrapes, at) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.trimEnd().length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(expression);
    if (!match) throw new Error(`cannot read ${expression.slice(from)}`);
    tokens.push(match);
  }
  const parser = { tokens, next: 0, scrapes, at };
  const result = binary(parser);
  if (parser.next !== tokens.length) throw new Error(`${expression} goes on after its end`);
  return result;
}

const punctuation = (parser) => parser.tokens[parser.next]?.[5];

function expect(parser, sign) {
  if (punctuation(parser) !== sign) throw new Error(`${sign} is missing`);
  parser.next += 1;
}

function binary(parser) {
  let left = term(parser);
  while (['*', '/', '>'].includes(punctuation(parser))) {
    const sign = punctuation(parser);
    parser.next += 1;
    left = applied(sign, left, term(parser));
  }
  return left;
}

function applied(sign, left, right) {
  if (sign === '*' && typeof left === 'number') return right.map((series) => ({ ...series, value: left * series.value }));
  if (sign === '>' && typeof right === 'number') return left.filter(({ value }) => value > right);
  if (sign === '/' && Array.isArray(left) && Array.isArray(right)) {
    const others = new Map(right.map(({ labels, value }) => [JSON.stringify(labels), value]));
    const both = left.filter(({ labels }) => others.has(JSON.stringify(labels)));
    return both.map(({ labels, value }) => ({ labels, value: value / others.get(JSON.stringify(labels)) }));
  }
  throw new Error(`unknown operation ${sign}`);
}

function term(parser) {
  const [, number, word] = parser.tokens[parser.next] ?? [];
  if (number) return (parser.next += 1, Number(number));
  if (punctuation(parser) === '(') return group(parser, binary);
  if (!word) throw new Error('a term is missing');
  parser.next += 1;
  if (AGGREGATES.has(word)) return aggregate(word, parser);
  if (word === 'topk') {
    const [most, series] = group(parser, pair);
    return series.toSorted((one, other) => other.value - one.value).slice(0, most);
  }
  if (word === 'histogram_quantile') return quantiles(...group(parser, pair));
  if (word === 'rate' || word === 'increase') return group(parser, (inner) => change(word, inner));
  return samples(parser.scrapes[parser.at], word, matchers(parser));
}

/** The exact matchers of a selector. A matcher with a variable of the dashboard matches everything. */
function matchers(parser) {
  const text = parser.tokens[parser.next]?.[3];
  if (!text) return [];
  parser.next += 1;
  return text.slice(1, -1).split(',').flatMap((matcher) => {
    const [, name, sign, value] = /^(\w+)(=~?)"([^"]*)"$/.exec(matcher.trim()) ?? [];
    if (sign === '=') return [[name, value]];
    if (sign === '=~' && value.startsWith('$')) return [];
    throw new Error(`unknown matcher ${matcher}`);
  });
}

function samples(scrape, name, matching) {
  const all = scrape.metrics.get(name) ?? [];
  return all.filter(({ labels }) => matching.every(([key, value]) => labels[key] === value));
}

function group(parser, read) {
  expect(parser, '(');
  const inner = read(parser);
  expect(parser, ')');
  return inner;
}

function pair(parser) {
  const first = binary(parser);
  expect(parser, ',');
  return [first, binary(parser)];
}

/** A counter's change over a range: `$__rate_interval` is 15 seconds here, a longer range begins with the first scrape. */
function change(kind, parser) {
  const name = parser.tokens[parser.next][2];
  parser.next += 1;
  const matching = matchers(parser);
  const range = parser.tokens[parser.next]?.[4];
  if (!range) throw new Error(`${kind} wants a range`);
  parser.next += 1;
  const { scrapes, at } = parser;
  const since = range === '$__rate_interval' ? scrapes[at].time - 15_000 : 0;
  const from = scrapes.findIndex(({ time }) => time >= since);
  const before = new Map(samples(scrapes[from], name, matching).map(({ labels, value }) => [JSON.stringify(labels), value]));
  const seconds = Math.max((scrapes[at].time - scrapes[from].time) / 1000, 1);
  return samples(scrapes[at], name, matching).map(({ labels, value }) => {
    const grown = value - (before.get(JSON.stringify(labels)) ?? 0);
    return { labels, value: kind === 'rate' ? grown / seconds : grown };
  });
}

function aggregate(kind, parser) {
  let names = [];
  if (parser.tokens[parser.next]?.[2] === 'by') {
    parser.next += 1;
    expect(parser, '(');
    while (punctuation(parser) !== ')') {
      if (punctuation(parser) === ',') parser.next += 1;
      names.push(parser.tokens[parser.next][2]);
      parser.next += 1;
    }
    expect(parser, ')');
  }
  const groups = new Map();
  for (const { labels, value } of group(parser, binary)) {
    const kept = Object.fromEntries(names.filter((name) => name in labels).map((name) => [name, labels[name]]));
    const key = JSON.stringify(kept);
    const known = groups.get(key)?.value;
    const joined = { sum: (known ?? 0) + value, max: Math.max(known ?? -Infinity, value), min: Math.min(known ?? Infinity, value) };
    groups.set(key, { labels: kept, value: joined[kind] });
  }
  return [...groups.values()];
}

function quantiles(q, buckets) {
  const groups = new Map();
  for (const { labels: { le, ...labels }, value } of buckets) {
    const key = JSON.stringify(labels);
    if (!groups.has(key)) groups.set(key, { labels, bounds: [] });
    groups.get(key).bounds.push([le === '+Inf' ? Infinity : Number(le), value]);
  }
  return [...groups.values()].flatMap(({ labels, bounds }) => {
    bounds.sort(([one], [other]) => one - other);
    const wanted = q * bounds.at(-1)[1];
    if (!(wanted > 0)) return [];
    const at = bounds.findIndex(([, count]) => count >= wanted);
    const [low, below] = bounds[at - 1] ?? [0, 0];
    const [high, count] = bounds[at];
    const value = high === Infinity ? low : low + ((high - low) * (wanted - below)) / (count - below);
    return [{ labels, value }];
  });
}
