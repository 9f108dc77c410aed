// The conversation of runs of all runners.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { close, open } from './support/browser.mjs';
import { ClaudeRun } from './support/claude.mjs';
import { checkDocument, scrollThrough, unfold } from './support/inspect.mjs';
import { Proxy, Trickle, until } from './support/proxy.mjs';
import { names, recording, RUNNERS } from './support/recordings.mjs';
import { connection, conversation, items, letters, ready, tools } from './support/views.mjs';

after(close);

async function shown(t, runner, name) {
  const proxy = await Proxy.start(t);
  const [run] = await proxy.ingest(runner, recording(runner, name));
  const page = await open(t, `${proxy.url}/#/runs/${run}`);
  await conversation(page, run);
  return { page, proxy, run, view: page.locator('.conversation') };
}

/** Each which recording is looked at; 1 for all of them, which takes some minutes. */
const EVERY = Number(process.env.FRAMEGATE_PAGE_EVERY ?? 6);

test('recorded runs of every runner are shown with all that was said', async (t) => {
  const proxy = await Proxy.start(t);
  const page = await open(t, `${proxy.url}/`);
  const missing = [];
  let checked = 0;
  for (const runner of RUNNERS) {
    for (const name of names(runner).filter((_, index) => index % EVERY === 0)) {
      const answer = await proxy.fetch(`/v1/ingest/${runner}`, { method: 'POST', body: recording(runner, name) });
      for (const { run_id: run } of (await answer.json()).runs ?? []) {
        await conversation(page, run);
        let seen = '';
        await scrollThrough(page, {
          seen: async () => {
            await unfold(page);
            seen += letters(await page.locator('.conversation').innerText());
          },
        });
        const texts = (await proxy.frames(run)).flatMap((frame) => {
          if (frame.type === 'output_text_completed') return [frame.text];
          return frame.type === 'user_message' ? [frame.text ?? ''] : [];
        });
        for (const text of texts) {
          const plain = letters(text.replace(/\]\([^)]*\)/g, '')).slice(0, 60);
          if (!seen.includes(plain)) missing.push(`${runner}/${name}: ${text.slice(0, 80)}`);
        }
        checked += 1;
      }
    }
  }
  t.diagnostic(`${checked} runs`);
  assert.ok(checked > 300 / EVERY, `${checked} runs`);
  assert.deepEqual(missing, []);
});

test('prompts, answers and reasoning are told apart', async (t) => {
  const { page } = await shown(t, 'claude-code', 'multi_turn_replay.partial.ndjson');
  assert.ok((await items(page, 'prompt').count()) >= 1);
  assert.ok((await items(page, 'text').count()) >= 1);
  const thought = await shown(t, 'claude-code', 'thinking_text.partial.ndjson');
  const reasoning = items(thought.page, 'reasoning').first();
  const text = (await thought.proxy.frames(thought.run)).find((frame) => frame.type === 'reasoning_completed').text;
  assert.equal(await reasoning.locator('.reasoning-text').count(), 0, 'reasoning is folded');
  await reasoning.getByRole('button').first().click();
  assert.ok(letters(await reasoning.innerText()).includes(letters(text)));
});

test('answers are markdown, and code is highlighted', async (t) => {
  const proxy = await Proxy.start(t);
  const run = new ClaudeRun();
  const text = [
    '# Title',
    'A *word*, a **strong one**, `code`, ~~gone~~, and [a link](https://example.com/page "title").',
    '- one\n- two\n  - nested\n\n1. first\n2. second',
    '| a | b |\n|---|--:|\n| 1 | 2 |',
    '```rust\nfn main() { let text = "hello"; } // comment\n```',
    '> quoted\n\n---\n\n- [x] done\n- [ ] open',
  ].join('\n\n');
  const [id] = await proxy.ingest('claude-code', [run.begin(), run.say(text), run.end({ text })].join(''));
  const page = await open(t, `${proxy.url}/#/runs/${id}`);
  await conversation(page, id);
  const answer = items(page, 'text').first();
  const counts = { 'em': 1, 'strong': 1, 'del, s': 1, 'table': 1, 'td': 2, 'blockquote': 1, 'pre code': 1, 'ol > li': 2 };
  for (const [selector, count] of Object.entries(counts)) assert.equal(await answer.locator(selector).count(), count, selector);
  assert.equal(await answer.locator('h1, h2, h3, h4, h5, h6, [role=heading]').first().innerText(), 'Title');
  assert.ok((await answer.locator('pre code span').count()) > 3, 'the code is highlighted');
  const colours = await answer.locator('pre code span').evaluateAll((spans) => new Set(spans.map((span) => getComputedStyle(span).color)).size);
  assert.ok(colours >= 3, `${colours} colours`);
  const link = answer.getByRole('link', { name: 'a link' });
  assert.equal(await link.getAttribute('href'), 'https://example.com/page');
  assert.match(await link.getAttribute('rel'), /noopener/);
  await checkDocument(page, 'markdown');
});

test('a shell command has its output, its exit code and its colours', async (t) => {
  const failed = await shown(t, 'claude-code', 'bash_fail.partial.ndjson');
  const card = tools(failed.page, 'shell', 'failed').first();
  await card.waitFor();
  await unfold(failed.page);
  const ended = (await failed.proxy.frames(failed.run)).find((frame) => frame.type === 'tool_ended' || frame.type === 'tool_failed');
  if (ended.exit_code) assert.match(await card.innerText(), new RegExp(`\\b${ended.exit_code}\\b`));

  const coloured = await shown(t, 'claude-code', 'bash_unicode_ansi.partial.ndjson');
  await unfold(coloured.page);
  const text = await tools(coloured.page, 'shell').first().locator('.output').innerText();
  assert.doesNotMatch(text, /\u001b|\[\d+m/);
  const colours = await tools(coloured.page, 'shell').locator('span').evaluateAll((spans) => new Set(spans.map((span) => getComputedStyle(span).color)).size);
  assert.ok(colours >= 2, 'the escapes became colours');
});

test('an edit is a diff', async (t) => {
  for (const [runner, name] of [['claude-code', 'edit_file.partial.ndjson'], ['codex', 'appserver-filechange-approval.ndjson'], ['opencode', 'run-edit.ndjson']]) {
    const { page, view, proxy, run } = await shown(t, runner, name);
    await unfold(page);
    const diff = view.locator('.diff').first();
    await diff.waitFor();
    const lines = diff.locator('.diff-add, .diff-delete');
    assert.ok((await lines.count()) >= 1, `${name}: lines of a diff`);
    const unified = await lines.count();
    // The other way to look at it has the same lines.
    await view.getByRole('button', { name: /side by side|unified/i }).first().click();
    assert.ok((await diff.locator('.diff-add, .diff-delete').count()) >= unified, `${name}: the other form`);
    const changed = (await proxy.frames(run)).find((frame) => frame.type === 'file_changed' || frame.type === 'artifact_written');
    const path = changed?.path ?? changed?.name;
    if (path) assert.ok((await view.innerText()).includes(path.split('/').at(-1)), `${name}: ${path}`);
  }
});

test('each kind of tool has its card', async (t) => {
  for (const [runner, name, kind] of [
    ['claude-code', 'read_file.partial.ndjson', 'read'],
    ['claude-code', 'write_file.partial.ndjson', 'write'],
    ['claude-code', 'grep.ndjson', 'search'],
    ['claude-code', 'mcp_tool.partial.ndjson', 'mcp'],
    ['claude-code', 'websearch_tool.partial.ndjson', 'search'],
    ['codex', 'exec-mcp-ok.ndjson', 'mcp'],
    ['opencode', 'run-webfetch.ndjson', 'fetch'],
  ]) {
    const proxy = await Proxy.start(t);
    const [run] = await proxy.ingest(runner, recording(runner, name));
    const called = (await proxy.frames(run)).filter((frame) => frame.type === 'tool_call_proposed');
    const page = await open(t, `${proxy.url}/#/runs/${run}`);
    await conversation(page, run);
    for (const frame of called) {
      const card = page.locator(`[data-tool="${frame.tool_id}"]`).first();
      await card.waitFor();
      assert.equal(await card.getAttribute('data-kind'), frame.kind, name);
      assert.ok((await card.getAttribute('aria-label')).includes(frame.name), `${name}: the card has the name ${frame.name}`);
    }
    assert.ok(called.some((frame) => frame.kind === kind), `${name} has a tool of kind ${kind}: ${called.map((frame) => frame.kind)}`);
  }
});

test('a subagent is a conversation within the conversation, and a list of tasks a checklist', async (t) => {
  const { page, view } = await shown(t, 'claude-code', 'subagent.partial.ndjson');
  await unfold(page);
  const nested = view.locator('.item.depth-1');
  await nested.locator('[data-tool]').first().waitFor();
  // It can be opened alone.
  await tools(page, 'subagent').getByRole('link', { name: /alone/i }).first().click();
  await page.locator('[data-view=tool]').waitFor();
  await tools(page).first().waitFor();
  for (const name of ['codex/exec-todo.ndjson', 'opencode/run-todo.ndjson']) {
    const [runner, file] = name.split('/');
    const todo = await shown(t, runner, file);
    await unfold(todo.page);
    const plan = (await todo.proxy.frames(todo.run)).filter((frame) => frame.type === 'plan_updated').at(-1);
    for (const { content: text } of plan.entries) {
      assert.ok((await todo.view.innerText()).includes(text), `${name}: ${text}`);
    }
  }
});

test('images are shown, and large outputs link to the whole artifact', async (t) => {
  const { page, view } = await shown(t, 'claude-code', 'read_image.partial.ndjson');
  await unfold(page);
  const image = view.locator('img').first();
  await image.waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll('[data-view=conversation] img')].some((image) => image.naturalWidth > 0));

  const proxy = await Proxy.start(t);
  const run = new ClaudeRun();
  const output = Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`).join('');
  const [id] = await proxy.ingest('claude-code', run.begin() + run.shell('t1', 'seq', output) + run.end());
  const large = await open(t, `${proxy.url}/#/runs/${id}`, { allow: [/^download: blob:/] });
  await conversation(large, id);
  await unfold(large);
  const card = tools(large, 'shell').first();
  const download = large.waitForEvent('download');
  await card.getByRole('link', { name: /download|artifact|whole|full/i }).or(card.getByRole('button', { name: /download|artifact|whole|full/i })).first().click();
  const stream = await (await download).createReadStream();
  let text = '';
  for await (const piece of stream) text += piece;
  assert.equal(text, output);
});

test('failures, retries and usage are where they happened', async (t) => {
  const failed = await shown(t, 'claude-code', 'api_529_exhausted.ndjson');
  await items(failed.page, 'error').first().waitFor();
  const reported = (await failed.proxy.frames(failed.run)).filter((frame) => frame.type === 'error_reported');
  assert.ok((await failed.view.innerText()).includes(reported.at(-1).message.split('\n')[0]));
  const retried = await shown(t, 'claude-code', 'api_429_then_ok.partial.ndjson');
  const order = await items(retried.page).evaluateAll((items) => items.map((item) => item.dataset.item));
  assert.ok(order.includes('error') && order.lastIndexOf('text') > order.indexOf('error'), order.join());
  const used = await shown(t, 'claude-code', 'usage_cache.partial.ndjson');
  await items(used.page, 'turn').first().waitFor();
  const status = await used.proxy.json(`/v1/runs/${used.run}`);
  const tokens = status.usage?.output_tokens ?? status.output_tokens;
  if (tokens !== undefined) assert.match((await used.page.locator('body').innerText()).replaceAll(/[,\u202f\u00a0 ]/g, ''), new RegExp(`${tokens}`));
});

test('a link to a frame or to a tool leads to its place', async (t) => {
  const proxy = await Proxy.start(t);
  const run = new ClaudeRun();
  const lines = [run.begin()];
  for (let step = 0; step < 120; step += 1) lines.push(run.say(`Answer ${step}`), run.shell(`tool${step}`, `command ${step}`, `output ${step}`));
  const [id] = await proxy.ingest('claude-code', lines.join('') + run.end());
  const frames = await proxy.frames(id);
  const wanted = frames.find((frame) => frame.type === 'tool_call_proposed' && frame.args?.command === 'command 90');
  const page = await open(t, `${proxy.url}/#/runs/${id}/tool/${wanted.tool_id}`);
  const card = page.locator(`[data-tool="${wanted.tool_id}"]`);
  await card.waitFor();
  await page.waitForFunction((id) => {
    const { top, bottom } = document.querySelector(`[data-tool="${id}"]`)?.getBoundingClientRect() ?? {};
    return bottom > 0 && top < innerHeight;
  }, wanted.tool_id);
  const answer = frames.find((frame) => frame.type === 'output_text_completed' && frame.text === 'Answer 40');
  await page.goto(`${proxy.url}/#/runs/${id}/frame/${answer.seq}`);
  await page.getByText('Answer 40', { exact: true }).first().waitFor();
  await page.waitForFunction(() => {
    const found = document.evaluate("//*[text()='Answer 40']", document, null, 9).singleNodeValue;
    const { top, bottom } = found?.getBoundingClientRect() ?? {};
    return bottom > 0 && top < innerHeight;
  });
});

test('a key leads to the end and to the beginning of a run that has ended', async (t) => {
  const proxy = await Proxy.start(t);
  const run = new ClaudeRun();
  const steps = Array.from({ length: 200 }, (_, step) => run.say(`Answer ${step}`) + run.shell(`t${step}`, `command ${step}`, `output ${step}`));
  const [id] = await proxy.ingest('claude-code', [run.begin(), ...steps, run.say('The very last answer.'), run.end()].join(''));
  const page = await open(t, `${proxy.url}/#/runs/${id}`);
  await connection(page, 'ended').waitFor();
  await page.getByText('Answer 0', { exact: true }).waitFor();
  await page.keyboard.press('Shift+G');
  await page.getByText('The very last answer.').first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('g');
  await page.getByText('Answer 0', { exact: true }).waitFor();
});

test('records that were not valid or too large are where they arrived, with a way to the three columns', async (t) => {
  const proxy = await Proxy.start(t, { settings: { 'ingest.max_record_bytes': 2048 } });
  const run = new ClaudeRun();
  const lines = [run.begin(), 'not json <b>at all</b>\n', run.say('The first answer.'), '{"type": bad\n', '{"type": worse\n', run.say('The second answer.')];
  const input = new Trickle(proxy, 'claude-code');
  await input.write(lines.join(''));
  const id = await proxy.newRun();
  const page = await open(t, `${proxy.url}/#/runs/${id}`);
  const order = () => items(page).evaluateAll((items) => items.map((item) => item.dataset.item).filter((kind) => kind === 'text' || kind === 'invalid').join(' '));
  await until('two places', async () => (await order()) === 'invalid text invalid text', 5000);
  const [first, second] = [items(page, 'invalid').nth(0), items(page, 'invalid').nth(1)];
  assert.match(await first.innerText(), /A record of the runner was left out here — not JSON.*\s+not json <b>at all<\/b>/);
  assert.match(await second.innerText(), /2 records of the runner were left out here/);
  await checkDocument(page, 'records that are not valid');

  // One that comes while the page is open is shown when the turn has ended.
  await input.write(run.say('x'.repeat(5000)) + run.end());
  await input.end();
  await until('the third place', async () => (await order()).startsWith('invalid text invalid text invalid'), 5000);
  assert.match(await items(page, 'invalid').nth(2).innerText(), /more than the limit/);

  const frames = await proxy.frames(id);
  const { seq } = frames.find((frame) => frame.status === 'invalid_json' && frame.raw.includes('bad'));
  await second.getByRole('link', { name: 'Show in Frames' }).click();
  await ready(page, 'frame');
  await page.locator(`[data-place="${seq} left 0"]`).waitFor();
  await page.locator('.trace-row.is-selected [data-finding~=invalid_record]').first().waitFor();
  // A run without such records is not searched.
  const [plain] = await proxy.ingest('claude-code', run.begin() + run.say('Hello.') + run.end());
  page.watch.requests.length = 0;
  await conversation(page, plain);
  await connection(page, 'ended').waitFor();
  assert.equal(page.watch.requests.filter(({ url }) => url.includes('event_type=provider_event')).length, 0);
});
