// Makes the pictures of docs/images from recordings, with ids and times that are the same each time.
//
// node tests/page/screenshots.mjs      (FRAMEGATE: the built program, CHROMIUM: the browser)
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { open } from './support/browser.mjs';
import { ClaudeRun } from './support/claude.mjs';
import { unfold } from './support/inspect.mjs';
import { Proxy, sleep } from './support/proxy.mjs';
import { recording } from './support/recordings.mjs';
import { standalone } from './support/standalone.mjs';
import { conversation, ready, timeline, trace } from './support/views.mjs';

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url));
mkdirSync(FOLDER, { recursive: true });

const RECORDINGS = [
  ['claude-code', 'subagent.partial.ndjson'],
  ['claude-code', 'parallel_tools.partial.ndjson'],
  ['claude-code', 'api_529_exhausted.ndjson'],
  ['codex', 'exec-todo.ndjson'],
  ['codex', 'exec-mixed-session.ndjson'],
  ['opencode', 'run-edit.ndjson'],
  ['opencode', 'event-tools.sse'],
  ['open-responses', 'scripted__web-search.sse'],
];

/** A run with what a conversation can have. */
function sample() {
  const run = new ClaudeRun({ model: 'claude-opus-5-5', at: Date.UTC(2026, 10, 25, 11, 40) });
  const shell = '\u001b[32m✓\u001b[0m parses a number \u001b[2m(3 ms)\u001b[0m\n\u001b[31m✗ rounds half to even\u001b[0m\n\n  expected \u001b[32m2\u001b[0m, got \u001b[31m3\u001b[0m\n\n1 passed, 1 failed\n';
  const patch = [{ oldStart: 3, oldLines: 4, newStart: 3, newLines: 6, lines: [' pub fn round(value: f64) -> i64 {', '-    (value + 0.5).floor() as i64', '+    let floor = value.floor();', '+    let is_half = value - floor == 0.5;', '+    if is_half && floor as i64 % 2 == 0 { floor as i64 } else { (value + 0.5).floor() as i64 }', ' }'] }];
  return [
    run.begin(),
    run.prompt('The test of `round` fails. Find out why, and fix it.'),
    run.say({ type: 'thinking', thinking: 'The test says half to even, so I look at the function first.', signature: '' }, 'I run the tests first.'),
    run.call('t1', 'Bash', { command: 'cargo test round', description: 'Run the tests of round' }),
    run.result('t1', `Exit code 101\n${shell}`, { extra: `Error: Exit code 101\n${shell}`, isError: true }),
    run.say('`round` rounds **half up**. The test expects half to even:\n\n| value | expected | got |\n|---|--:|--:|\n| 2.5 | 2 | 3 |\n| 3.5 | 4 | 4 |\n\nThe change is small:'),
    run.call('t2', 'Edit', { file_path: 'src/round.rs', old_string: '(value + 0.5).floor() as i64', new_string: 'let floor = value.floor();' }),
    run.result('t2', 'The file src/round.rs has been updated.', { extra: { filePath: 'src/round.rs', oldString: '', newString: '', structuredPatch: patch } }),
    run.say('Now `round(2.5)` is 2. Both tests pass.'),
    run.end({ text: 'Now `round(2.5)` is 2. Both tests pass.' }),
  ].join('');
}

await standalone(async (t) => {
  const proxy = await Proxy.start(t, { args: [], settings: { 'log.kind': 'memory' } });
  const ids = {};
  for (const [runner, name] of RECORDINGS) [ids[name]] = await proxy.ingest(runner, recording(runner, name));
  const [shown] = await proxy.ingest('claude-code', sample());
  for (const colorScheme of ['light', 'dark']) {
    // The clock of the page stands still, so that "2 minutes ago" is the same each time.
    const page = await open(t, `${proxy.url}/`, { colorScheme, reducedMotion: 'reduce', viewport: { width: 1200, height: 760 }, timezoneId: 'UTC', locale: 'en-GB', allow: [/./] });
    await page.clock.setFixedTime(new Date('2026-11-25T12:00:00Z'));
    await ready(page, 'runs');
    const picture = async (name) => {
      await sleep(300);
      await page.mouse.move(0, 0);
      await page.screenshot({ path: `${FOLDER}${name}-${colorScheme}.png`, scale: 'css' });
    };
    await picture('runs');
    await conversation(page, shown);
    await unfold(page);
    await picture('conversation');
    await timeline(page, ids['subagent.partial.ndjson']);
    await picture('timeline');
    await trace(page, ids['parallel_tools.partial.ndjson'], 'hecate.v1');
    await picture('columns');
    await page.context().close();
  }
});
process.exit(0);
