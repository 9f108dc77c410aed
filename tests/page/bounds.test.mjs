// Input that is large, broken or odd: the page stays usable, and says what it leaves out.
//
// `FRAMEGATE_PAGE_FRAMES` is the number of frames of the longest run (200,000 by default; 1,000,000 takes some minutes).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { close, open } from './support/browser.mjs';
import { ClaudeRun } from './support/claude.mjs';
import { longestTask, scrollThrough, unfold } from './support/inspect.mjs';
import { Proxy, Trickle, sleep, until } from './support/proxy.mjs';
import { checkWidth, connection, conversation, items, ready, runsList, timeline, tools, trace } from './support/views.mjs';

after(close);

const FRAMES = Number(process.env.FRAMEGATE_PAGE_FRAMES ?? 200_000);

/**
 * Fails if the page computes for a second before it answers. The time of its processes counts and not that of the clock, since
 * other programs take their share of the machine.
 */
async function checkResponsive(page, where) {
  const browser = await page.context().browser().newBrowserCDPSession();
  const computed = async () => {
    const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
    return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime * 1000, 0);
  };
  const before = await computed();
  assert.ok(before > 0, 'the browser reports the time of its processes');
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  const took = (await computed()) - before;
  await browser.detach();
  assert.ok(took < 1000, `${where}: the page computes for ${took.toFixed()} ms before it answers`);
}

async function shown(t, bytes, { runner = 'claude-code', settings = {}, ...options } = {}) {
  const proxy = await Proxy.start(t, { settings });
  const [run] = await proxy.ingest(runner, bytes);
  const page = await open(t, `${proxy.url}/#/runs/${run}`, options);
  return { proxy, run, page };
}

test('a run of very many tiny frames opens, and its end is reached', { timeout: FRAMES * 2 }, async (t) => {
  // Two bytes of text in each frame.
  const run = new ClaudeRun();
  const deltas = Array.from({ length: 1000 }, () => 'x ');
  const input = [run.begin()];
  for (let left = FRAMES / 2; left > 0; left -= deltas.length) input.push(...run.pieces(deltas));
  input.push(run.say('The very last answer.'), run.end());
  const settings = { 'limits.max_records_per_run': 10_000_000, 'log.max_bytes': 8 * 2 ** 30 };
  const proxy = await Proxy.start(t, { settings });
  const upload = new Trickle(proxy, 'claude-code');
  for (let at = 0; at < input.length; at += 5000) await upload.write(input.slice(at, at + 5000).join(''));
  assert.equal((await upload.end()).status, 201);
  const [{ run_id: id, frames }] = await proxy.runs();
  t.diagnostic(`${frames} frames`);
  const page = await open(t, `${proxy.url}/#/stats`);
  page.setDefaultTimeout(FRAMES);
  await ready(page, 'stats');
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
  const before = await busy();
  const begun = Date.now();
  const { cpu, wall } = await longestTask(page, async () => {
    await conversation(page, id);
    t.diagnostic(`the conversation opens in ${Date.now() - begun} ms`);
    await connection(page, 'ended').waitFor();
    t.diagnostic(`the conversation is complete in ${Date.now() - begun} ms`);
  });
  t.diagnostic(`the longest task: ${cpu.toFixed()} ms of a processor, within ${wall.toFixed()} ms`);
  assert.ok(cpu < 300, `${cpu} ms: the page answers while it reads`);
  // 100,000 frames are read in two seconds, the proxy's part included, if a processor is free.
  const each = (((await busy()) - before) / frames) * 100_000;
  t.diagnostic(`the page takes ${each.toFixed()} ms of a processor for 100,000 frames`);
  assert.ok(each < 1200, `${each} ms`);
  await checkResponsive(page, 'many frames');
  await page.keyboard.press('Shift+G');
  await page.getByText('The very last answer.').first().waitFor();
  assert.ok((await page.locator('*').count()) < 20_000, 'the document is bounded');
  await timeline(page, id);
  await checkResponsive(page, 'the timeline of many frames');
});

test('a text of 50 MB is cut, says so, and links to the whole', { timeout: 120_000 }, async (t) => {
  const run = new ClaudeRun();
  const line = 'a line of output that a command printed\n';
  const output = line.repeat(Math.ceil((50 << 20) / line.length));
  const { proxy, page, run: id } = await shown(t, run.begin() + run.call('t1', 'Bash', { command: 'yes' }) + run.result('t1', output) + run.end());
  await ready(page, 'conversation');
  await unfold(page);
  await checkResponsive(page, 'a large output');
  const [written] = (await proxy.frames(id)).filter((frame) => frame.type === 'artifact_written');
  const card = tools(page).first();
  const text = await card.innerText();
  assert.ok(text.length < 2_000_000, `${text.length} characters are in the document`);
  if (written) await card.getByRole('link', { name: /download|artifact|whole|full/i }).or(card.getByRole('button', { name: /download|artifact|whole|full/i })).first().waitFor();
  assert.match(text, /52 MB in total, of which 34 MB are stored/);
});

test('an answer of 50 MB does not hang the page', { timeout: 120_000 }, async (t) => {
  const run = new ClaudeRun();
  const text = `# Title\n\n${'A *paragraph* of `text` with [a link](https://example.com).\n\n'.repeat(850_000)}`;
  const { page } = await shown(t, run.begin() + run.say(text.slice(0, 50 << 20)) + run.end());
  page.setDefaultTimeout(60_000);
  await ready(page, 'conversation');
  await items(page, 'text').first().waitFor();
  await checkResponsive(page, 'a large answer');
  assert.ok((await page.locator('*').count()) < 60_000, 'the document is bounded');
  assert.match(await page.locator('.conversation').innerText(), /cut|left out|more|truncated|not shown|first/i);
});

test('500 subagents within each other', async (t) => {
  const run = new ClaudeRun();
  const records = [run.begin()];
  for (let depth = 0; depth < 500; depth += 1) {
    const parent = depth === 0 ? null : `task${depth - 1}`;
    records.push(run.call(`task${depth}`, 'Task', { description: `depth ${depth}`, prompt: `go to ${depth + 1}`, subagent_type: 'general' }, parent));
    records.push(run.within(`task${depth}`, `I am ${depth} deep`));
  }
  for (let depth = 499; depth >= 0; depth -= 1) records.push(run.result(`task${depth}`, `back from ${depth}`, { parent: depth === 0 ? null : `task${depth - 1}` }));
  const { page, run: id } = await shown(t, records.join('') + run.end(), { viewport: { width: 360, height: 740 } });
  await ready(page, 'conversation');
  for (let round = 0; round < 5; round += 1) await unfold(page);
  await checkResponsive(page, 'nested subagents');
  await checkWidth(page, 'nested subagents');
  await timeline(page, id);
  await checkResponsive(page, 'the timeline of nested subagents');
  await trace(page, id, 'sse.v1');
  await checkResponsive(page, 'the columns of nested subagents');
});

test('records that are not JSON can be found', async (t) => {
  const run = new ClaudeRun();
  const broken = ['{"type":', 'plain text', '{"a":1}}', '[1,2', '"', '\u0000\u0001', '{"type":"assistant"', 'NaN', '{"x":\ud800}', '}{'];
  const { page, run: id, proxy } = await shown(t, run.begin() + broken.map((text) => `${text}\n`).join('') + run.end());
  await ready(page, 'conversation');
  await trace(page, id, 'sse.v1');
  const count = (await proxy.frames(id)).filter((frame) => frame.type === 'provider_event' && frame.status === 'invalid_json').length;
  assert.ok(count >= 5, `${count} records are not JSON`);
  const found = new Set();
  await scrollThrough(page, {
    seen: async () => {
      for (const place of await page.locator('[data-finding~=invalid_record]').evaluateAll((marks) => marks.map((mark) => mark.closest('[data-place]').dataset.place.split(' ')[0]))) found.add(place);
    },
  });
  assert.ok(found.size >= count, `${found.size} of ${count} are marked`);
});

test('odd texts, names and directions', async (t) => {
  const run = new ClaudeRun();
  const texts = [
    'half a pair \ud800 here, and there \udc00',
    'שלום עולם, مرحبا بالعالم',
    '\u202eright to left\u202c and \u2066isolated',
    'نص طويل '.repeat(200),
    'a'.repeat(5000),
    '👩‍👩‍👧‍👦 '.repeat(300),
    '\u0000\u0007\u001b[',
    '',
    ' ',
    '\n\n\n',
  ];
  const records = texts.map((text, index) => run.say(text) + run.call(`t${index}`, 'Read', { file_path: `/tmp/line\nbreak\r\n${text.slice(0, 300)}.txt` }) + run.result(`t${index}`, text));
  const { page, run: id } = await shown(t, run.begin() + run.prompt(texts.join('\n')) + records.join('') + run.end(), { viewport: { width: 360, height: 740 } });
  await ready(page, 'conversation');
  await scrollThrough(page, {
    seen: async () => {
      await unfold(page);
      await checkWidth(page, 'odd texts');
    },
  });
  await page.getByText('שלום עולם').first().waitFor({ state: 'attached' });
  // What is around a text is not turned by it.
  const direction = await page.evaluate(() => getComputedStyle(document.querySelector('main')).direction);
  assert.equal(direction, 'ltr');
  for (const visit of [timeline, (page, run) => trace(page, run, 'hecate.v1'), runsList]) {
    await visit(page, id);
    await checkWidth(page, 'odd texts in another view');
  }
});

test('a run without anything, and one that never ends', async (t) => {
  const proxy = await Proxy.start(t);
  const run = new ClaudeRun();
  const input = new Trickle(proxy, 'claude-code');
  await input.write(run.begin());
  const id = await proxy.newRun();
  const page = await open(t, `${proxy.url}/#/runs/${id}`);
  await ready(page, 'conversation');
  await connection(page, 'live').waitFor();
  for (const visit of [timeline, (page, run) => trace(page, run, 'sse.v1'), conversation, runsList, conversation]) await visit(page, id);
  await sleep(500);
  await checkResponsive(page, 'an open run');
  const requests = page.watch.requests.length;
  await sleep(2000);
  assert.ok(page.watch.requests.length - requests < 10, `${page.watch.requests.length - requests} requests in two quiet seconds`);
  await input.write(run.end());
  await input.end();
  await connection(page, 'ended').waitFor();
});

test('a run, a frame, a tool and a view that do not exist are named', async (t) => {
  const proxy = await Proxy.start(t);
  const run = new ClaudeRun();
  const [id] = await proxy.ingest('claude-code', run.begin() + run.say('hello') + run.end());
  const unknown = '00000000-0000-4000-8000-000000000000';
  for (const [route, expected] of [
    [`#/runs/${unknown}`, /no run|not found|does not exist|unknown/i],
    ['#/runs/not-a-uuid', /must be a UUID/],
    [`#/runs/${id}/frame/999999`, /There is no frame 999999: the run has \d+ frames, the last one is \d+\./],
    [`#/runs/${id}/tool/${unknown}`, /This run has no such tool call\./],
    [`#/runs/${id}/trace?contract=none.v9`, /There is no contract none\.v9; sse\.v1 is shown\./],
    [`#/runs/${id}/trace?contract=hecate.v1&beside=none.v9`, /There is no contract none\.v9; the runner's records are on the left\./],
    [`#/runs/${id}/trace?contract=raw`, /The contract raw has no events, only the runner's records; sse\.v1 is shown\./],
    ['#/nowhere', /There is nothing at this address/],
  ]) {
    const page = await open(t, `${proxy.url}/${route}`, { allow: [/Failed to load resource/] });
    await until(`${route}: ${expected}`, async () => expected.test(await page.locator('body').innerText()), 5000);
  }
});

test('a run with very many tools in parallel, and one with very long lines', async (t) => {
  const run = new ClaudeRun();
  const calls = Array.from({ length: 1000 }, (_, index) => run.call(`p${index}`, 'Bash', { command: `echo ${index}` }));
  const results = Array.from({ length: 1000 }, (_, index) => run.result(`p${index}`, `${index} ${'z'.repeat(index === 999 ? 1_000_000 : 10)}`));
  const { page, run: id } = await shown(t, run.begin() + calls.join('') + results.join('') + run.end());
  await ready(page, 'conversation');
  await checkResponsive(page, 'many tools');
  assert.ok((await page.locator('*').count()) < 30_000, 'the document is bounded');
  await timeline(page, id);
  await checkResponsive(page, 'the timeline of many tools');
  assert.ok((await page.locator('*').count()) < 30_000, 'the timeline is bounded');
});
