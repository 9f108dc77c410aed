// Draws docs/images/grafana.png: the first rows of packaging/grafana/framegate.json over the metrics of a proxy at work. It draws the panels of the
// file itself, so it needs no Grafana; the values are those of the file's expressions.
//
// node tests/page/grafana.mjs [SECONDS]      (120 by default; FRAMEGATE: the built program, CHROMIUM: the browser)
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { open } from './support/browser.mjs';
import { evaluate, parseMetrics } from './support/promql.mjs';
import { Proxy, sleep } from './support/proxy.mjs';
import { recording } from './support/recordings.mjs';
import { standalone } from './support/standalone.mjs';

const seconds = Number(process.argv[2] ?? 120);
const dashboard = JSON.parse(readFileSync(new URL('../../packaging/grafana/framegate.json', import.meta.url), 'utf8'));
const PICTURE = fileURLToPath(new URL('../../docs/images/grafana.png', import.meta.url));
/** How long the proxy works before the picture begins, in milliseconds. */
const WARM_UP_MS = 16_000;
/** The height of what is drawn, in units of the dashboard's grid. */
const HEIGHT = 31;
const COLOURS = ['#73bf69', '#f2cc0c', '#8ab8ff', '#ff780a', '#f2495c', '#b877d9', '#5794f2', '#fade2a', '#ffa6b0', '#c8f2c2'];

const RECORDINGS = [
  ['claude-code', 'parallel_tools.partial.ndjson'],
  ['codex', 'exec-mixed-session.ndjson'],
  ['claude-code', 'subagent.partial.ndjson'],
  ['opencode', 'event-tools.sse'],
  ['claude-code', 'api_529_exhausted.ndjson'],
  ['open-responses', 'scripted__web-search.sse'],
  ['codex', 'exec-sigint-command.ndjson'],
];

const BYTES = ['B', 'KiB', 'MiB', 'GiB'];

function shown(value, unit) {
  const short = (number) => (Math.abs(number) >= 100 ? number.toFixed(0) : String(Number(number.toPrecision(3))));
  if (unit === 'percentunit') return `${short(value * 100)} %`;
  if (unit === 'bytes' || unit === 'Bps') {
    const power = value > 0 ? Math.min(Math.floor(Math.log2(value) / 10), BYTES.length - 1) : 0;
    return `${short(value / 2 ** (10 * Math.max(power, 0)))} ${BYTES[Math.max(power, 0)]}${unit === 'Bps' ? '/s' : ''}`;
  }
  if (unit === 's') return value < 1 ? `${short(value * 1000)} ms` : `${short(value)} s`;
  return unit === 'reqps' ? `${short(value)}/s` : short(value);
}

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
const legend = (format, labels) => (format ?? '').replace(/\{\{(\w+)\}\}/g, (_, name) => labels[name] ?? '');

/** A copy of a recording with ids of its own: the proxy keeps a run that is sent again only once. */
function renamed(bytes, copy) {
  const text = Buffer.from(bytes).toString();
  const suffix = copy.toString(16).padStart(8, '0');
  return text.replaceAll(/\b[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-)/g, suffix).replaceAll(/\b(?:ses|msg|prt|resp)_\w+/g, `$&${suffix}`);
}

/** The lines of a panel: name -> values by scrape. */
function lines(panel, scrapes) {
  const found = new Map();
  for (const { expr, legendFormat } of panel.targets) {
    scrapes.forEach((_, at) => {
      // A rate needs what came before.
      if (scrapes[at].time < scrapes[0].time + WARM_UP_MS) return;
      for (const { labels, value } of evaluate(expr, scrapes, at)) {
        const name = legend(legendFormat, labels) || panel.title;
        if (!found.has(name)) found.set(name, []);
        found.get(name)[at] = value;
      }
    });
  }
  return found;
}

function stat(panel, found, unit) {
  const [[name, values] = ['–', []]] = found;
  const value = panel.title === 'Version' ? name : values.length > 0 ? shown(values.at(-1), unit) : 'No data';
  return `<output>${escaped(value)}</output>`;
}

function chart(found, scrapes, unit) {
  const [width, height] = [400, 150];
  const most = Math.max(...[...found.values()].flat().filter(Number.isFinite), 0);
  const first = scrapes.findIndex(({ time }) => time >= scrapes[0].time + WARM_UP_MS);
  const x = (at) => ((at - first) / (scrapes.length - 1 - first)) * width;
  const paths = [...found.values()].map((values, nth) => {
    const points = values.flatMap((value, at) => (Number.isFinite(value) ? [`${x(at).toFixed(1)},${(height - (value / (most || 1)) * (height - 6)).toFixed(1)}`] : []));
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${COLOURS[nth % COLOURS.length]}" stroke-width="1.5" vector-effect="non-scaling-stroke"/>`;
  });
  const keys = [...found.keys()].map((name, nth) => `<li><i style="background:${COLOURS[nth % COLOURS.length]}"></i>${escaped(name)}</li>`);
  const plot = `<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none"><path d="M0 ${height / 2}H${width}M0 ${height}H${width}" stroke="#34363c"/>${paths.join('')}</svg>`;
  return `<b>${shown(most, unit)}</b>${plot}<ul>${found.size > 0 ? keys.join('') : '<li>No data</li>'}</ul>`;
}

function panelOf(panel, scrapes) {
  const { x, y, w, h } = panel.gridPos;
  const place = `style="grid-area:${y + 1}/${x + 1}/span ${h}/span ${w}"`;
  if (panel.type === 'row') return `<h2 ${place}>▾ ${escaped(panel.title)}</h2>`;
  const unit = panel.fieldConfig?.defaults?.unit;
  const found = lines(panel, scrapes);
  return `<section ${place}><h3>${escaped(panel.title)}</h3>${panel.type === 'stat' ? stat(panel, found, unit) : chart(found, scrapes, unit)}</section>`;
}

const STYLE = `
  body { margin: 16px; background: #111217; color: #ccccdc; font: 12px system-ui, sans-serif }
  main { display: grid; grid-template-columns: repeat(24, 1fr); grid-auto-rows: 30px; gap: 8px }
  h2 { margin: 4px 0; font-size: 14px; font-weight: 500 }
  section { background: #181b1f; border: 1px solid #26282e; border-radius: 2px; padding: 6px 10px; display: flex; flex-direction: column; min-height: 0; overflow: hidden }
  h3 { margin: 0 0 4px; font-size: 12px; font-weight: 500 }
  output { margin: auto; font-size: 34px; color: #73bf69 }
  b { font-weight: 400; color: #8e8e99 }
  svg { flex: 1; min-height: 0; width: 100% }
  ul { margin: 4px 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: 2px 12px; list-style: none; max-height: 32px; overflow: hidden }
  i { display: inline-block; width: 12px; height: 3px; margin: 0 5px 3px 0 }`;

await standalone(async (t) => {
  const proxy = await Proxy.start(t);
  const leave = new AbortController();
  for (const contract of ['sse.v1', 'ag-ui.v1']) {
    const reading = proxy.fetch(`/v1/events?contract=${contract}`, { headers: { accept: 'text/event-stream' }, signal: leave.signal });
    reading.then(async ({ body }) => { for await (const piece of body) void piece; }).catch(() => {});
  }
  const scrapes = [];
  let copies = 0;
  for (let second = 0; second < seconds; second += 1) {
    // More work in the middle than at the ends.
    const work = 1 + Math.round(2 * Math.sin((Math.PI * second) / seconds) + (second % 7 === 0 ? 1 : 0));
    for (let nth = 0; nth < work; nth += 1) {
      const [runner, name] = RECORDINGS[(second * 3 + nth) % RECORDINGS.length];
      await proxy.ingest(runner, renamed(recording(runner, name), (copies += 1)));
    }
    const metrics = parseMetrics(await (await proxy.fetch('/metrics')).text());
    scrapes.push({ time: Date.now(), metrics });
    await sleep(1000);
  }
  leave.abort();
  const panels = dashboard.panels.filter(({ gridPos: { y, h } }) => y + h <= HEIGHT);
  const page = await open(t, 'about:blank', { viewport: { width: 1400, height: 1240 }, allow: [/./] });
  await page.setContent(`<!doctype html><style>${STYLE}</style><main>${panels.map((panel) => panelOf(panel, scrapes)).join('')}</main>`);
  await page.screenshot({ path: PICTURE, fullPage: true });
  console.log(PICTURE);
});
