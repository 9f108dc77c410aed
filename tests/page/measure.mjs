// Measures the page: its size, the time to open a long run, the memory of its tab during a live run.
//
// node tests/page/measure.mjs [MINUTES]      (10 by default; FRAMEGATE: the built program, CHROMIUM: the browser)
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { open } from './support/browser.mjs';
import { ClaudeRun } from './support/claude.mjs';
import { Proxy, sleep, Trickle } from './support/proxy.mjs';
import { standalone } from './support/standalone.mjs';

const minutes = Number(process.argv[2] ?? 10);
const FRAMES = 100_000;
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

async function opening(t) {
  const proxy = await Proxy.start(t, { settings: { 'log.max_bytes': 4 * 2 ** 30 } });
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
  for (let round = 0; round < 3; round += 1) {
    const begun = Date.now();
    const page = await open(t, `${proxy.url}/#/runs/${id}`, { allow: [/./] });
    page.setDefaultTimeout(120_000);
    await page.locator('[data-view=conversation] [data-item]').first().waitFor();
    const first = Date.now() - begun;
    await page.locator('[data-connection=ended]').first().waitFor();
    const whole = Date.now() - begun;
    await page.keyboard.press('Shift+G');
    await page.getByText('The very last answer.').first().waitFor();
    console.log(`a run of ${frames} frames: its beginning after ${first} ms, all of it after ${whole} ms, its end on screen after ${Date.now() - begun} ms`);
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
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const measure = async (when) => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const value = (name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
    const { frames } = await proxy.json(`/v1/runs/${id}`);
    console.log(`${when}: ${frames} frames of the run, heap ${mib(value('JSHeapUsedSize'))}, ${value('Nodes')} nodes, ${value('JSEventListeners')} listeners, busy ${value('TaskDuration').toFixed(1)} s`);
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
await standalone(opening);
await standalone(memory);
process.exit(0);
