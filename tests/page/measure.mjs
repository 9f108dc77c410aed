// Measures the page: its size, the time to open a long run and to scroll through it, the memory of its tab during a live run.
//
// FRAMEGATE: the program, as it is released (`cargo build --release`); CHROMIUM: the browser.
//
// node tests/page/measure.mjs [MINUTES] [FRAMES] [ROUNDS]
//
// MINUTES of the live run (10; 0 for none), FRAMES of the long run (100,000), how often that is opened (3).
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { open } from './support/browser.mjs';
import { ClaudeRun } from './support/claude.mjs';
import { Proxy, sleep, Trickle } from './support/proxy.mjs';
import { standalone } from './support/standalone.mjs';

const minutes = Number(process.argv[2] ?? 10);
const FRAMES = Number(process.argv[3] ?? 100_000);
const ROUNDS = Number(process.argv[4] ?? 3);
const FRAMES_PER_SECOND = 200;

const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

function size() {
  let [raw, gzip, brotli] = [0, 0, 0];
  for (const name of ['index.html', 'app.js', 'app.css']) {
    const bytes = readFileSync(new URL(`../../ui/dist/${name}`, import.meta.url));
    raw += bytes.length;
    gzip += gzipSync(bytes).length;
    brotli += brotliCompressSync(bytes).length;
  }
  console.log(`size: ${kib(raw)}, ${kib(gzip)} with gzip, ${kib(brotli)} with brotli`);
}

/** Some work of an agent: an answer in pieces, then a command. About `pieces` frames. */
function* work(run, pieces) {
  for (let round = 0; ; round += 1) {
    const words = Array.from({ length: pieces }, (_, index) => `word${index} ${index % 12 === 11 ? '\n\n' : ''}`);
    yield* run.pieces([`## Step ${round}\n\n`, ...words]);
    yield* run.shell(`tool${round}`, `make step-${round}`, `line of output ${round}\n`.repeat(20)).split(/(?<=\n)/);
  }
}

/** Waits until the browser has drawn what it has. */
const drawn = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));

/** Notes in the page when something is there and drawn, in ms since the navigation began: `wanted` has selectors by name. */
function noting(wanted) {
  window.times = {};
  const look = () => {
    for (const [name, selector] of Object.entries(wanted)) {
      if (window.times[name] !== undefined || !document.querySelector(selector)) continue;
      window.times[name] = Infinity;
      requestAnimationFrame(() => setTimeout(() => (window.times[name] = performance.now())));
    }
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ['data-connection'] });
}

/** Turns the wheel for some seconds. Out: the times between two pictures, in ms, in order of size. */
async function scrolling(page, seconds) {
  await page.mouse.move(640, 400);
  await page.evaluate(() => {
    window.pictures = [];
    let before = performance.now();
    const next = (now) => {
      window.pictures.push(now - before);
      before = now;
      window.pending = requestAnimationFrame(next);
    };
    window.pending = requestAnimationFrame(next);
  });
  const begun = Date.now();
  while (Date.now() - begun < seconds * 1000) await page.mouse.wheel(0, -400);
  return page.evaluate(() => {
    cancelAnimationFrame(window.pending);
    return window.pictures.slice(1).sort((one, other) => one - other);
  });
}

/** What the tab uses: `{heap, nodes, listeners, busy}` in bytes and seconds of a processor. */
async function usage(session, { collects = true } = {}) {
  if (collects) await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const value = (name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
  return { heap: value('JSHeapUsedSize'), nodes: value('Nodes'), listeners: value('JSEventListeners'), busy: value('TaskDuration') };
}

async function watching(page) {
  const session = await page.context().newCDPSession(page);
  // The time on a processor, which does not depend on what else the machine does.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return session;
}

async function opening(t) {
  const settings = { 'log.max_bytes': 16 * 2 ** 30, 'limits.max_records_per_run': 10_000_000 };
  const proxy = await Proxy.start(t, { settings });
  const run = new ClaudeRun();
  const upload = new Trickle(proxy, 'claude-code');
  await upload.write(run.begin());
  const id = await proxy.newRun();
  const records = work(run, 60);
  let frames = 0;
  while (frames < FRAMES) {
    const batch = Array.from({ length: 1000 }, () => records.next().value);
    await upload.write(batch.join(''));
    ({ frames } = await proxy.json(`/v1/runs/${id}`));
  }
  await upload.write(run.say('The very last answer.') + run.end());
  await upload.end();
  ({ frames } = await proxy.json(`/v1/runs/${id}`));
  console.log(`a run of ${frames} frames:`);
  for (let round = 0; round < ROUNDS; round += 1) {
    const page = await open(t, 'about:blank', { allow: [/./] });
    page.setDefaultTimeout(120_000);
    const session = await watching(page);
    await page.addInitScript(noting, { first: '[data-view=conversation] [data-item]', whole: '[data-connection=ended]' });
    await page.goto(`${proxy.url}/#/runs/${id}`);
    await page.locator('[data-connection=ended]').first().waitFor();
    await drawn(page);
    const { busy } = await usage(session, { collects: false });
    const { first, whole } = await page.evaluate(() => window.times);
    const pressed = Date.now();
    await page.keyboard.press('Shift+G');
    await page.getByText('The very last answer.').first().waitFor();
    await drawn(page);
    const end = Date.now() - pressed;
    const pictures = await scrolling(page, 5);
    const late = pictures.filter((time) => time > 50).length;
    const { heap, nodes } = await usage(session);
    console.log(
      `  its beginning on screen after ${first.toFixed()} ms, all of it after ${whole.toFixed()} ms, its end ${end} ms after a key; the main thread of the page took ` +
        `${Math.round(busy * 1000)} ms of a processor; scrolling: ${pictures.length} pictures, the median after ${pictures[pictures.length >> 1].toFixed(0)} ms, the slowest after ` +
        `${pictures.at(-1).toFixed(0)} ms, ${late} after more than 50 ms; heap ${mib(heap)}, ${nodes} nodes`,
    );
    await page.context().close();
  }
}

async function memory(t) {
  const proxy = await Proxy.start(t, { settings: { 'log.max_bytes': 4 * 2 ** 30 } });
  const run = new ClaudeRun();
  const upload = new Trickle(proxy, 'claude-code');
  await upload.write(run.begin());
  const id = await proxy.newRun();
  const page = await open(t, `${proxy.url}/#/runs/${id}`, { allow: [/./] });
  await page.locator('[data-view=conversation]').waitFor();
  const session = await watching(page);
  const measure = async (when) => {
    const { heap, nodes, listeners, busy } = await usage(session);
    const { frames } = await proxy.json(`/v1/runs/${id}`);
    console.log(`${when}: ${frames} frames of the run, heap ${mib(heap)}, ${nodes} nodes, ${listeners} listeners, busy ${busy.toFixed(1)} s`);
  };
  const records = work(run, 60);
  const begun = Date.now();
  let sent = 0;
  await measure('at the beginning');
  for (let minute = 1; minute <= minutes; minute += 1) {
    while (Date.now() - begun < minute * 60_000) {
      const due = ((Date.now() - begun) / 1000) * FRAMES_PER_SECOND;
      // A record is a frame of the runner's and about one of the conversation.
      for (; sent < due; sent += 1) await upload.write(records.next().value);
      await sleep(10);
    }
    await measure(`after ${minute} min`);
  }
  await upload.write(run.end());
  await upload.end();
  await page.context().close();
}

size();
if (ROUNDS > 0) await standalone(opening);
if (minutes > 0) await standalone(memory);
process.exit(0);
