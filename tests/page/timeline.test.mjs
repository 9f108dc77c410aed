// The timeline: bars over time, each of which leads to its place in the conversation.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { close, open } from './support/browser.mjs';
import { ClaudeRun } from './support/claude.mjs';
import { Proxy, Trickle, until } from './support/proxy.mjs';
import { names, recording, RUNNERS } from './support/recordings.mjs';
import { bars, ready, timeline } from './support/views.mjs';

after(close);

const drawn = (page) =>
  bars(page).evaluateAll((bars) =>
    bars.map((bar) => {
      const { left, width } = bar.getBoundingClientRect();
      return { row: bar.dataset.row, frame: Number(bar.dataset.frame), group: bar.dataset.bar !== bar.dataset.last, left, width };
    }),
  );

test('turns, tools and subagents of a run are bars', async (t) => {
  const proxy = await Proxy.start(t);
  for (const [runner, name] of [['claude-code', 'subagent.partial.ndjson'], ['codex', 'exec-parallel-commands.ndjson'], ['opencode', 'event-subagent.sse']]) {
    for (const run of await proxy.ingest(runner, recording(runner, name))) {
      const frames = await proxy.frames(run);
      const page = await open(t, `${proxy.url}/#/runs/${run}/timeline`);
      await ready(page, 'timeline');
      // By order, bars that are close in time do not become one.
      await page.getByRole('radio', { name: /order/i }).or(page.getByRole('button', { name: /order/i })).first().click();
      const found = await drawn(page);
      const calls = new Set(frames.filter((frame) => frame.type === 'tool_call_proposed' || frame.type === 'tool_started').map((frame) => frame.tool_id));
      const tools = found.filter((bar) => bar.row === 'tool');
      if (!tools.some((bar) => bar.group)) assert.equal(tools.length, calls.size, `${name}: calls`);
      assert.ok(found.some((bar) => bar.row === 'turn') || !frames.some((frame) => frame.type === 'turn_started'), name);
      const subagents = frames.filter((frame) => frame.type === 'subagent_started');
      assert.ok((await page.locator('.chart-thread').count()) >= subagents.length, `${name}: ${subagents.length} subagents`);
      for (const bar of found) assert.ok(frames.some((frame) => frame.seq === bar.frame), `${name}: the bar leads to frame ${bar.frame}`);
      for (const bar of found) assert.ok(bar.width >= 1, `${name}: a bar of ${bar.width} px cannot be seen`);
    }
  }
});

test('a bar leads to its place in the conversation', async (t) => {
  const proxy = await Proxy.start(t);
  const [run] = await proxy.ingest('claude-code', recording('claude-code', 'parallel_tools.partial.ndjson'));
  const page = await open(t, `${proxy.url}/#/runs/${run}/timeline`);
  await ready(page, 'timeline');
  const frames = await proxy.frames(run);
  const tool = frames.find((frame) => frame.type === 'tool_started').tool_id;
  await page.getByRole('radio', { name: /order/i }).or(page.getByRole('button', { name: /order/i })).first().click();
  await bars(page, 'tool').first().click();
  await page.waitForURL(/\/tool\//);
  assert.ok(frames.some((frame) => frame.tool_id === page.url().split('/').at(-1)), `${page.url()} is a call such as ${tool}`);
  await page.locator(`[data-tool="${page.url().split('/').at(-1)}"]`).waitFor();
});

test('bars are where their times are, and a wait for a person is one', async (t) => {
  const proxy = await Proxy.start(t, { args: ['--demo'] });
  const started = await proxy.json('/v1/runs', { method: 'POST', body: JSON.stringify({ upstream: 'demo', prompt: 'Write a note' }) });
  const run = started.run_id ?? started.id;
  await proxy.status(run, 'waiting', (status) => status.state === 'waiting_approval');
  const page = await open(t, `${proxy.url}/#/runs/${run}/timeline`);
  await ready(page, 'timeline');
  // It grows while it waits.
  const waiting = bars(page, 'wait').first();
  await waiting.waitFor();
  const { pending_approvals: pending } = await proxy.json(`/v1/runs/${run}`);
  const approval = typeof pending[0] === 'string' ? pending[0] : pending[0].approval_id;
  await proxy.json(`/v1/runs/${run}/approvals/${approval}`, { method: 'POST', body: JSON.stringify({ decision: 'approved' }) });
  await proxy.status(run, 'over', (status) => status.state === 'completed');
  await until('the turns are over', async () => (await drawn(page)).filter((bar) => bar.row === 'turn').length >= 2);
  const frames = await proxy.frames(run);
  const time = (seq) => frames.find((frame) => frame.seq === seq).timestamp_ms;
  const ordered = (await drawn(page)).filter((bar) => bar.row === 'turn').sort((one, other) => time(one.frame) - time(other.frame));
  for (const [index, bar] of ordered.entries()) assert.ok(index === 0 || bar.left >= ordered[index - 1].left, 'later turns are further right');
});

test('the timeline grows while a run goes on', async (t) => {
  const proxy = await Proxy.start(t);
  const run = new ClaudeRun();
  const input = new Trickle(proxy, 'claude-code');
  await input.write(run.begin());
  const id = await proxy.newRun();
  const page = await open(t, `${proxy.url}/#/runs/${id}/timeline`);
  await ready(page, 'timeline');
  for (let count = 1; count <= 3; count += 1) {
    await input.write(run.shell(`tool${count}`, 'true', 'ok'));
    await until(`${count} bars`, async () => (await bars(page, 'tool').count()) >= 1 && (await drawn(page)).length >= count);
  }
  await input.write(run.end());
  await input.end();
});

test('the timelines of recorded runs of every runner open', async (t) => {
  const proxy = await Proxy.start(t);
  const page = await open(t, `${proxy.url}/`);
  for (const runner of RUNNERS) {
    for (const name of names(runner).filter((_, index) => index % 9 === 0)) {
      const answer = await proxy.fetch(`/v1/ingest/${runner}`, { method: 'POST', body: recording(runner, name) });
      for (const { run_id: run } of (await answer.json()).runs ?? []) await timeline(page, run);
    }
  }
});
