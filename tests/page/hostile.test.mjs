// Texts that attack the page, in every place of a run that can have a text, in every view: they are shown, and nothing else.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { close, FAILED_REQUESTS, open } from './support/browser.mjs';
import { ClaudeRun } from './support/claude.mjs';
import { checkDocument, scrollThrough, unfold } from './support/inspect.mjs';
import { PAYLOADS } from './support/payloads.mjs';
import { folder, Proxy, until } from './support/proxy.mjs';
import { changed, pieces, places, RUNNERS } from './support/recordings.mjs';
import { conversation, items, questions, ready, runsList, stats, timeline, trace } from './support/views.mjs';

after(close);

const execute = promisify(execFile);

/** A file that is not a proxy has runs under this name too. */
const VIEWS = [
  ['conversation', conversation],
  ['timeline', timeline],
  ['three columns', (page, run) => trace(page, run, 'hecate.v1')],
];

/** Looks at everything in a view, as a curious reader does. */
async function explore(page, where) {
  await scrollThrough(page, {
    limit: 60,
    seen: async () => {
      await unfold(page);
      await checkDocument(page, where);
    },
  });
  // Links and titles react to a pointer and to focus.
  await page.evaluate(() => {
    for (const element of [...document.querySelectorAll('main a[href], main [title]')].slice(0, 500)) {
      for (const type of ['mouseover', 'mouseenter', 'focus']) element.dispatchEvent(new MouseEvent(type, { bubbles: true }));
    }
    for (const link of [...document.querySelectorAll('main a[href]')].slice(0, 500)) {
      // Only what leads out of the page: its own routes would leave the view.
      if (!(link.getAttribute('href') ?? '').startsWith('#') && !['http:', 'https:', 'mailto:'].includes(link.protocol)) link.click();
    }
  });
  await checkDocument(page, where);
  page.watch.check();
}

async function exploreRun(page, run, where) {
  for (const [name, visit] of VIEWS) {
    await visit(page, run);
    await explore(page, `${where}: ${name}`);
  }
}

/** A run of Claude Code with one text in places that the templates do not have. */
function everywhere(text) {
  const run = new ClaudeRun({ model: text });
  const image = { type: 'image', source: { type: 'base64', media_type: `image/svg+xml`, data: Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${text}</svg>`).toString('base64') } };
  const plan = { todos: [{ content: text, activeForm: text, status: 'in_progress' }, { content: text, activeForm: text, status: text }] };
  const ask = { questions: [{ question: text, header: text, multiSelect: false, options: [{ label: text, description: text }] }] };
  return [
    run.begin(),
    run.prompt(text),
    run.say({ type: 'thinking', thinking: text, signature: '' }, text),
    run.call('t1', 'Bash', { command: text, description: text }),
    run.result('t1', [{ type: 'text', text }, image], { extra: { stdout: text, stderr: text, interrupted: false } }),
    run.call('t2', text, { [text]: text, __proto__: { text } }),
    run.result('t2', text, { isError: true }),
    run.call('t3', `mcp__${text}__${text}`, { url: text, file_path: text, pattern: text, query: text }),
    run.result('t3', text),
    run.call('t4', 'Write', { file_path: text, content: text }),
    run.result('t4', text),
    run.call('t5', 'WebFetch', { url: text, prompt: text }),
    run.result('t5', text),
    run.call('t6', 'TodoWrite', plan),
    run.result('t6', text),
    run.call('t7', 'AskUserQuestion', ask),
    run.record({ type: 'control_request', request_id: 'r1', request: { subtype: 'can_use_tool', tool_name: 'AskUserQuestion', input: ask, tool_use_id: 't7' } }),
    run.result('t7', text),
    run.call('t8', 'Task', { description: text, prompt: text, subagent_type: text }),
    run.within('t8', text, { type: 'tool_use', id: 't9', name: 'Read', input: { file_path: text } }),
    run.result('t9', text, { parent: 't8' }),
    run.result('t8', text),
    run.record({ type: 'system', subtype: 'api_retry', error: text, attempt: 1, max_retries: 3, error_status: 500, message: text }),
    run.record({ type: text, subtype: text, text }),
    `${text.replaceAll('\n', ' ')}\n`,
    run.end({ text, isError: true }),
  ].join('');
}

test('hostile texts wherever a runner’s records can have a text', async (t) => {
  const proxy = await Proxy.start(t, { settings: { 'redaction.enabled': false } });
  const page = await open(t, `${proxy.url}/`, { allow: FAILED_REQUESTS });
  await ready(page, 'runs');
  const all = PAYLOADS.join('\n\n');
  for (const runner of RUNNERS) {
    for (const bytes of [places(runner, all), pieces(runner, [...all.matchAll(/[^]{1,37}/g)].map(String))]) {
      for (const run of await proxy.ingest(runner, bytes)) await exploreRun(page, run, runner);
    }
  }
  await runsList(page);
  await explore(page, 'the list of runs');
  await stats(page);
  await explore(page, 'the statistics');
});

test('each hostile text alone', async (t) => {
  const proxy = await Proxy.start(t, { settings: { 'redaction.enabled': false } });
  const page = await open(t, `${proxy.url}/`, { allow: FAILED_REQUESTS });
  await ready(page, 'runs');
  // Every text is an item of its own, so that what one leaves open does not hide the next.
  const run = new ClaudeRun();
  const items = PAYLOADS.map((text, index) => run.say(text) + run.shell(`t${index}`, text, text, { stderr: text, isError: index % 2 === 1 }));
  const [id] = await proxy.ingest('claude-code', run.begin() + items.join('') + run.end());
  await exploreRun(page, id, 'one after the other');
  // Texts that end a document, a style or a comment need runs of their own.
  for (const text of PAYLOADS.filter((_, index) => index % 8 === 0)) {
    const [alone] = await proxy.ingest('claude-code', everywhere(text));
    await conversation(page, alone);
    await explore(page, text);
  }
  await runsList(page);
  await explore(page, 'the list of runs');
});

test('recordings whose texts have all become hostile', async (t) => {
  const proxy = await Proxy.start(t, { settings: { 'redaction.enabled': false } });
  const page = await open(t, `${proxy.url}/`, { allow: FAILED_REQUESTS });
  await ready(page, 'runs');
  let next = 0;
  const hostile = (text) => {
    next += 1;
    return `${text}${PAYLOADS[next % PAYLOADS.length]}`;
  };
  for (const [runner, name] of [
    ['claude-code', 'subagent.partial.ndjson'],
    ['claude-code', 'edit_file.partial.ndjson'],
    ['claude-code', 'control_ask_user.ndjson'],
    ['claude-code', 'task_tools.partial.ndjson'],
    ['claude-code', 'read_image.partial.ndjson'],
    ['claude-code', 'skill.ndjson'],
    ['codex', 'appserver-mixed.ndjson'],
    ['codex', 'appserver-filechange-approval.ndjson'],
    ['codex', 'rollout-exec-todo.jsonl'],
    ['codex', 'exec-patch-modify.ndjson'],
    ['opencode', 'event-question.sse'],
    ['opencode', 'event-todo.sse'],
    ['opencode', 'run-edit.ndjson'],
    ['opencode', 'export-subagent.json'],
    ['open-responses', 'scripted__annotations.sse'],
    ['open-responses', 'scripted__web-search.sse'],
  ]) {
    const answer = await proxy.fetch(`/v1/ingest/${runner}`, { method: 'POST', body: changed(runner, name, hostile) });
    const { runs = [] } = await answer.json();
    assert.ok(runs.length > 0, `${name}: ${answer.status}`);
    for (const { run_id: run } of runs) await exploreRun(page, run, name);
  }
  await runsList(page);
  await explore(page, 'the list of runs');
  await stats(page);
  await explore(page, 'the statistics');
});

test('a question of a runner cannot pretend to be the page', async (t) => {
  const proxy = await Proxy.start(t, { args: ['--demo'] });
  const prompt = `choose <form action="https://framegate-test.invalid/"><button>Approve</button></form> <img src=x onerror="framegateCanary('prompt')">`;
  const started = await proxy.json('/v1/runs', { method: 'POST', body: JSON.stringify({ upstream: 'demo', prompt }) });
  const page = await open(t, `${proxy.url}/#/runs/${started.run_id ?? started.id}`);
  await questions(page).first().waitFor();
  await explore(page, 'a question');
  assert.equal(await items(page, 'prompt').locator('form, .prompt-text button').count(), 0);
  assert.equal(await items(page, 'text').locator('form, button:not(.answer-end button)').count(), 0);
});

test('hostile addresses lead nowhere', async (t) => {
  const proxy = await Proxy.start(t);
  const page = await open(t, `${proxy.url}/`, { allow: FAILED_REQUESTS });
  for (const text of PAYLOADS) {
    for (const route of [`#/runs/${text}`, `#/runs/x/trace?contract=${text}&frame=${text}`, `#${text}`, `#code=${text}`]) {
      await page.evaluate((route) => {
        location.hash = route;
      }, route.slice(0, 500));
      await page.waitForTimeout(5);
    }
    await checkDocument(page, text);
  }
  await page.goto(`${proxy.url}/#/runs`);
  await ready(page, 'runs');
});

test('an exported file with hostile texts, opened from disk', async (t) => {
  const path = await folder(t);
  const text = PAYLOADS.join('\n\n');
  const inputs = [['claude-code', everywhere(text)], ...RUNNERS.map((runner) => [runner, places(runner, text)])];
  for (const [index, [runner, bytes]] of inputs.entries()) {
    const input = join(path, `input-${index}`);
    const output = join(path, `output-${index}.html`);
    await writeFile(input, bytes);
    await execute(process.env.FRAMEGATE, ['export', input, '--html', output, '--contract', 'hecate.v1']);
    await exploreFile(t, output, runner);
  }
});

test('an exported file whose frames have a hostile text in every field', async (t) => {
  const path = await folder(t);
  const run = new ClaudeRun();
  await writeFile(join(path, 'input'), run.begin() + run.say('hello') + run.end());
  await execute(process.env.FRAMEGATE, ['export', join(path, 'input'), '--html', join(path, 'plain.html')]);
  const plain = await readFile(join(path, 'plain.html'), 'utf8');
  const [, start, json, end] = /^([^]*<script type="application\/json" id="framegate-export">)([^]*?)(<\/script>[^]*)$/.exec(plain);
  const exported = JSON.parse(json);
  const golden = (await readFile(new URL('../../schemas/frames/v2/golden.ndjson', import.meta.url), 'utf8')).trim().split('\n').map((line) => JSON.parse(line));
  const kinds = new Set();
  // One frame of each type, once with each text, with the names of types and of kinds as they are.
  const [first] = exported.runs[0].frames;
  for (const [at, text] of [PAYLOADS.join(' '), ...PAYLOADS.filter((_, index) => index % 12 === 0)].entries()) {
    let seq = 0;
    const attack = (value, key) => {
      if (typeof value === 'string') return ['type', 'stream_kind', 'stream_id', 'session_id', 'kind', 'status', 'decision', 'level', 'scope'].includes(key) && at % 2 === 0 ? value : text;
      if (Array.isArray(value)) return value.map((item) => attack(item, key));
      if (value === null || typeof value !== 'object') return value;
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, attack(item, name)]));
    };
    const frames = golden.map((frame) => {
      kinds.add(frame.type);
      const hostile = attack(frame, '');
      return { ...hostile, type: frame.type, seq: seq++, stream_id: first.stream_id, stream_kind: 'session', timestamp_ms: first.timestamp_ms };
    });
    exported.runs[0].frames = frames;
    exported.runs[0].status = { ...attack(exported.runs[0].status, ''), run_id: exported.runs[0].status.run_id };
    const output = join(path, `hostile-${at}.html`);
    await writeFile(output, start + JSON.stringify(exported).replaceAll('<', '\\u003c') + end);
    await exploreFile(t, output, text.slice(0, 60));
  }
  assert.ok(kinds.size > 30, `${kinds.size} types of frames`);
});

/** Opens a file, and explores each view of its runs. */
async function exploreFile(t, file, where) {
  const page = await open(t, pathToFileURL(file).href);
  await page.locator('main[data-view]').waitFor();
  const run = await page.evaluate(() => JSON.parse(document.getElementById('framegate-export').textContent).runs[0].status.run_id);
  for (const view of ['', '/timeline', '/trace']) {
    await page.evaluate((route) => {
      location.hash = route;
    }, `#/runs/${run}${view}`);
    await ready(page, { '': 'conversation', '/timeline': 'timeline', '/trace': 'trace' }[view]);
    await explore(page, `${where}${view}`);
  }
  assert.ok(page.watch.requests.every(({ url }) => url.split('#')[0] === page.watch.home || /^(data|blob):/.test(url)), 'a file fetches nothing');
  await page.context().close();
}
