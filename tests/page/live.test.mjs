// A run that is read while it happens: slow input, cut connections, restarted proxies. No line is shown twice, none is missing.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { close, FAILED_REQUESTS, open } from './support/browser.mjs';
import { ClaudeRun } from './support/claude.mjs';
import { folder, Proxy, sleep, Trickle, until } from './support/proxy.mjs';
import { Relay } from './support/relay.mjs';
import { connection, ready, tools } from './support/views.mjs';

after(close);

const mark = (number) => `<<${String(number).padStart(4, '0')}>>`.replaceAll('<', '(').replaceAll('>', ')');

/** Lines that a test recognises: an answer in pieces, each with a number of its own. */
const numbered = (from, to) => Array.from({ length: to - from }, (_, index) => `${mark(from + index)} line of text with some words\n\n`);

/** Fails unless the numbers up to `count` are on the page exactly once, in order. */
async function checkNumbers(page, count) {
  const numbers = async () => {
    const text = await page.locator('.conversation').innerText();
    return [...text.matchAll(/\(\((\d{4})\)\)/g)].map((match) => Number(match[1]));
  };
  const expected = Array.from({ length: count }, (_, index) => index);
  await until(`${count} numbers`, async () => (await numbers()).length >= count).catch(() => {});
  // A doubled one may arrive late.
  await sleep(300);
  assert.deepEqual(await numbers(), expected);
}

/** A proxy that keeps its log on disk, and tells clients to reconnect soon. */
async function durable(t) {
  const path = join(await folder(t), 'log.sqlite');
  return Proxy.start(t, { settings: { 'log.kind': 'sqlite', 'log.path': path, 'server.sse_retry_ms': 100 } });
}

async function follow(t, proxy, url, options) {
  const run = new ClaudeRun();
  const input = new Trickle(proxy, 'claude-code');
  await input.write(run.begin());
  const id = await proxy.newRun();
  const page = await open(t, `${url}/#/runs/${id}`, options);
  await ready(page, 'conversation');
  return { run, input, id, page };
}

test('bytes that trickle in appear once, in order, before the run ends', async (t) => {
  const proxy = await Proxy.start(t);
  const { run, input, page } = await follow(t, proxy, proxy.url);
  const records = run.pieces(numbered(0, 30));
  // Some bytes at a time: records, lines and characters are cut.
  await input.trickle(records.slice(0, 20).join(''), 61, 1);
  await page.getByText(mark(10)).waitFor();
  await connection(page, 'live').waitFor();
  await input.trickle(records.slice(20).join(''), 97, 1);
  await checkNumbers(page, 30);
  await input.write(run.end());
  assert.equal((await input.end()).status, 201);
  await connection(page, 'ended').waitFor();
  await checkNumbers(page, 30);
});

test('shell output appears while the command runs', async (t) => {
  const proxy = await Proxy.start(t, { args: ['--demo'] });
  const page = await open(t, `${proxy.url}/`);
  await ready(page, 'runs');
  // A recording of the demo prints while it runs: its card is there before its run ends.
  const run = await until('a command', async () => {
    for (const { run_id: run } of await proxy.runs()) {
      const frames = await proxy.frames(run);
      if (frames.some((frame) => frame.type === 'tool_started')) return run;
    }
    return undefined;
  });
  await page.goto(`${proxy.url}/#/runs/${run}`);
  await tools(page).first().waitFor();
});

test('a cut connection costs no line and doubles none', async (t) => {
  const proxy = await durable(t);
  const relay = await Relay.to(t, proxy);
  const { run, input, page } = await follow(t, proxy, relay.url, { allow: FAILED_REQUESTS });
  const records = run.pieces(numbered(0, 60));
  const count = { sent: 0 };
  for (const record of records) {
    await input.write(record);
    count.sent += 1;
    await sleep(15);
    if ([12, 25, 26, 40].includes(count.sent)) relay.cut();
  }
  await checkNumbers(page, 60);
  assert.ok(relay.cuts >= 4, `${relay.cuts} connections were cut`);

  // The proxy cannot be reached for a while; the page says so.
  relay.refuse(true);
  relay.cut();
  await connection(page, 'reconnecting').waitFor();
  await page.getByText(/connection .* lost/i).first().waitFor();
  for (const record of run.pieces(numbered(60, 80))) await input.write(record);
  await sleep(500);
  relay.refuse(false);
  await checkNumbers(page, 80);
  assert.equal(await connection(page, 'live').count(), 1);
  await input.write(run.end());
  await input.end();
  await connection(page, 'ended').waitFor();
});

test('a proxy that restarts on the same port goes on with its log', async (t) => {
  const proxy = await durable(t);
  const { run, input, id, page } = await follow(t, proxy, proxy.url, { allow: FAILED_REQUESTS });
  for (const record of run.pieces(numbered(0, 25))) await input.write(record);
  await page.getByText(mark(24)).waitFor();
  await proxy.stop('SIGKILL');
  await connection(page, 'reconnecting').waitFor();
  await page.getByText(/connection .* lost/i).first().waitFor();
  await sleep(300);
  await proxy.restart();
  // The recovered proxy closes the run, because its runner cannot be reached any more.
  await connection(page, 'ended').waitFor();
  await checkNumbers(page, 25);
  const status = await proxy.json(`/v1/runs/${id}`);
  assert.equal(status.state, 'interrupted');
});

test('the list of runs goes on after a restart', async (t) => {
  const proxy = await durable(t);
  const whole = (text) => {
    const run = new ClaudeRun();
    return run.begin() + run.prompt(text) + run.say(text) + run.end({ text });
  };
  const [first] = await proxy.ingest('claude-code', whole('before'));
  const page = await open(t, `${proxy.url}/#/runs`, { allow: FAILED_REQUESTS });
  await page.locator(`[data-run="${first}"]`).waitFor();
  await proxy.stop('SIGKILL');
  await sleep(300);
  await proxy.restart();
  const [second] = await proxy.ingest('claude-code', whole('after'));
  await page.locator(`[data-run="${second}"]`).waitFor();
  for (const run of [first, second]) assert.equal(await page.locator(`[data-run="${run}"]`).count(), 1);
});

test('the page follows at the tail until the reader scrolls up', async (t) => {
  const proxy = await Proxy.start(t);
  const { run, input, page } = await follow(t, proxy, proxy.url);
  for (const record of run.pieces(numbered(0, 80))) await input.write(record);
  await page.getByText(mark(79)).waitFor();
  const isVisible = (text) =>
    page.evaluate((text) => {
      const found = document.evaluate(`//*[contains(text(), '${text}')]`, document, null, 9).singleNodeValue?.getBoundingClientRect();
      return Boolean(found) && found.bottom > 0 && found.top < innerHeight;
    }, text);
  await until('the tail', () => isVisible(mark(79)));
  await page.mouse.move(640, 400);
  await page.mouse.wheel(0, -1500);
  await until('the reader is not at the tail', async () => !(await isVisible(mark(79))));
  for (const record of run.pieces(numbered(80, 120))) await input.write(record);
  await sleep(600);
  assert.equal(await isVisible(mark(119)), false, 'the page must stay where the reader is');
  await page.mouse.wheel(0, 100_000);
  await until('the end', () => isVisible(mark(119)));
  for (const record of run.pieces(numbered(120, 140))) await input.write(record);
  await until('the tail is followed again', () => isVisible(mark(139)));
});

test('frames that were dropped are announced', async (t) => {
  const proxy = await Proxy.start(t, { settings: { 'log.run_max_frames': 50 } });
  const run = new ClaudeRun();
  const [id] = await proxy.ingest('claude-code', [run.begin(), ...run.pieces(numbered(0, 300)), run.end()].join(''));
  const page = await open(t, `${proxy.url}/#/runs/${id}`);
  await ready(page, 'conversation');
  const { pruned_frames: pruned } = await proxy.json(`/v1/runs/${id}`);
  assert.ok(pruned > 0);
  await page.getByRole('status').getByText(`${pruned.toLocaleString('en')} frames of this run are no longer stored`).waitFor();
});

test('a call is readable while the model writes it', async (t) => {
  const proxy = await Proxy.start(t);
  const run = new ClaudeRun();
  const input = new Trickle(proxy, 'claude-code');
  await input.write(run.begin());
  const id = await proxy.newRun();
  const page = await open(t, `${proxy.url}/#/runs/${id}`);
  await ready(page, 'conversation');
  let index = -1;
  const begin = (name) => {
    index += 1;
    return run.event({ type: 'content_block_start', index, content_block: { type: 'tool_use', id: `call${index}`, name, input: {} } });
  };
  const piece = (text) => run.event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: text } });
  await input.write(run.event({ type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1, output_tokens: 1 } } }));

  await input.write(begin('Bash') + piece('{"command": "cargo te'));
  const shell = tools(page, 'shell', 'writing').first();
  await shell.getByText(/^cargo te$/).first().waitFor();
  await input.write(piece('st --all \\"a b\\" \\'));
  await shell.getByText(/^cargo test --all "a b"$/).first().waitFor();
  assert.doesNotMatch(await shell.innerText(), /[{}]|command/);

  await input.write(begin('Write') + piece('{"file_path": "/workspace/src/ma'));
  const write = tools(page, 'write', 'writing').first();
  await write.getByText('/workspace/src/ma', { exact: true }).waitFor();
  await input.write(piece('in.rs", "content": "fn main() {\\n    println!(\\"hel'));
  await write.locator('.code').getByText('println!("hel').waitFor();
  assert.doesNotMatch(await write.innerText(), /file_path|\\n/);
  // A tool of which nothing is known has its arguments by name, and texts that are no JSON stay as they are.
  await input.write(begin('mcp__files__move') + piece('{"from": "a.txt", "to": {"folder": "<b>arch'));
  const other = tools(page, 'mcp', 'writing').first();
  await other.getByText(/files · move/).waitFor();
  await other.getByText(/from: a\.txt/).waitFor();
  await input.end();
});
