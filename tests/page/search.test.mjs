// The search: words of the address and of the field, kinds, pages, and the place that a text leads to.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { close, open } from './support/browser.mjs';
import { ClaudeRun } from './support/claude.mjs';
import { Proxy, until } from './support/proxy.mjs';
import { checkWidth, ready } from './support/views.mjs';

after(close);

const whole = (text) => {
  const run = new ClaudeRun();
  return run.begin() + run.prompt(text) + run.say(`Answer to ${text}`) + run.end({ text });
};

/** Waits until the proxy has indexed so many texts with the word. */
const indexed = (proxy, word, count) =>
  until('the index', async () => {
    const page = await proxy.json(`/v1/search?q=${word}&limit=100`);
    return page.is_complete && page.data.length >= count;
  });

test('a text is found by its words and leads to its place', async (t) => {
  const proxy = await Proxy.start(t, { settings: { 'search.enabled': true } });
  const [run] = await proxy.ingest('claude-code', whole('Where is the <b>needle</b>?'));
  await proxy.ingest('claude-code', whole('Something else'));
  await indexed(proxy, 'needle', 2);
  const page = await open(t, `${proxy.url}/#/search`);
  await ready(page, 'search');
  await page.getByRole('searchbox').fill('needle');
  await page.locator('.search-hit').nth(1).waitFor();
  assert.ok(page.url().endsWith('#/search?q=needle'), page.url());
  assert.deepEqual(await page.locator('.search-hit mark').allTextContents(), ['needle', 'needle']);
  assert.match(await page.locator('.search-excerpt').last().textContent(), /Where is the <b>needle<\/b>\?/);
  await page.getByRole('combobox', { name: 'Kind of text' }).selectOption('answer');
  await until('one text', async () => (await page.locator('.search-hit').count()) === 1);
  await page.locator('.search-hit a').click();
  await ready(page, 'conversation');
  assert.match(page.url(), new RegExp(`#/runs/${run}\\?at=\\d+$`));
  await page.goBack();
  await page.locator('.search-hit').waitFor();
});

test('pages follow each other, and an answer without texts says so', async (t) => {
  const proxy = await Proxy.start(t, { settings: { 'search.enabled': true } });
  for (let nth = 0; nth < 15; nth++) await proxy.ingest('claude-code', whole(`haystack number ${nth}`));
  await indexed(proxy, 'haystack', 30);
  const page = await open(t, `${proxy.url}/#/search?q=haystack`, { viewport: { width: 375, height: 800 } });
  await page.locator('.search-hit').nth(19).waitFor();
  await checkWidth(page, 'the search');
  await page.getByRole('button', { name: 'More' }).click();
  await until('all texts', async () => (await page.locator('.search-hit').count()) >= 30);
  const titles = await page.locator('.search-title').allTextContents();
  assert.equal(new Set(titles).size, 15);
  await page.getByRole('searchbox').fill('nowhere');
  await page.getByText('No text has these words').waitFor();
});
