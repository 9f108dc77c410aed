// A user of examples/react-chat, in a browser. Says one JSON object for each step.
import { chromium } from 'playwright-core';
import { plan, say } from './plan.mjs';

const { url } = plan();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM });
const page = await browser.newPage();
page.setDefaultTimeout(30_000);
const errors = [];
page.on('pageerror', (error) => errors.push(error.message));
await page.goto(url);

const send = async (text) => {
  await page.getByLabel('Prompt').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
};
const idle = (status = 'ready') => page.locator(`main[data-status=${status}]`).waitFor();
const last = () => page.locator('article.assistant').last();
const newChat = () => page.getByRole('button', { name: 'New chat' }).click();

await send('Hello there');
await last().getByText('no model was asked').waitFor();
await idle();
say({
  text: await last().locator('.text').last().textContent(),
  reasoning: await last().getByText('I am a script').count(),
  tools: await last().locator('.tool strong').allTextContents(),
});

for (const answer of ['Approve', 'Deny']) {
  await send('Make a plan, then write a note');
  await last().getByRole('button', { name: answer }).click();
  await last().getByText('no model was asked').waitFor();
  await idle();
  say({
    answer,
    text: await last().locator('.text').last().textContent(),
    plan: await last().locator('.plan li').count(),
    questions: await page.getByRole('button', { name: answer }).count(),
  });
}

await send('Let me choose');
await last().getByLabel('Which colour').selectOption('Blue');
await last().getByRole('button', { name: 'Answer' }).click();
await last().getByText('no model was asked').waitFor();
await idle();
say({ text: await last().locator('.text').last().textContent() });

// A question that is open when the page is loaded again.
await send('Run a command');
await last().getByRole('button', { name: 'Approve' }).waitFor();
await page.reload();
await last().getByRole('button', { name: 'Approve' }).click();
await last().getByText('no model was asked').waitFor();
say({ reloaded: 'question', text: await last().locator('.text').last().textContent() });

// A run that is in progress when the page is loaded again.
await newChat();
await send('Count slowly');
await last().getByText('1 2 3').waitFor();
await page.reload();
await last().getByText('1 2 3').waitFor();
await idle('streaming');
await last().getByText('59 60').waitFor();
await idle();
const texts = await last().locator('.text').allTextContents();
say({ reloaded: 'run', texts, articles: await page.locator('article').count() });

await newChat();
await send('Count slowly');
await last().getByText('1 2 3').waitFor();
await page.getByRole('button', { name: 'Stop' }).click();
await idle();
say({ stopped: !(await last().textContent()).includes('60') });

await send('Please fail');
await page.locator('main > .error').waitFor();
say({ error: await page.locator('main > .error').textContent(), errors });
await browser.close();
