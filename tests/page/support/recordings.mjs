// The recordings of all runners in tests/fixtures.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '../../fixtures');

/** Names of the runners, which are the folders. */
export const RUNNERS = readdirSync(FIXTURES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

export const recording = (runner, name) => readFileSync(join(FIXTURES, runner, name));

/** What a runner's recordings are: `{files}`. */
export const manifest = (runner) => JSON.parse(recording(runner, 'MANIFEST.json'));

/** The names of a runner's recordings, in order. */
export const names = (runner) =>
  readdirSync(join(FIXTURES, runner), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'MANIFEST.json')
    .map((entry) => entry.name)
    .sort();

/** The records of a template, each with the line ends of its framing. */
const template = (runner, name) =>
  recording(runner, `templates/${name}`)
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line + (line.startsWith('data:') ? '\n\n' : '\n'));

const escaped = (text) => JSON.stringify(text).slice(1, -1);

/** A run with a text wherever the runner's records can have one. */
export function places(runner, text) {
  // Functions, because `$&` in a replacement text has a meaning.
  const fill = (line) => line.replaceAll('{text}', () => escaped(text)).replaceAll('{nested}', () => escaped(escaped(text)));
  return numbered(template(runner, 'places.txt')).map(fill).join('');
}

/** A run that says one text, which arrives in these pieces. */
export function pieces(runner, texts) {
  const lines = template(runner, 'pieces.txt').flatMap((line) => (line.includes('{piece}') ? texts.map((text) => [line, text]) : [[line, '']]));
  const fill = (line, nth) => line.replaceAll('{piece}', () => escaped(lines[nth][1])).replaceAll('{text}', () => escaped(texts.join('')));
  return numbered(lines.map(([line]) => line)).map(fill).join('');
}

/** The records with their numbers: `"{number}"` with its quotes, or `{number}` with twelve digits in a longer string. */
function numbered(lines) {
  return lines.map((line, nth) => line.replaceAll('"{number}"', String(nth)).replaceAll('{number}', String(nth).padStart(12, '0')));
}

/**
 * A recording in which every text has become a hostile one: `change` gets each string value that is not one of the words that the
 * format itself consists of, and its path. Equal strings stay equal, so that what belongs together stays together.
 */
export function changed(runner, name, change) {
  const known = new Map();
  const text = (value, path) => {
    if (!known.has(value)) known.set(value, change(value, path));
    return known.get(value);
  };
  const walk = (value, path) => {
    if (typeof value === 'string') return FORMAT_KEYS.test(path.at(-1)) ? value : text(value, path);
    if (Array.isArray(value)) return value.map((item) => walk(item, path));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key])]));
  };
  const record = (line) => {
    const json = line.startsWith('data:') ? line.slice(5) : line;
    try {
      return line.slice(0, line.length - json.length) + JSON.stringify(walk(JSON.parse(json), []));
    } catch {
      return line;
    }
  };
  const source = recording(runner, name).toString();
  // A document of several lines, such as an export, is one record.
  return name.endsWith('.json') ? record(source) : source.split('\n').map(record).join('\n');
}

/** Keys whose values are words of the formats, ids or encoded bytes. */
const FORMAT_KEYS =
  /^(type|subtype|kind|role|status|method|object|event|id|uuid|.*_id|.*I[dD]|call_id|parent.*|encrypted_content|signature|timestamp|time|data|media_type|mime.*|.*[rR]eason|behavior|phase|source|jsonrpc|version|delta_type|surface|name|tool|tool_name|operation)$/;
