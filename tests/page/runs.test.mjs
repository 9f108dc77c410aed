// The list of runs: what a row says, live changes, filters, search, groups, thousands of runs.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { close, open } from './support/browser.mjs';
import { ClaudeRun } from './support/claude.mjs';
import { longestTask, scrollThrough } from './support/inspect.mjs';
import { Proxy, Trickle, until } from './support/proxy.mjs';
import { names, recording, RUNNERS } from './support/recordings.mjs';
import { ready, runsList } from './support/views.mjs';

after(close);

const whole = (text, { session } = {}) => {
  const run = new ClaudeRun({ ...(session && { session }) });
  return run.begin() + run.prompt(text) + run.say(`Answer to ${text}`) + run.end({ text });
};
const rows = (page) => page.locator('[data-run]').evaluateAll((rows) => rows.map((row) => row.dataset.run));

/** The runs whose rows are drawn while the list is scrolled through. */
async function listed(page) {
  const seen = new Set();
  await scrollThrough(page, { seen: async () => (await rows(page)).forEach((run) => seen.add(run)) });
  return seen;
}

test('runs of all runners are listed with what is known of them', async (t) => {
  const proxy = await Proxy.start(t);
  for (const runner of RUNNERS) {
    for (const name of names(runner).filter((_, index) => index % 4 === 0)) {
      await proxy.fetch(`/v1/ingest/${runner}`, { method: 'POST', body: recording(runner, name) });
    }
  }
  const known = await proxy.runs();
  assert.ok(known.length > 80, `${known.length} runs`);
  const page = await open(t, `${proxy.url}/`);
  await ready(page, 'runs');
  const problems = [];
  const checked = new Set();
  await scrollThrough(page, {
    seen: async () => {
      for (const [run, state, text] of await page.locator('[data-run]').evaluateAll((rows) => rows.map((row) => [row.dataset.run, row.dataset.state, row.innerText]))) {
        const status = known.find(({ run_id: id }) => id === run);
        checked.add(run);
        if (!status) problems.push(`${run} is not a run`);
        else {
          if (status.state !== state) problems.push(`${run}: ${state} instead of ${status.state}`);
          if (!text.includes(status.runner)) problems.push(`${run}: no runner ${status.runner} in ${text}`);
          const title = status.title?.slice(0, 20);
          if (title && !text.includes(title)) problems.push(`${run}: no title ${title} in ${text}`);
          if (status.model && !text.includes(status.model)) problems.push(`${run}: no model ${status.model} in ${text}`);
        }
      }
    },
  });
  assert.deepEqual(problems.slice(0, 10), []);
  assert.deepEqual([...checked].sort(), known.map((run) => run.run_id).sort());
});

test('a run appears, changes and ends while the list is open', async (t) => {
  const proxy = await Proxy.start(t);
  const page = await open(t, `${proxy.url}/#/runs`);
  await ready(page, 'runs');
  const run = new ClaudeRun();
  const input = new Trickle(proxy, 'claude-code');
  await input.write(run.begin() + run.prompt('A prompt that becomes the title'));
  const id = await proxy.newRun();
  const row = page.locator(`[data-run="${id}"]`);
  await row.waitFor();
  assert.equal(await row.getAttribute('data-state'), 'running');
  await row.getByText('A prompt that becomes the title').waitFor();
  await input.write(run.say('ok') + run.end());
  await input.end();
  await page.locator(`[data-run="${id}"][data-state=completed]`).waitFor();
  assert.match((await row.innerText()).replace(/\s+/g, ' '), /0\.25/, 'its cost');
});

test('what waits for an approval stands out', async (t) => {
  const proxy = await Proxy.start(t, { args: ['--demo'] });
  const started = await proxy.json('/v1/runs', { method: 'POST', body: JSON.stringify({ upstream: 'demo', prompt: 'Write a note' }) });
  const page = await open(t, `${proxy.url}/#/runs`);
  const row = page.locator(`[data-run="${started.run_id ?? started.id}"][data-state=waiting_approval]`);
  await row.waitFor();
  assert.match(await row.innerText(), /approv|wait/i);
});

test('filters and search leave what they say', async (t) => {
  const proxy = await Proxy.start(t);
  const [one] = await proxy.ingest('claude-code', whole('Mend the fence'));
  const [other] = await proxy.ingest('claude-code', whole('Paint the door'));
  const [failed] = await proxy.ingest('claude-code', recording('claude-code', 'api_529_exhausted.ndjson'));
  const [codex] = await proxy.ingest('codex', recording('codex', 'exec-command-ok.ndjson'));
  const page = await open(t, `${proxy.url}/#/runs`);
  await ready(page, 'runs');
  const shows = (...runs) => until(`the rows ${runs}`, async () => (await rows(page)).sort().join() === [...runs].sort().join());
  await shows(one, other, failed, codex);
  const search = page.getByRole('searchbox');
  await search.fill('fence');
  await shows(one);
  await search.fill('no run has this');
  await shows();
  await page.getByText(/^no run/i).first().waitFor();
  await search.fill('');
  await page.getByLabel('Runner').selectOption('codex');
  await shows(codex);
  await page.getByLabel('Runner').selectOption({ index: 0 });
  await page.getByLabel('State').selectOption('failed');
  await shows(failed);
  // The address has the filter, so that it can be sent to someone.
  const address = page.url();
  await page.goto('about:blank');
  page.watch.problems = [];
  await page.goto(address);
  await ready(page, 'runs');
  await shows(failed);
});

test('the runs of a session are a group', async (t) => {
  const proxy = await Proxy.start(t);
  const session = 'aaaaaaaa-0000-4000-8000-000000000001';
  const [one] = await proxy.ingest('claude-code', whole('first of the session', { session }));
  const [two] = await proxy.ingest('claude-code', whole('second of the session', { session }));
  const [alone] = await proxy.ingest('claude-code', whole('another session'));
  const page = await open(t, `${proxy.url}/#/runs`);
  await ready(page, 'runs');
  const groups = async () => page.locator('[data-session]').evaluateAll((groups) => groups.map((group) => group.dataset.session));
  await page.getByRole('button', { name: 'By session' }).click();
  await until('a group', async () => (await groups()).length >= 1);
  const { session_id: id } = await proxy.json(`/v1/runs/${one}`);
  assert.ok((await groups()).includes(id));
  const shown = await rows(page);
  // Runs of one session are neighbours.
  assert.equal(Math.abs(shown.indexOf(one) - shown.indexOf(two)), 1, shown.join());
  assert.ok(shown.includes(alone));
});

test('three thousand runs stay smooth', async (t) => {
  const proxy = await Proxy.start(t);
  const COUNT = 3000;
  for (let from = 0; from < COUNT; from += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => proxy.ingest('claude-code', whole(`prompt number ${from + index} z${from + index}z`))));
  }
  const page = await open(t, `${proxy.url}/#/stats`);
  await ready(page, 'stats');
  // The longest time that the page does not answer while it reads the list and is scrolled.
  const { cpu, wall } = await longestTask(page, async () => {
    await runsList(page);
    await page.getByText(/prompt number/).first().waitFor();
    const drawn = (await rows(page)).length;
    assert.ok(drawn < 300, `${drawn} of ${COUNT} rows are in the document`);
    const seen = await listed(page);
    assert.equal(seen.size, COUNT, 'every run is reached');
  });
  t.diagnostic(`the longest task: ${cpu.toFixed()} ms of a processor, within ${wall.toFixed()} ms`);
  assert.ok(cpu < 300, `${cpu} ms`);
  await page.getByRole('searchbox').fill('z1234z');
  await until('the run that is searched for', async () => (await rows(page)).length === 1);
});

test('a click on a row opens its run, and the browser goes back to the list', async (t) => {
  const proxy = await Proxy.start(t);
  const [run] = await proxy.ingest('claude-code', whole('Open me'));
  const page = await open(t, `${proxy.url}/`);
  await ready(page, 'runs');
  await page.locator(`[data-run="${run}"]`).click();
  await ready(page, 'conversation');
  assert.ok(page.url().endsWith(`#/runs/${run}`), page.url());
  await page.goBack();
  await ready(page, 'runs');
});
