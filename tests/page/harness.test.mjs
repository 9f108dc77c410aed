// The tests' own instruments: a careless page with the same hostile texts must be caught.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { close, open } from './support/browser.mjs';
import { checkDocument } from './support/inspect.mjs';
import { PAYLOADS } from './support/payloads.mjs';
import { atEnd } from './support/cleanup.mjs';
import { until } from './support/proxy.mjs';

after(close);

/** A page that shows texts as HTML. */
async function careless(test, headers = {}) {
  const server = createServer((request, response) => {
    const isPage = ['/', '/elsewhere'].includes(request.url);
    response.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html; charset=utf-8', ...headers });
    response.end(isPage ? '<!doctype html><link rel=icon href=data:,><title>careless</title><main></main>' : 'none');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(test, () => server.close());
  return `http://127.0.0.1:${server.address().port}/`;
}

/** Shows one text, and returns what the watch found. */
async function caught(page, text) {
  page.watch.problems = [];
  await page.evaluate(async (text) => {
    // As a page of a server would have it, scripts included.
    document.querySelector('main').replaceChildren(document.createRange().createContextualFragment(text));
    for (const link of document.querySelectorAll('main a[href]')) link.click();
    await new Promise((resolve) => setTimeout(resolve, 30));
  }, text).catch(() => {});
  await page.waitForTimeout(20);
  try {
    await checkDocument(page, 'careless');
  } catch (error) {
    page.watch.problems.push(error.message);
  }
  const problems = page.watch.problems;
  page.watch.problems = [];
  return problems;
}

test('each kind of misbehaviour of a careless page is found', async (t) => {
  const url = await careless(t);
  const page = await open(t, url);
  const finds = async (text, pattern) => {
    const problems = await caught(page, text);
    // A busy machine navigates, opens windows and reports errors later than the text is shown.
    await until(`${pattern} of ${text}: ${JSON.stringify(problems)}`, () =>
      [...problems, ...page.watch.problems].some((problem) => pattern.test(problem)));
  };
  await finds('<img src=x onerror="framegateCanary(1)">', /executed: 1/);
  await finds('<script>framegateCanary(2)</script>', /executed: 2/);
  await finds('<img src=x onerror="alert(3)">', /dialog: 3/);
  await finds('<iframe srcdoc="<script>parent.framegateCanary(4)</script>"></iframe>', /executed: 4/);
  await finds('<img src="https://framegate-test.invalid/x.png">', /another origin: https:\/\/framegate-test/);
  await finds('<a href="javascript:framegateCanary(5)">x</a>', /executed: 5/);
  await finds('<p style="color: red" onclick="x">x</p>', /onclick/);
  await finds('<a href="java\tscript:x">x</a>', /href=java/);
  await finds('<base href="https://framegate-test.invalid/">', /<base>/);
  await finds('<script>throw new Error("six")</script>', /six/);
  await finds('<script>console.error("seven")</script>', /seven/);
  await finds('<script>Object.prototype.isAdmin = true</script>', /prototype\.isAdmin/);
  await page.goto(url);
  await finds('<script>open("about:blank")</script>', /another page was opened/);
  await finds('<script>location = "/elsewhere"</script>', /navigated to .*elsewhere/);
  page.watch.problems = [];
});

test('a page with a policy reports what it refuses', async (t) => {
  const url = await careless(t, { 'content-security-policy': "default-src 'none'; style-src 'self'; img-src data:" });
  const page = await open(t, url);
  for (const text of ['<img src=x onerror="framegateCanary(1)">', '<p style="color: red">x</p>', '<img src="https://framegate-test.invalid/">']) {
    const problems = await caught(page, text);
    await until(`a CSP violation of ${text}: ${JSON.stringify(problems)}`, () =>
      [...problems, ...page.watch.problems].some((problem) => problem.startsWith('CSP violation: ')));
  }
  await page.close();
  page.watch.problems = [];
});

test('most hostile texts do something in a careless page', async (t) => {
  const page = await open(t, await careless(t));
  const harmless = [];
  for (const text of PAYLOADS.filter((text) => text.includes('<'))) {
    if ((await caught(page, text)).length === 0) harmless.push(text);
    if (!page.url().endsWith('/')) await page.goto(page.watch.home);
  }
  // Some need the markdown of a renderer, or another browser.
  assert.ok(harmless.length < 30, `${harmless.length} texts do nothing:\n${harmless.join('\n')}`);
  page.watch.problems = [];
});
