// Axe in both themes and on a phone, the keyboard, narrow windows, reduced motion.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import { close, open } from './support/browser.mjs';
import { ClaudeRun } from './support/claude.mjs';
import { unfold } from './support/inspect.mjs';
import { Proxy, until } from './support/proxy.mjs';
import { recording } from './support/recordings.mjs';
import { checkWidth, conversation, items, questions, ready, runsList, stats, timeline, trace } from './support/views.mjs';

after(close);

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const PHONE = { width: 360, height: 740 };

/** Runs with everything that a view can show. */
const SHOWN = [
  ['claude-code', 'subagent.partial.ndjson'],
  ['claude-code', 'edit_file.partial.ndjson'],
  ['claude-code', 'bash_unicode_ansi.partial.ndjson'],
  ['claude-code', 'read_image.partial.ndjson'],
  ['claude-code', 'api_529_exhausted.ndjson'],
  ['claude-code', 'thinking_text.partial.ndjson'],
  ['codex', 'exec-todo.ndjson'],
  ['opencode', 'run-edit.ndjson'],
  ['open-responses', 'scripted__annotations.sse'],
];

async function proxyWithRuns(t) {
  const proxy = await Proxy.start(t);
  const runs = [];
  for (const [runner, name] of SHOWN) runs.push((await proxy.ingest(runner, recording(runner, name)))[0]);
  return { proxy, runs };
}

const run = new ClaudeRun();
/** Records that are not valid, between others. */
const BROKEN = run.begin() + run.say('One.') + 'not json\n' + run.say('Two.') + '{"type":\n[1,\n' + run.end();

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds on the page as it is. */
async function findings(page, where) {
  // The page's policy has no `unsafe-eval`: what the debugger evaluates does not need it.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate((runOnly) => window.axe.run(document, { runOnly }), RULES);
  return violations.map(({ id, nodes }) => {
    const places = nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} (${node.any[0]?.message ?? node.failureSummary})`);
    return `${where}: ${id}: ${places.join('; ')}`;
  });
}

async function check(page, where) {
  assert.deepEqual(await findings(page, where), []);
}

/** Every main view, with what visits it. */
async function eachView(page, runs, visit) {
  await runsList(page);
  await visit('runs');
  for (const [index, run] of runs.entries()) {
    await conversation(page, run);
    await visit(`the conversation of ${SHOWN[index][1]}`);
    await unfold(page);
    await visit(`the unfolded conversation of ${SHOWN[index][1]}`);
  }
  await timeline(page, runs[0]);
  await visit('the timeline');
  await trace(page, runs[0], 'sse.v1');
  await visit('the three columns');
  await stats(page);
  await visit('the statistics');
}

for (const colorScheme of ['light', 'dark']) {
  test(`axe finds nothing in the ${colorScheme} theme`, async (t) => {
    const { proxy, runs } = await proxyWithRuns(t);
    const page = await open(t, `${proxy.url}/`, { colorScheme });
    await ready(page, 'runs');
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).map(Number));
    const isDark = background.reduce((sum, part) => sum + part, 0) < 3 * 128;
    assert.equal(isDark, colorScheme === 'dark', `the background is ${background}`);
    const found = [];
    await eachView(page, runs, async (where) => found.push(...(await findings(page, where))));
    assert.deepEqual(found, []);
  });
}

test('axe finds nothing in places of records that are not valid', async (t) => {
  const proxy = await Proxy.start(t);
  const [run] = await proxy.ingest('claude-code', BROKEN);
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(t, `${proxy.url}/#/runs/${run}`, { colorScheme, viewport: PHONE });
    await items(page, 'invalid').nth(1).waitFor();
    await check(page, colorScheme);
    await checkWidth(page, colorScheme);
  }
});

test('a theme has the same colours, whether the system or the reader chose it', async (t) => {
  const { proxy, runs } = await proxyWithRuns(t);
  const colours = async (page) => {
    await conversation(page, runs[1]);
    return page.evaluate(() => [...document.querySelectorAll('body, body *')].map((element) => {
      const { color, backgroundColor, borderColor, boxShadow } = getComputedStyle(element);
      return `${element.tagName} ${color} ${backgroundColor} ${borderColor} ${boxShadow}`;
    }));
  };
  const system = {};
  for (const colorScheme of ['light', 'dark']) system[colorScheme] = await colours(await open(t, `${proxy.url}/`, { colorScheme }));
  assert.notDeepEqual(system.light, system.dark);
  for (const [colorScheme, chosen] of [['light', 'dark'], ['dark', 'light']]) {
    const page = await open(t, `${proxy.url}/`, { colorScheme });
    while (!(await page.getByRole('button', { name: `Theme: ${chosen}` }).count())) await page.keyboard.press('t');
    const found = await colours(page);
    assert.ok(found.length > 100 && found.length === system[chosen].length, `${found.length} elements`);
    // What the pointer and the focus mark differs.
    assert.ok(found.filter((one, index) => one !== system[chosen][index]).length < 3, `${chosen}, chosen while the system is ${colorScheme}`);
  }
});

test('a phone of 360 px shows every view without scrolling sideways, and axe finds nothing', async (t) => {
  const { proxy, runs } = await proxyWithRuns(t);
  const page = await open(t, `${proxy.url}/`, { viewport: PHONE, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
  await ready(page, 'runs');
  const found = [];
  await eachView(page, runs, async (where) => {
    await checkWidth(page, where);
    if (!where.startsWith('the conversation')) found.push(...(await findings(page, where)));
  });
  assert.deepEqual(found, []);
});

test('axe finds nothing in a question, in the form for a token and in the help', async (t) => {
  const demo = await Proxy.start(t, { args: ['--demo'] });
  for (const prompt of ['Write a note', 'Let me choose']) {
    const started = await demo.json('/v1/runs', { method: 'POST', body: JSON.stringify({ upstream: 'demo', prompt }) });
    const page = await open(t, `${demo.url}/#/runs/${started.run_id ?? started.id}`);
    await questions(page).first().waitFor();
    await check(page, prompt);
    await page.setViewportSize(PHONE);
    await checkWidth(page, prompt);
  }
  const page = await open(t, `${demo.url}/`);
  await ready(page, 'runs');
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await check(page, 'the help');
  await page.setViewportSize(PHONE);
  await checkWidth(page, 'the help');
});

test('the keyboard moves, searches, opens and helps', async (t) => {
  const { proxy, runs } = await proxyWithRuns(t);
  const page = await open(t, `${proxy.url}/`);
  await ready(page, 'runs');
  const current = () => page.evaluate(() => document.activeElement?.closest('[data-run]')?.dataset.run ?? document.querySelector('[data-run][aria-current=true], [data-run][aria-selected=true], [data-run][data-selected]')?.dataset.run);
  await page.keyboard.press('j');
  const first = await current();
  assert.ok(runs.includes(first), `${first}`);
  await page.keyboard.press('j');
  const second = await current();
  assert.ok(runs.includes(second) && second !== first);
  await page.keyboard.press('k');
  assert.equal(await current(), first);

  await page.keyboard.press('/');
  await until('the search', () => page.evaluate(() => document.activeElement?.matches('input[type=search], [role=searchbox]')));
  // Keys are letters while something is typed.
  await page.keyboard.type('jk?');
  assert.equal(await page.getByRole('searchbox').inputValue(), 'jk?');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.getByRole('searchbox').fill('');
  await page.keyboard.press('Escape');

  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('?');
  const help = page.getByRole('dialog');
  await help.waitFor();
  assert.match(await help.innerText(), /\bj\b[^]*\bk\b/);
  await page.keyboard.press('Escape');
  await until('the help is closed', async () => (await help.count()) === 0 || !(await help.isVisible()));

  await page.keyboard.press('j');
  const opened = await current();
  await page.keyboard.press('Enter');
  await ready(page, 'conversation');
  assert.ok(page.url().includes(opened));
  await page.keyboard.press('j');
  const place = () => page.evaluate(() => document.activeElement?.closest('[data-frame]')?.dataset.frame ?? document.querySelector('[data-frame][aria-current=true], [data-frame][data-selected]')?.dataset.frame);
  const item = await until('j selects an item of the conversation', place);
  await page.keyboard.press('j');
  await until('j selects the next one', async () => (await place()) !== item);
});

test('everything can be reached with the tab key, and shows where it is', async (t) => {
  const { proxy } = await proxyWithRuns(t);
  const page = await open(t, `${proxy.url}/`);
  await ready(page, 'runs');
  const invisible = [];
  const seen = new Set();
  for (let step = 0; step < 40; step += 1) {
    await page.keyboard.press('Tab');
    const { name, shows } = await page.evaluate(() => {
      const element = document.activeElement;
      const hasOutline = (element) => {
        const style = getComputedStyle(element);
        return (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none';
      };
      // The outline may be that of the row or the field around it.
      const around = [element, element.parentElement, element.closest('article')].filter(Boolean);
      return { name: element.outerHTML.slice(0, 120), shows: element === document.body || around.some(hasOutline) };
    });
    seen.add(name);
    if (!shows) invisible.push(name);
  }
  assert.deepEqual([...new Set(invisible)], []);
  assert.ok(seen.size > 5, `${seen.size} places`);
});

test('with reduced motion nothing moves', async (t) => {
  const { proxy, runs } = await proxyWithRuns(t);
  const page = await open(t, `${proxy.url}/`, { reducedMotion: 'reduce' });
  await ready(page, 'runs');
  await eachView(page, runs.slice(0, 2), async (where) => {
    const moving = await page.evaluate(() =>
      document
        .getAnimations()
        .filter((animation) => animation.playState === 'running' && animation.effect.getComputedTiming().duration > 50)
        .map((animation) => animation.animationName ?? animation.transitionProperty),
    );
    assert.deepEqual(moving, [], where);
    const smooth = await page.evaluate(() => [...document.querySelectorAll('*')].filter((element) => getComputedStyle(element).scrollBehavior === 'smooth').length);
    assert.equal(smooth, 0, where);
  });
});

test('text of 200 % and forced colours leave the views usable', async (t) => {
  const { proxy, runs } = await proxyWithRuns(t);
  // A window of 1280 px at 200 % has 640 px.
  const page = await open(t, `${proxy.url}/`, { viewport: { width: 640, height: 400 }, forcedColors: 'active' });
  await ready(page, 'runs');
  await eachView(page, runs.slice(0, 2), (where) => checkWidth(page, where));
});
