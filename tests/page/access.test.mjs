// Tokens: the form, what a token's scopes allow, and where the token may be.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { close, FAILED_REQUESTS, open } from './support/browser.mjs';
import { atEnd } from './support/cleanup.mjs';
import { folder, Proxy, until } from './support/proxy.mjs';
import { recording } from './support/recordings.mjs';
import { questions, ready, tools } from './support/views.mjs';

after(close);

const SECRETS = { all: 'secret-of-everything-0123456789', read: 'secret-that-only-reads-01234567', ingest: 'secret-that-only-ingests-012345' };
const SCOPES = { all: ['read', 'control', 'ingest', 'admin'], read: ['read'], ingest: ['ingest'] };

async function guarded(t, args = []) {
  const path = await folder(t);
  const tables = Object.entries(SECRETS).map(([name, secret]) => {
    const variable = `PAGE_TOKEN_${name.toUpperCase()}`;
    return { variable, secret, toml: `[[token]]\nname = "${name}"\nenv = "${variable}"\nscopes = ${JSON.stringify(SCOPES[name])}\n` };
  });
  await writeFile(join(path, 'tokens.toml'), tables.map(({ toml }) => toml).join('\n'));
  const environment = Object.fromEntries(tables.map(({ variable, secret }) => [variable, secret]));
  const proxy = await Proxy.start(t, { settings: { 'auth.tokens_file': join(path, 'tokens.toml') }, environment, args });
  proxy.token = SECRETS.all;
  return proxy;
}

/** Types a token into the form. */
async function enter(page, secret) {
  const field = page.getByLabel('Token', { exact: true }).first();
  await field.fill(secret);
  await field.press('Enter');
}

/** The token is in the header of requests and in `sessionStorage`, and nowhere else. */
async function checkSecret(page, secret) {
  for (const { url, headers } of page.watch.requests) {
    assert.ok(!decodeURIComponent(url).includes(secret), `a URL has the token: ${url}`);
    assert.ok(!(headers.referer ?? '').includes(secret));
  }
  const kept = await page.evaluate(() => ({
    address: location.href,
    history: JSON.stringify(history.state),
    local: JSON.stringify(localStorage),
    session: JSON.stringify(sessionStorage),
    cookie: document.cookie,
    document: document.documentElement.outerHTML,
  }));
  assert.ok(kept.session.includes(secret), 'sessionStorage has the token');
  for (const place of ['address', 'history', 'local', 'cookie', 'document']) assert.ok(!kept[place].includes(secret), `${place} has the token`);
}

test('the page asks for a token, keeps it for the tab, and sends it as a header only', async (t) => {
  const proxy = await guarded(t);
  const [run] = await proxy.ingest('claude-code', recording('claude-code', 'bash_ok.partial.ndjson'));
  const page = await open(t, `${proxy.url}/#/runs/${run}`, { allow: FAILED_REQUESTS });
  await page.getByLabel('Token', { exact: true }).first().waitFor();
  assert.equal(await page.locator('[data-run]').count(), 0);
  assert.equal(await page.getByLabel('Token', { exact: true }).first().getAttribute('type'), 'password');

  await enter(page, 'not-a-token-of-this-proxy');
  await page.getByRole('alert').first().waitFor();
  assert.equal(await page.evaluate(() => JSON.stringify(sessionStorage).includes('not-a-token')), false, 'a refused token is not kept');

  await enter(page, SECRETS.all);
  // The route that was asked for is still the one that opens.
  await ready(page, 'conversation');
  await tools(page).first().waitFor();
  await checkSecret(page, SECRETS.all);
  const api = page.watch.requests.filter(({ url }) => new URL(url).pathname.startsWith('/v1/'));
  assert.ok(api.some(({ headers }) => headers.authorization === `Bearer ${SECRETS.all}`));

  await page.reload();
  await ready(page, 'conversation');
  // Another tab has a session of its own.
  const other = await page.context().newPage();
  page.watch.problems = page.watch.problems.filter((problem) => !problem.startsWith('another page was opened'));
  await other.goto(`${proxy.url}/#/runs`);
  await other.getByLabel('Token', { exact: true }).first().waitFor();
});

test('a token that may only read is offered nothing that acts', async (t) => {
  const proxy = await guarded(t, ['--demo']);
  const started = await proxy.json('/v1/runs', { method: 'POST', body: JSON.stringify({ upstream: 'demo', prompt: 'Write a note' }) });
  const run = started.run_id ?? started.id;
  await proxy.status(run, 'waiting', (status) => status.state === 'waiting_approval');

  const page = await open(t, `${proxy.url}/#/runs/${run}`, { allow: FAILED_REQUESTS });
  await enter(page, SECRETS.all);
  await ready(page, 'conversation');
  const acts = () => page.getByRole('button', { name: /approve|reject|deny|interrupt|^send/i }).or(page.getByRole('textbox', { name: /prompt/i }));
  await page.getByRole('button', { name: /approve/i }).first().waitFor();
  assert.ok((await acts().count()) >= 3, 'a token with every scope is offered them');

  const reader = await open(t, `${proxy.url}/#/runs/${run}`, { allow: FAILED_REQUESTS });
  await enter(reader, SECRETS.read);
  await ready(reader, 'conversation');
  await questions(reader).first().waitFor();
  const offered = reader.getByRole('button', { name: /approve|reject|deny|interrupt|^send|new run|start a run/i }).or(reader.getByRole('textbox', { name: /prompt/i }));
  assert.deepEqual(await offered.allInnerTexts(), []);
  await reader.goto(`${proxy.url}/#/runs`);
  await ready(reader, 'runs');
  assert.equal(await reader.getByRole('button', { name: /new run|start a run|open files/i }).count(), 0);
  assert.equal(await reader.locator('input[type=file]').count(), 0);
  await drop(reader, 'x.ndjson', '{}');
  assert.ok(reader.watch.requests.every(({ method }) => method === 'GET'), 'a reader only reads');
  await checkSecret(reader, SECRETS.read);
});

test('a token that may not read is told what it lacks', async (t) => {
  const proxy = await guarded(t);
  const page = await open(t, `${proxy.url}/`, { allow: FAILED_REQUESTS });
  await enter(page, SECRETS.ingest);
  await page.getByText(/\bread\b/).first().waitFor();
  assert.equal(await page.locator('[data-run]').count(), 0);
});

test('a token that is withdrawn leads back to the form', async (t) => {
  const proxy = await guarded(t);
  const page = await open(t, `${proxy.url}/#/runs`, { allow: FAILED_REQUESTS });
  await enter(page, SECRETS.read);
  await ready(page, 'runs');
  // The tab keeps a token that the proxy no longer knows.
  await page.evaluate((secret) => {
    for (const key of Object.keys(sessionStorage)) sessionStorage[key] = sessionStorage[key].replace(secret, 'a-token-that-was-withdrawn');
  }, SECRETS.read);
  await page.reload();
  await page.getByLabel('Token', { exact: true }).first().waitFor();
});

/** Drops a file onto the page. */
async function drop(page, name, text) {
  const transfer = await page.evaluateHandle(
    ({ name, text }) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], name));
      return transfer;
    },
    { name, text },
  );
  for (const type of ['dragenter', 'dragover', 'drop']) await page.dispatchEvent('main', type, { dataTransfer: transfer });
}

test('without tokens, nothing is asked for', async (t) => {
  const proxy = await Proxy.start(t);
  const page = await open(t, `${proxy.url}/`);
  await ready(page, 'runs');
  assert.equal(await page.getByLabel('Token', { exact: true }).count(), 0);
  assert.equal(await page.evaluate(() => JSON.stringify(sessionStorage)), '{}');
  await until('requests', () => page.watch.requests.some(({ url }) => url.endsWith('/v1/access')));
});

/** `framegate view` with a recording; the result: the link that it prints. */
async function viewing(t) {
  const path = await folder(t);
  await writeFile(join(path, 'session.ndjson'), recording('claude-code', 'bash_ok.partial.ndjson'));
  const child = spawn(process.env.FRAMEGATE, ['view', 'session.ndjson'], { cwd: path, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  atEnd(t, async () => {
    child.kill();
    await ended;
  });
  const { value: link } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  assert.match(link ?? '', /^http:\/\/127\.0\.0\.1:\d+\/#code=\w+$/);
  return link;
}

const redemptions = (page) => page.watch.requests.filter(({ url }) => new URL(url).pathname === '/v1/access/redeem');
const USED = /This link was used already/;

test('the link of `framegate view` works once, and neither its code nor the token stays in an address', async (t) => {
  const link = await viewing(t);
  const code = link.split('code=')[1];
  const page = await open(t, link, { allow: FAILED_REQUESTS });
  await ready(page, 'runs');
  await page.locator('[data-run]').first().waitFor();
  assert.equal(page.url(), `${link.split('#')[0]}#/runs`);
  assert.deepEqual(redemptions(page).map(({ method }) => method), ['POST']);
  const tokens = new Set(page.watch.requests.flatMap(({ headers }) => headers.authorization?.replace('Bearer ', '') ?? []));
  assert.equal(tokens.size, 1, 'one token');
  const [token] = tokens;
  await checkSecret(page, token);
  assert.notEqual(token, code);
  const session = await page.context().newCDPSession(page);
  const { entries } = await session.send('Page.getNavigationHistory');
  for (const { url } of [...entries, ...page.watch.requests]) assert.ok(!url.includes(code), `an address has the code: ${url}`);
  assert.ok(!(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, document.documentElement.outerHTML]))).includes(code));

  // The tab keeps its token, and asks for no other one.
  await page.reload();
  await page.locator('[data-run]').first().waitFor();
  assert.equal(redemptions(page).length, 1);
  // The same link again in this tab: it says that the code was used, and the runs are still there.
  await page.goto(link);
  await page.getByRole('status').getByText(USED).waitFor();
  await page.locator('[data-run]').first().waitFor();
  assert.ok(!page.url().includes(code));
  assert.equal(redemptions(page).length, 2);

  // Another browser gets nothing with it.
  const other = await open(t, link, { allow: FAILED_REQUESTS });
  await other.getByRole('alert').getByText(USED).waitFor();
  await other.getByLabel('Token', { exact: true }).first().waitFor();
  assert.equal(await other.locator('[data-run]').count(), 0);
  assert.ok(!other.url().includes(code));
  assert.equal(await other.evaluate(() => JSON.stringify(sessionStorage)), '{}');
});

test('a link in the tab of a page that asks for a token lets it in', async (t) => {
  const link = await viewing(t);
  const page = await open(t, link.split('#')[0], { allow: FAILED_REQUESTS });
  await page.getByLabel('Token', { exact: true }).first().waitFor();
  await page.goto(link);
  await page.locator('[data-run]').first().waitFor();
  assert.ok(!page.url().includes('code='));
});
