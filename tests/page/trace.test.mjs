// Three columns: the runner's record, its frames, the events of a contract, and what is wrong with each.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { close, open } from './support/browser.mjs';
import { scrollThrough } from './support/inspect.mjs';
import { Proxy, until } from './support/proxy.mjs';
import { names, recording, RUNNERS } from './support/recordings.mjs';
import { ready, trace } from './support/views.mjs';

after(close);

/** All pages of the trace, as the API has it. */
async function traced(proxy, run, contract) {
  const items = [];
  for (let after = ''; ; ) {
    const page = await proxy.json(`/v1/runs/${run}/trace?contract=${contract}&limit=200${after}`);
    items.push(...page.data);
    if (!page.has_more) return items;
    after = `&after=${page.next_after}`;
  }
}

async function shown(t, runner, bytes, contract, settings = {}) {
  const proxy = await Proxy.start(t, { settings });
  const [run] = await proxy.ingest(runner, bytes);
  const page = await open(t, `${proxy.url}/#/runs/${run}/trace?contract=${contract}`);
  await ready(page, 'trace');
  return { proxy, run, page };
}

test('every frame is beside its record and its events', async (t) => {
  for (const [runner, name] of [['claude-code', 'bash_ok.partial.ndjson'], ['codex', 'exec-command-ok.ndjson'], ['opencode', 'run-bash-ok.ndjson'], ['open-responses', 'scripted__text-valid.sse']]) {
    const { proxy, run, page } = await shown(t, runner, recording(runner, name), 'sse.v1');
    const items = await traced(proxy, run, 'sse.v1');
    const seen = new Map();
    await scrollThrough(page, {
      seen: async () => {
        for (const [place, text] of await page.locator('[data-place]').evaluateAll((cells) => cells.map((cell) => [cell.dataset.place, cell.innerText]))) {
          const [frame, side] = place.split(' ');
          seen.set(`${side} ${frame}`, `${seen.get(`${side} ${frame}`) ?? ''}${text}`);
        }
      },
    });
    for (const { frame, events } of items) {
      assert.ok(seen.get(`frame ${frame.seq}`)?.includes(frame.type), `${name}: frame ${frame.seq} ${frame.type}: ${seen.get(`frame ${frame.seq}`)}`);
      for (const { type } of events) assert.ok(seen.get(`right ${frame.seq}`)?.includes(type), `${name}: event ${type} of frame ${frame.seq}: ${seen.get(`right ${frame.seq}`)}`);
    }
    const records = new Set(items.map(({ record }) => record).filter((record) => record !== null));
    const cells = [...seen.keys()].filter((key) => key.startsWith('left '));
    assert.ok(cells.length >= records.size, `${name}: ${cells.length} cells of ${records.size} records`);
  }
});

test('hovering a cell marks what it came from and what came of it', async (t) => {
  const { proxy, run, page } = await shown(t, 'claude-code', recording('claude-code', 'bash_ok.partial.ndjson'), 'sse.v1');
  const items = await traced(proxy, run, 'sse.v1');
  const { frame, record } = items.find(({ events, record }) => events.length === 1 && record !== null);
  const marked = async () => (await page.locator('.is-hot, .is-related').evaluateAll((cells) => cells.map((cell) => cell.dataset.place))).sort();
  const source = items.find((item) => item.record === record && item.frame.type === 'provider_event').frame.seq;
  const expected = [`${frame.seq} frame 0`, `${frame.seq} right 0`, `${source} left 0`].sort();
  const cell = page.locator(`[data-place="${frame.seq} frame 0"]`);
  await cell.scrollIntoViewIfNeeded();
  await cell.hover();
  await until('the marks', async () => (await marked()).join() === expected.join());
  await page.mouse.move(0, 0);
  await until('no marks', async () => (await marked()).length === 0);
  // The same for the keyboard.
  await cell.focus();
  await until('the marks', async () => (await marked()).join() === expected.join());
  // From the record, all that came of it.
  await page.locator(`[data-place="${source} left 0"]`).hover();
  const all = items.filter((item) => item.record === record).length;
  await until('all frames of the record', async () => (await marked()).filter((place) => place.includes('frame')).length === all);
});

test('what is wrong is marked where it is, with the rule', async (t) => {
  const secret = `ghp_${'Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zA7bC'}`;
  const lines = [
    '{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[],"cwd":"/"}',
    '{this is not json',
    '{"type":"a_type_that_no_runner_has","session_id":"s","x":1}',
    `{"type":"assistant","session_id":"s","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"the token is ${secret}"}]}}`,
    `{"type":"assistant","session_id":"s","message":{"id":"m2","role":"assistant","model":"m","content":[{"type":"text","text":"${'x'.repeat(4000)}"}]}}`,
    '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s"}',
  ];
  const { proxy, run, page } = await shown(t, 'claude-code', lines.join('\n'), 'hecate.v1', { 'ingest.max_record_bytes': 2048 });
  const expected = new Set();
  for (const { findings, events } of await traced(proxy, run, 'hecate.v1')) {
    findings.forEach(({ kind }) => expected.add(kind));
    if (events.some(({ violations }) => violations.length > 0)) expected.add('violation');
  }
  for (const kind of ['invalid_record', 'redaction', 'oversized_record', 'unknown_record']) assert.ok(expected.has(kind), `the trace has ${kind}: ${[...expected]}`);
  const found = new Set();
  await scrollThrough(page, { seen: async () => (await page.locator('[data-finding]').evaluateAll((marks) => marks.map((mark) => mark.dataset.finding.split(' ')))).flat().forEach((kind) => found.add(kind)) });
  for (const kind of expected) assert.ok(found.has(kind), `${kind} is marked: ${[...found]}`);
  assert.ok(!(await page.content()).includes(secret));
});

test('the contract is chosen on the page, and two contracts can be compared', async (t) => {
  const { page } = await shown(t, 'claude-code', recording('claude-code', 'bash_ok.partial.ndjson'), 'sse.v1');
  const choice = page.getByLabel('Right');
  await choice.selectOption('hecate.v1');
  await page.waitForURL(/contract=hecate\.v1/);
  await ready(page, 'trace');
  await page.getByLabel('Left').selectOption('sse.v1');
  await until('events on both sides', async () => (await page.locator('[data-place*=" left "]').count()) > 0 && (await page.locator('[data-place*=" right "]').count()) > 0);
});

test('a contract of the address that does not exist is named until another one is chosen', async (t) => {
  const { page } = await shown(t, 'claude-code', recording('claude-code', 'bash_ok.partial.ndjson'), 'hecate.v99&beside=sse.v99');
  const notes = page.locator('.trace [role=status]').filter({ hasText: 'There is no contract' });
  assert.deepEqual(await notes.allInnerTexts(), [
    'There is no contract hecate.v99; sse.v1 is shown.',
    "There is no contract sse.v99; the runner's records are on the left.",
  ]);
  assert.equal(await page.getByLabel('Right').inputValue(), 'sse.v1');
  assert.ok((await page.locator('[data-place*=" right "]').count()) > 0, 'the events of sse.v1 are shown');
  await page.getByLabel('Right').selectOption('hecate.v1');
  await until('one note', async () => (await notes.count()) === 1);
  await page.getByLabel('Left').selectOption('sse.v1');
  await until('no note', async () => (await notes.count()) === 0);
});

test('the three columns of runs of every runner open in every contract', async (t) => {
  const proxy = await Proxy.start(t);
  const { data } = await proxy.json('/v1/contracts').then((answer) => ({ data: answer.contracts ?? answer.data }));
  const contracts = data.map((contract) => contract.name ?? contract).filter((name) => name !== 'raw');
  assert.ok(contracts.length >= 10, `${contracts}`);
  const page = await open(t, `${proxy.url}/`);
  for (const [index, runner] of RUNNERS.entries()) {
    for (const [at, name] of names(runner).filter((_, number) => number % 12 === 0).entries()) {
      const answer = await proxy.fetch(`/v1/ingest/${runner}`, { method: 'POST', body: recording(runner, name) });
      const [made] = (await answer.json()).runs ?? [];
      if (made) await trace(page, made.run_id, contracts[(index + at) % contracts.length]);
    }
  }
});
