// What a person does on the page: answers, prompts, interrupts, starts runs, drops files. `serve --demo` has an agent for it.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { close, FAILED_REQUESTS, open } from './support/browser.mjs';
import { Proxy, until } from './support/proxy.mjs';
import { recording } from './support/recordings.mjs';
import { connection, questions, ready } from './support/views.mjs';

after(close);

async function demo(t) {
  const proxy = await Proxy.start(t, { args: ['--demo'] });
  const start = async (prompt) => {
    const started = await proxy.json('/v1/runs', { method: 'POST', body: JSON.stringify({ upstream: 'demo', prompt }) });
    return started.run_id ?? started.id;
  };
  const show = async (run) => {
    const page = await open(t, `${proxy.url}/#/runs/${run}`);
    await ready(page, 'conversation');
    return page;
  };
  return { proxy, start, show };
}

const ended = (proxy, run) => proxy.status(run, 'over', (status) => ['completed', 'failed', 'interrupted'].includes(status.state));
const decisions = async (proxy, run) =>
  (await proxy.frames(run)).filter((frame) => frame.type === 'approval_resolved').map((frame) => frame.decision);

test('an approval is given, and another one refused', async (t) => {
  const { proxy, start, show } = await demo(t);
  const run = await start('Write a note and run a command');
  const page = await show(run);
  await questions(page).getByRole('button', { name: 'Approve' }).first().click();
  await until('the second question', async () => (await decisions(proxy, run)).length === 1);
  await questions(page).getByRole('button', { name: 'Reject…' }).click();
  await questions(page).getByLabel(/reason/i).fill('not that one');
  await questions(page).getByRole('button', { name: 'Reject', exact: true }).click();
  const status = await ended(proxy, run);
  assert.equal(status.state, 'completed');
  assert.deepEqual(await decisions(proxy, run), ['approved', 'rejected']);
  const [, refused] = (await proxy.frames(run)).filter((frame) => frame.type === 'approval_resolved');
  assert.equal(refused.reason, 'not that one');
  await page.getByText(/You allowed Edit/).first().waitFor();
  await page.getByText(/You did not allow Bash/).first().waitFor();
  // What is decided cannot be decided again.
  await until('no more buttons', async () => (await page.getByRole('button', { name: /^(approve|reject|deny)/i }).count()) === 0);
});

test('a question is answered with a choice', async (t) => {
  const { proxy, start, show } = await demo(t);
  const run = await start('Let me choose');
  const page = await show(run);
  const question = questions(page).first();
  await question.getByText('Which colour do you like best?').first().waitFor();
  await question.getByRole('radio', { name: /Blue/ }).check();
  await question.getByRole('button', { name: 'Send the answer' }).click();
  await ended(proxy, run);
  await page.getByText(/You chose “Blue”/).first().waitFor();
});

test('a run is interrupted', async (t) => {
  const { proxy, start, show } = await demo(t);
  const run = await start('Count slowly');
  const page = await show(run);
  await page.getByText(/1 2 3/).first().waitFor();
  await page.getByRole('button', { name: 'Interrupt' }).click();
  // One click is not enough.
  await page.getByRole('button', { name: 'Really interrupt?' }).click();
  assert.equal((await ended(proxy, run)).state, 'interrupted');
  await connection(page, 'ended').waitFor();
  await until('nothing to interrupt', async () => (await page.getByRole('button', { name: /interrupt/i }).count()) === 0);
});

test('the next prompt continues the session', async (t) => {
  const { proxy, start, show } = await demo(t);
  const run = await start('Hello there');
  const first = await ended(proxy, run);
  const page = await show(run);
  await page.getByRole('textbox', { name: /prompt/i }).fill('Do you remember what I said?');
  await page.getByRole('button', { name: /^send/i }).click();
  const next = await until('another run of the session', async () =>
    (await proxy.runs(`&session_id=${first.session_id}`)).find(({ run_id: other }) => other !== run),
  );
  await ended(proxy, next.run_id);
  // The reader is led to it, or sees it.
  await page.getByText(/Hello there/).first().waitFor();
  await until('the answer', async () => (await page.locator('main').innerText()).includes('remember what I said'));
});

test('a run is started on a configured upstream', async (t) => {
  const { proxy } = await demo(t);
  const page = await open(t, `${proxy.url}/#/runs`);
  await ready(page, 'runs');
  const known = (await proxy.runs()).map((run) => run.run_id);
  await page.getByRole('button', { name: /start a run|new run/i }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Prompt').fill('Hello from the page');
  await form.getByLabel('Upstream').selectOption('demo');
  await form.getByRole('button', { name: 'Start', exact: true }).click();
  await ready(page, 'conversation');
  await page.getByText('Hello from the page').first().waitFor();
  const opened = /#\/runs\/([0-9a-f-]{36})/.exec(page.url())[1];
  assert.ok(!known.includes(opened));
  assert.equal((await ended(proxy, opened)).state, 'completed');
});

test('a file of a runner’s output is dropped onto the page', async (t) => {
  const proxy = await Proxy.start(t);
  for (const [runner, name] of [['claude-code', 'bash_ok.partial.ndjson'], ['codex', 'exec-command-ok.ndjson'], ['opencode', 'export-subagent.json'], ['open-responses', 'scripted__text-valid.sse']]) {
    const page = await open(t, `${proxy.url}/#/runs`);
    await ready(page, 'runs');
    const known = (await proxy.runs()).map((run) => run.run_id);
    const transfer = await page.evaluateHandle(
      ({ name, base64 }) => {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        const transfer = new DataTransfer();
        transfer.items.add(new File([bytes], name));
        return transfer;
      },
      { name, base64: recording(runner, name).toString('base64') },
    );
    for (const type of ['dragenter', 'dragover', 'drop']) await page.dispatchEvent('main', type, { dataTransfer: transfer });
    const run = await proxy.newRun(known);
    await until('the dropped run', async () => page.url().includes(run) || (await page.locator(`[data-run="${run}"]`).count()) === 1);
  }
});

test('a file that no runner wrote is refused with a reason', async (t) => {
  const proxy = await Proxy.start(t);
  const page = await open(t, `${proxy.url}/#/runs`, { allow: FAILED_REQUESTS });
  await ready(page, 'runs');
  // A keyboard user has a button for it.
  await page.locator('input[type=file]').first().setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('just some notes\nof a person\n') });
  await page.getByRole('alert').first().waitFor();
  assert.match(await page.getByRole('alert').first().innerText(), /notes\.txt|runner|recogni/i);
  assert.equal((await proxy.runs()).length, 0);
});

test('an action that the proxy refuses says why', async (t) => {
  const { proxy, start } = await demo(t);
  const run = await start('Write a note');
  await proxy.status(run, 'waiting', (status) => status.state === 'waiting_approval');
  const page = await open(t, `${proxy.url}/#/runs/${run}`, { allow: FAILED_REQUESTS });
  await ready(page, 'conversation');
  await questions(page).first().waitFor();
  // The answer is lost on its way.
  await page.route('**/approvals/*', (route) => route.fulfill({ status: 502, contentType: 'application/problem+json', body: JSON.stringify({ title: 'Bad gateway', status: 502, detail: 'The runner closed its input.' }) }));
  await questions(page).getByRole('button', { name: 'Approve' }).first().click();
  await page.getByText('The runner closed its input.').first().waitFor();
  await page.unroute('**/approvals/*');
  await questions(page).getByRole('button', { name: 'Approve' }).first().click();
  assert.equal((await ended(proxy, run)).state, 'completed');
});
