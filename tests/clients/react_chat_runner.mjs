// A user of examples/react-chat in front of a real runner, whose scripted model does what the prompts say. Says one JSON object for each step.
import { chromium } from 'playwright-core';
import { writeFileSync } from 'node:fs';
import { plan, say } from './plan.mjs';

const { url, upstream, release } = plan();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM });
const page = await browser.newPage();
page.setDefaultTimeout(60_000);
const errors = [];
page.on('pageerror', (error) => errors.push(error.message));
await page.goto(`${url}/?upstream=${upstream}`);

const send = async (text) => {
  await page.getByLabel('Prompt').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
};
const last = () => page.locator('article.assistant').last();
const says = (text) => last().locator('.text').getByText(text).waitFor();
const idle = () => page.locator('main[data-status=ready]').waitFor();
const newChat = () => page.getByRole('button', { name: 'New chat' }).click();

await send('secretly');
await says('Answer 1.');
await idle();
say({ reasoning: await last().locator('details').getByText('I wonder.').count() });

let answers = 1;
for (const button of ['Approve', 'Deny']) {
  await send('carefully');
  await last().getByRole('button', { name: button }).click();
  await says(`Answer ${(answers += 1)}.`);
  await idle();
  say({ [button]: await last().locator('.tool').getAttribute('data-state') });
}

// A run in progress when the page is loaded again.
await newChat();
await send('slowly');
await says('I am at it.');
await page.reload();
await says('I am at it.');
writeFileSync(release, '');
await says('Answer 1.');
await idle();
say({ resumed: await last().locator('.text').allTextContents() });

await send('endlessly');
await says('word');
await page.getByRole('button', { name: 'Stop' }).click();
await idle();
await send('badly');
const failure = page.locator('main > .error');
await failure.waitFor();
say({ failed: await failure.textContent(), errors });
await browser.close();
