// The package of clients/typescript against a proxy. The argument is {base_url, tokens_url, tokens, fixtures}: a proxy with the fake
// agent as the upstream `claude` and one that asks for a choice as `asks`, and one with tokens. Says the name of each case that holds.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import * as framegate from 'framegate-client';
import { Sha256 } from './node_modules/framegate-client/dist/sha256.js';

const { contractNames, Framegate, typeKeys } = framegate;
const plan = JSON.parse(process.argv[2]);
const baseUrl = plan.base_url;
const client = new Framegate({ baseUrl });
const contracts = [...contractNames, 'raw'];
const only = process.argv[3];

/**
 * A relay to the proxy. `cut(number, received)` says after how many bytes of the answer the connection of that number is cut, if at
 * all, and `isStalled` withholds what the proxy sends.
 */
async function relay(target = baseUrl) {
  const { hostname, port } = new URL(target);
  const self = { connections: 0, open: new Set(), cut: () => undefined, isStalled: false };
  const server = net.createServer((inside) => {
    const number = self.connections++;
    const outside = net.connect(Number(port), hostname);
    self.open.add(inside);
    let sent = 0;
    const end = () => {
      self.open.delete(inside);
      inside.destroy();
      outside.destroy();
    };
    inside.on('data', (bytes) => outside.write(bytes));
    outside.on('data', (bytes) => {
      if (self.isStalled) return;
      const limit = self.cut(number);
      if (limit !== undefined && sent + bytes.length >= limit) {
        inside.write(bytes.subarray(0, limit - sent), () => inside.resetAndDestroy());
        return end.call(null, outside.destroy());
      }
      sent += bytes.length;
      inside.write(bytes);
    });
    for (const socket of [inside, outside]) socket.on('error', end).on('close', end);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  self.url = `http://127.0.0.1:${server.address().port}`;
  self.client = (options = {}) => new Framegate({ baseUrl: self.url, maxBackoffMs: 100, ...options });
  self.close = () => {
    server.close();
    for (const socket of self.open) socket.destroy();
  };
  return self;
}

const fixture = (runner, name) => readFileSync(`${plan.fixtures}/${runner}/${name}`);

let variants = 0;
/** The recording with new records: what the proxy has already, it does not store again. */
function another(runner, name) {
  const number = `${process.pid}${variants++}`;
  return fixture(runner, name)
    .toString()
    .replace(/^\{"/gm, `{"another":${number},"`);
}

async function replay(run, contract) {
  const url = `${baseUrl}/v1/runs/${run}/events?contract=${contract}`;
  const text = await (await fetch(url, { headers: { accept: 'application/x-ndjson' } })).text();
  return text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

async function all(iterable) {
  const found = [];
  for await (const one of iterable) found.push(one);
  return found;
}

async function until(what, isSo) {
  for (const end = Date.now() + 30_000; ; await sleep(10)) {
    const value = await isSo();
    if (value) return value;
    assert(Date.now() < end, `not in time: ${what}`);
  }
}

const rejects = (promise, Kind, more = {}) =>
  assert.rejects(promise, (error) => {
    assert(error instanceof Kind && error instanceof framegate.FramegateError, `${error?.name}: ${error?.message}`);
    for (const [key, value] of Object.entries(more)) assert.deepEqual(error[key], value, key);
    return true;
  });

const cases = {
  async runs_are_listed_in_pages_and_filtered() {
    const made = [];
    for (const [runner, name] of [['codex', 'exec-text-plain.ndjson'], ['claude-code', 'text_plain.ndjson'], ['opencode', 'run-text.ndjson']]) {
      const { runs, records } = await client.ingest(runner, another(runner, name));
      assert(records > 0 && runs.length > 0);
      made.push(...runs);
    }
    const page = await client.runPage({ limit: 1 });
    assert.equal(page.data.length, 1);
    assert.equal(page.next_skip, 1);
    const listed = await all(client.runs({ limit: 2 }));
    for (const run of made) assert(listed.some(({ run_id }) => run_id === run.run_id));
    assert.equal(new Set(listed.map(({ run_id }) => run_id)).size, listed.length);
    const codex = await all(client.runs({ runner: 'codex', state: 'completed' }));
    assert(codex.length > 0 && listed.length > codex.length);
    assert( codex.every((run) => run.runner === 'codex' && run.state === 'completed'));
    const { session_id, run_id } = made[0];
    const ofSession = await all(client.runs({ session_id }));
    assert(ofSession.every((run) => run.session_id === session_id));
    assert.deepEqual(ofSession.filter((run) => run.run_id === run_id), [await client.run(run_id)]);
  },

  async figures_are_summed_over_labelled_runs() {
    const labels = { package: 'typescript', 'file/name': 'a:b c&d' };
    const sent = { labels: { ...labels, runner: 'codex' } };
    const { runs } = await client.ingest('codex', another('codex', 'exec-command-ok.ndjson'), sent);
    await client.ingest('claude-code', another('claude-code', 'text_plain.ndjson'), { labels });
    assert.deepEqual(runs.map((run) => run.labels), [sent.labels]);
    assert.equal((await all(client.runs({ labels }))).length, 2);
    const { by, data, total, tools } = await client.stats({ by: ['day', 'runner'], labels, tz: '+02:00' });
    assert.deepEqual(by, ['day', 'runner']);
    assert.deepEqual(data.map((row) => row.runner).sort(), ['claude-code', 'codex']);
    assert.deepEqual([total.runs, total.tool_calls, total.failed_tool_calls], [2, 1, 0]);
    assert.deepEqual(tools.map(({ kind, calls, failed }) => [kind, calls, failed]), [['shell', 1, 0]]);
    const { started_at_ms } = runs[0];
    const one = { labels: sent.labels };
    assert.equal((await client.stats({ ...one, since: new Date(started_at_ms), until: started_at_ms + 1 })).total.runs, 1);
    assert.equal((await client.stats({ ...one, since: started_at_ms + 1 })).total.runs, 0);
    await rejects(client.stats({ tz: 'Europe/Berlin' }), framegate.BadRequestError, { status: 400 });
    const run = await client.startRun({ upstream: 'claude', prompt: 'quickly', labels });
    assert.deepEqual(run.labels, labels);
  },

  async the_package_knows_every_contract_and_type_of_the_proxy() {
    const catalogue = await client.catalogue();
    assert.deepEqual(catalogue.contracts.map(({ name }) => name).sort(), [...contracts].sort());
    for (const { name, type_key } of catalogue.contracts) assert.equal(typeKeys[name] ?? type_key, type_key);
    assert(Object.keys(typeKeys).length >= 10);
  },

  async every_contract_is_followed_to_its_end_although_the_connection_is_cut() {
    const cutting = await relay();
    const lines = another('claude-code', 'parallel_tools.partial.ndjson').split(/(?<=\n)/);
    const followers = [];
    let reconnects = 0;
    let last;
    cutting.cut = (number) => (last === undefined ? 700 + ((number * 2_377) % 9_000) : undefined);
    async function* output() {
      for (const [at, line] of lines.entries()) {
        yield line;
        if (at === 1) {
          const [run] = await until('a run', async () => (await client.runPage({ state: 'running' })).data);
          const through = cutting.client({ maxReconnects: 1_000 });
          const onReconnect = () => reconnects++;
          for (const contract of contracts) followers.push(all(through.events(run.run_id, { contract, onReconnect })));
        }
        await sleep(2);
      }
    }
    const { runs } = await client.ingest('claude-code', output());
    await until('enough cuts', () => reconnects >= 3 * contracts.length);
    // The last event may be longer than a connection lasts.
    last = true;
    const read = await Promise.all(followers);
    cutting.close();
    for (const [at, contract] of contracts.entries()) {
      assert.deepEqual(read[at], await replay(runs[0].run_id, contract), contract);
      const key = typeKeys[contract];
      if (key !== undefined) assert(read[at].every((event) => typeof event[key] === 'string'));
    }
  },

  async a_stored_cursor_continues_anywhere_in_every_contract() {
    const { runs } = await client.ingest('claude-code', another('claude-code', 'bash_ok.partial.ndjson'));
    const run = runs[0].run_id;
    for (const contract of contracts) {
      const whole = await replay(run, contract);
      for (const stop of [1, Math.floor(whole.length / 2), whole.length - 1]) {
        const first = client.events(run, { contract });
        const had = [];
        for await (const event of first) if (had.push(event) === stop) break;
        assert.deepEqual(had, whole.slice(0, stop));
        const rest = await all(client.events(run, { contract, after: first.cursor }));
        const [texts, known] = [had.map((event) => JSON.stringify(event)), new Set(had.map((event) => JSON.stringify(event)))];
        // Only what pixir.v1 shows live has no cursor of its own, and comes again.
        const fresh = rest.filter((event) => contract !== 'pixir.v1' || !known.has(JSON.stringify(event)));
        assert.deepEqual([...texts.map((text) => JSON.parse(text)), ...fresh], whole, `${contract} after ${first.cursor}`);
      }
      const over = client.events(run, { contract });
      await all(over);
      assert.deepEqual(await all(client.events(run, { contract, after: over.cursor })), [], contract);
    }
    assert.deepEqual(await all(client.events(run, { contract: 'frames.v2', after: -1 })), await replay(run, 'frames.v2'));
  },

  async questions_are_approved_and_rejected_and_not_repeated_after_a_cut() {
    for (const decision of ['approved', 'rejected']) {
      const cutting = await relay();
      const run = await client.startRun({ upstream: 'claude', prompt: 'carefully' });
      const ended = client.waitForRun(run.run_id);
      let reconnects = 0;
      const seen = [];
      const stream = cutting.client().events(run.run_id, { contract: 'sse.v1', onReconnect: () => reconnects++ });
      for await (const event of stream) {
        seen.push(event.type);
        if (event.type !== 'tool_call_proposed') continue;
        (async () => {
          for (const socket of cutting.open) socket.resetAndDestroy();
          await until('another connection', () => cutting.connections > 1 && cutting.open.size > 0);
          await sleep(300);
          const [question, ...others] = await all(client.pendingApprovals({ session_id: run.session_id }));
          assert.deepEqual([others, question.run_id, question.approval_id], [[], run.run_id, event.payload.approval_id]);
          const id = event.payload.approval_id;
          const given = await (decision === 'approved' ? client.approve(run.run_id, id) : client.reject(run.run_id, id, 'not that'));
          assert.equal(given.decision, decision);
          await rejects(client.approve(run.run_id, id), framegate.ConflictError, { status: 409 });
        })().catch((error) => {
          console.error(error);
          process.exit(1);
        });
      }
      cutting.close();
      assert.equal(seen.filter((type) => type === 'tool_call_proposed').length, 1, seen.join());
      const outcome = decision === 'approved' ? 'tool_call_approved' : 'tool_call_rejected';
      assert.equal(seen.filter((type) => type === outcome).length, 1);
      assert(reconnects >= 1);
      assert.equal((await ended).state, 'completed');
    }
    // A stream that begins after the question has it all the same.
    const run = await client.startRun({ upstream: 'claude', prompt: 'carefully' });
    const id = await until('a question', async () => (await client.run(run.run_id)).pending_approvals[0]);
    const { frames } = await client.run(run.run_id);
    for await (const event of client.events(run.run_id, { contract: 'frames.v2', after: frames - 1 })) {
      assert.deepEqual([event.type, event.approval_id], ['approval_requested', id]);
      break;
    }
    await rejects(client.approve(run.run_id, 'no-such-question'), framegate.NotFoundError);
    await rejects(client.approve(run.run_id, id, { scope: 'nonsense' }), framegate.ApiError);
    await client.answerApproval(run.run_id, id, { decision: 'deny', reason: 'no' });
    assert.equal((await client.waitForRun(run.run_id)).state, 'completed');
  },

  async a_question_that_wants_a_choice_is_answered() {
    const run = await client.startRun({ upstream: 'asks', prompt: 'ask me' });
    const id = await until('a question', async () => (await client.run(run.run_id)).pending_approvals[0]);
    await rejects(client.approve(run.run_id, id), framegate.UnprocessableError, { status: 422 });
    await client.approve(run.run_id, id, { answers: ['Blue'] });
    const frames = await all(client.events(run.run_id, { contract: 'frames.v2' }));
    const [{ args }] = frames.filter(({ type }) => type === 'approval_requested');
    assert.equal(args.questions[0].question, 'Which?');
    const [{ decision, reason }] = frames.filter(({ type }) => type === 'approval_resolved');
    assert.deepEqual([decision, reason], ['approved', 'Blue']);
  },

  async a_request_that_is_sent_again_has_the_same_key() {
    const keys = [];
    const losing = (answer) =>
      new Framegate({
        baseUrl,
        maxBackoffMs: 10,
        fetch: async (_, { headers }) => {
          keys.push(headers['idempotency-key']);
          if (keys.length % 2 === 1) throw new TypeError('lost');
          return Response.json(answer);
        },
      });
    const run = { run_id: 'x' };
    assert.deepEqual(await losing(run).startRun({ upstream: 'claude', prompt: 'x' }), run);
    assert.deepEqual(await losing({ runs: [] }).ingest('codex', 'x'), { runs: [] });
    const [one, again, other, otherAgain] = keys;
    assert(one.length >= 32 && one === again && other === otherAgain && one !== other, `${keys}`);
    // A stream is gone after the first attempt.
    await rejects(losing({ runs: [] }).ingest('codex', (async function* () {})()), framegate.ConnectionError);
    assert.equal(keys.at(-1), undefined);
  },

  async pauses_grow_from_what_the_proxy_says() {
    const times = [];
    const sent = (text) => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
    const answers = [
      () => sent('retry: 100\nid: 7\ndata: {"seq":7}\n\n'),
      () => sent(': nothing\n\n'),
      () => Promise.reject(new TypeError('lost')),
      () => new Response('', { status: 503 }),
      () => sent('id: 8\ndata: {"seq":8}\n\n'),
      () => new Response(null, { status: 204 }),
    ];
    const asked = [];
    const fetch = async (_, { headers }) => {
      times.push(Date.now());
      asked.push(headers['last-event-id']);
      return answers[times.length - 1]();
    };
    const read = await all(new Framegate({ baseUrl, fetch }).events('x', { contract: 'frames.v2', after: 6 }));
    assert.deepEqual(read, [{ seq: 7 }, { seq: 8 }]);
    assert.deepEqual(asked, ['6', '7', '7', '7', '7', '8']);
    const pauses = times.slice(1).map((time, at) => time - times[at]);
    // At once after an end, then 200, 400 and 800 ms, up to a fifth less.
    for (const [at, least] of [0, 155, 315, 635, 0].entries()) assert(pauses[at] >= least, `${pauses}`);
    assert(Math.max(pauses[0], pauses[4]) < pauses[3], `${pauses}`);
  },

  async a_start_that_is_sent_again_starts_one_run() {
    const cutting = await relay();
    cutting.cut = (number) => (number === 0 ? 0 : undefined);
    const run = await cutting.client().startRun({ upstream: 'claude', prompt: 'quickly' });
    assert(cutting.connections >= 2, 'the first answer was lost');
    const runs = await all(client.runs({ session_id: run.session_id }));
    assert.deepEqual(runs.map(({ run_id }) => run_id), [run.run_id]);
    const before = (await all(client.runs())).length;
    const key = `key-${process.pid}`;
    const [one, other] = [
      await client.startRun({ upstream: 'claude', prompt: 'quickly' }, { idempotencyKey: key }),
      await client.startRun({ upstream: 'claude', prompt: 'quickly' }, { idempotencyKey: key }),
    ];
    assert.equal(one.run_id, other.run_id);
    const again = client.startRun({ upstream: 'claude', prompt: 'differently' }, { idempotencyKey: key });
    await rejects(again, framegate.UnprocessableError, { status: 422 });
    const different = await client.startRun({ upstream: 'claude', prompt: 'quickly' });
    assert.notEqual(different.run_id, one.run_id);
    assert.equal((await all(client.runs())).length, before + 2);
    cutting.close();
  },

  async an_ingest_that_is_sent_again_is_stored_once() {
    const cutting = await relay();
    cutting.cut = (number) => (number === 0 ? 0 : undefined);
    const before = (await all(client.runs())).length;
    const made = await cutting.client().ingest('auto', another('codex', 'exec-text-plain.ndjson'));
    assert(cutting.connections >= 2);
    assert.equal((await all(client.runs())).length, before + made.runs.length);
    cutting.close();
  },

  async a_session_continues_and_its_feed_has_both_runs() {
    const run = await client.startRun({ upstream: 'claude', prompt: 'quickly' });
    await client.waitForRun(run.run_id);
    const ends = [];
    const stopping = new AbortController();
    const feed = client.sessionEvents(run.session_id, { contract: 'sse.v1', event_type: ['run_completed'], signal: stopping.signal });
    for await (const event of feed) {
      assert.equal(event.type, 'run_completed');
      ends.push([event.run_id, event.payload.final_text]);
      if (ends.length === 1) assert.deepEqual(await client.sendMessage(run.session_id, 'more'), { session_id: run.session_id });
      else break;
    }
    assert.deepEqual(ends.map(([, text]) => text), ['Answer 1.', 'Answer 2.']);
    assert.equal(ends[0][0], run.run_id);
    await rejects(client.sendMessage('00000000-0000-4000-8000-000000000000', 'hello'), framegate.ApiError);
  },

  async batches_have_the_same_events_also_after_cuts() {
    const { runs } = await client.ingest('claude-code', another('claude-code', 'bash_ok.partial.ndjson'));
    const run = runs[0].run_id;
    const expected = (await replay(run, 'frames.v2')).map((event) => event.seq);
    const cutting = await relay();
    cutting.cut = (number) => (number < 3 ? 2_500 : undefined);
    const stream = cutting.client().events(run, { contract: 'frames.v2' });
    const read = [];
    let most = 0;
    for await (const events of stream.batches()) {
      read.push(...events.map((event) => event.seq));
      most = Math.max(most, events.length);
      assert.equal(stream.cursor, `${read.at(-1)}`);
    }
    assert.deepEqual(read, expected);
    assert(most > 1, 'events that arrive together are given together');
    assert(cutting.connections >= 4, `${cutting.connections}`);
    assert.throws(() => stream[Symbol.asyncIterator](), framegate.FramegateError);
    cutting.close();
  },

  async the_feed_of_all_runs_continues_after_cuts() {
    const cutting = await relay();
    cutting.cut = (number) => (number < 4 ? 2_500 : undefined);
    const through = cutting.client();
    const [last] = (await client.runPage({ limit: 1 })).data;
    // The whole history, and a run that begins meanwhile.
    const read = [];
    let started;
    for await (const event of through.allEvents({ contract: 'agent-manager.v1' })) {
      read.push(`${event.runId} ${event.sequence}`);
      if (event.runId === last.run_id && started === undefined) started = client.startRun({ upstream: 'claude', prompt: 'quickly' });
      const isNew = started !== undefined && (await started).run_id === event.runId;
      if (isNew && event.eventType === 'status' && event.data.newStatus === 'complete') break;
    }
    assert(cutting.connections >= 5, `${cutting.connections}`);
    assert.equal(new Set(read).size, read.length, 'no event twice');
    for (const run of (await client.runPage({ limit: 3 })).data) {
      const events = await replay(run.run_id, 'agent-manager.v1');
      assert(events.every((event) => read.includes(`${event.runId} ${event.sequence}`)), 'no event is missing');
    }
    // Only what is new, and only one type.
    const latest = client.allEvents({ contract: 'frames.v2', after: 'latest', event_type: ['session_ended'] });
    const next = latest[Symbol.asyncIterator]();
    const first = next.next();
    let isThere = false;
    void first.finally(() => (isThere = true));
    // Nothing says when the feed is connected, so runs begin until it has one.
    const begun = [];
    while (!isThere) {
      begun.push((await client.startRun({ upstream: 'claude', prompt: 'quickly' })).run_id);
      await sleep(300);
    }
    const { value } = await first;
    assert(value.type === 'session_ended' && begun.includes(value.stream_id));
    await next.return();
    cutting.close();
  },

  async a_run_is_interrupted_and_a_wait_is_bounded() {
    const run = await client.startRun({ upstream: 'claude', prompt: 'slowly' });
    await rejects(client.waitForRun(run.run_id, { timeoutMs: 300 }), framegate.TimeoutError);
    const ended = client.waitForRun(run.run_id);
    assert.deepEqual(await client.interruptRun(run.run_id), { run_id: run.run_id });
    assert.equal((await ended).state, 'interrupted');
    await rejects(client.interruptRun(run.run_id), framegate.ConflictError, { status: 409 });
  },

  async artifacts_are_listed_and_checked_while_they_are_read() {
    const output = '0123456789'.repeat(50_000) + Math.random();
    const records = [
      { type: 'system', subtype: 'init', session_id: 's-1', model: 'm', tools: [], cwd: '/' },
      { type: 'assistant', session_id: 's-1', message: { id: 'm1', role: 'assistant', model: 'm', content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'x' } }] } },
      { type: 'user', session_id: 's-1', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: output }] } },
      { type: 'result', subtype: 'success', is_error: false, session_id: 's-1', result: 'done' },
    ];
    const { runs } = await client.ingest('claude-code', records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const [artifact, ...others] = await client.artifacts(runs[0].run_id);
    assert.deepEqual([others, artifact.bytes, artifact.kind], [[], output.length, 'command_output']);
    for (const asked of [artifact, artifact.artifact_id, artifact.digest.slice('sha256:'.length)]) {
      const download = await client.downloadArtifact(asked);
      assert.deepEqual([download.digest, download.contentType], [artifact.digest, 'text/plain; charset=utf-8']);
      assert.equal(download.size, asked === artifact ? output.length : undefined);
      assert.equal(await download.text(), output);
    }
    const streamed = [];
    for await (const chunk of (await client.downloadArtifact(artifact)).stream) streamed.push(chunk);
    assert.equal(Buffer.concat(streamed).toString(), output);
    // Other bytes, and too few.
    for (const damage of [(bytes) => bytes.fill(48, 7, 9), (bytes) => bytes.subarray(1)]) {
      const damaging = new Framegate({
        baseUrl,
        fetch: async (url, init) => {
          const response = await fetch(url, init);
          const headers = new Headers(response.headers);
          headers.delete('content-length');
          return new Response(damage(new Uint8Array(await response.arrayBuffer())), { headers });
        },
      });
      for (const asked of [artifact, artifact.artifact_id]) {
        await rejects((await damaging.downloadArtifact(asked)).bytes(), framegate.IntegrityError);
      }
    }
    const cutting = await relay();
    cutting.cut = () => 100_000;
    await rejects((await cutting.client().downloadArtifact(artifact)).bytes(), framegate.ConnectionError);
    cutting.close();
    const stopping = new AbortController();
    const stopped = await client.downloadArtifact(artifact, { signal: stopping.signal });
    stopping.abort(new Error('enough'));
    await assert.rejects(stopped.text(), /enough/);
    await rejects(client.downloadArtifact('0'.repeat(64)), framegate.NotFoundError);
    await rejects(client.downloadArtifact('nonsense'), framegate.BadRequestError);
  },

  async the_hash_is_sha_256() {
    for (let size = 0; size < 300; size++) {
      const bytes = randomBytes(size);
      const hash = new Sha256();
      const at = Math.floor(Math.random() * size);
      hash.update(bytes.subarray(0, at));
      hash.update(bytes.subarray(at));
      assert.equal(hash.hex(), createHash('sha256').update(bytes).digest('hex'), `${size}`);
    }
  },

  async errors_are_typed_by_their_status() {
    const missing = '00000000-0000-4000-8000-000000000000';
    await rejects(client.run('nonsense'), framegate.BadRequestError, { status: 400 });
    await rejects(client.run(missing), framegate.NotFoundError, { status: 404 });
    await rejects(all(client.events(missing, { contract: 'sse.v1' })), framegate.NotFoundError);
    await rejects(all(client.events(missing, { contract: 'no.such' })), framegate.ApiError);
    await rejects(client.startRun({ upstream: 'nobody', prompt: 'x' }), framegate.NotFoundError);
    await rejects(client.ingest('auto', 'this is no output of a runner\n'), framegate.UnprocessableError);
    await client.run(missing).catch(({ problem }) => {
      assert.deepEqual([problem.status, problem.title, problem.type], [404, 'Not Found', 'about:blank']);
      assert(problem.detail.includes(missing));
    });
    const tokens = (token) => new Framegate({ baseUrl: plan.tokens_url, ...(token && { token }) });
    await rejects(tokens().runPage(), framegate.AuthenticationError, { status: 401 });
    await rejects(tokens('wrong-0123456789abcdef').runPage(), framegate.AuthenticationError);
    await rejects(tokens(plan.tokens.reads).interruptRun(missing), framegate.PermissionDeniedError, { status: 403 });
    assert.deepEqual((await tokens(async () => plan.tokens.reads).runPage()).data, []);
    // Neither a proxy nor a problem document.
    await rejects(new Framegate({ baseUrl: 'http://127.0.0.1:9', maxRetries: 0 }).runPage(), framegate.ConnectionError);
    const answering = (answers, options) => {
      let asked = 0;
      const custom = new Framegate({ baseUrl, fetch: async () => answers[asked++]?.(), maxBackoffMs: 20, ...options });
      return [custom, () => asked];
    };
    const page = () => Response.json({ object: 'list', data: [], next_skip: null });
    const gateway = () => new Response('<html>bad gateway</html>', { status: 502 });
    const busy = () => Response.json({ status: 429, detail: 'slowly', title: '', type: '' }, { status: 429, headers: { 'retry-after': '0' } });
    const [recovering, asked] = answering([gateway, busy, page]);
    assert.deepEqual((await recovering.runPage()).data, []);
    assert.equal(asked(), 3);
    await rejects(answering([gateway], { maxRetries: 0 })[0].runPage(), framegate.ServerError, { status: 502, problem: undefined });
    const [limited, times] = answering([busy, busy, busy, busy]);
    await rejects(limited.runPage(), framegate.RateLimitError, { status: 429, retryAfterMs: 0 });
    assert.equal(times(), 3);
    // What may have been done is not sent again.
    const [once_, sends] = answering([gateway, page]);
    await rejects(once_.sendMessage(missing, 'x'), framegate.ServerError);
    assert.equal(sends(), 1);
  },

  async silence_ends_a_call_and_renews_a_stream() {
    const stalled = await relay();
    stalled.isStalled = true;
    await rejects(stalled.client({ timeoutMs: 1_000, maxRetries: 1 }).runPage(), framegate.TimeoutError);
    assert.equal(stalled.connections, 2);
    stalled.isStalled = false;
    const run = await client.startRun({ upstream: 'claude', prompt: 'carefully' });
    const errors = [];
    const onReconnect = ({ error }) => {
      if (error) errors.push(error);
      stalled.isStalled = false;
    };
    const stream = stalled.client({ heartbeatTimeoutMs: 900 }).events(run.run_id, { contract: 'hecate.v1', onReconnect });
    const read = [];
    for await (const event of stream) {
      read.push(event);
      if (event.type !== 'approval.requested') continue;
      // The rest of this connection is withheld, until the client gives it up.
      stalled.isStalled = true;
      await client.approve(run.run_id, event.data.approval_id);
    }
    assert(errors.length >= 1 && errors.some((error) => error instanceof framegate.TimeoutError), `${errors}`);
    assert.deepEqual(read, await replay(run.run_id, 'hecate.v1'));
    // With heartbeats, silence is no reason to reconnect.
    const waiting = await client.startRun({ upstream: 'claude', prompt: 'slowly' });
    let reconnects = 0;
    const quiet = stalled
      .client({ heartbeatTimeoutMs: 2_000 })
      .events(waiting.run_id, { contract: 'hecate.v1', onReconnect: () => reconnects++, signal: AbortSignal.timeout(4_000) });
    await assert.rejects(all(quiet), { name: 'TimeoutError' });
    assert.equal(reconnects, 0);
    await client.interruptRun(waiting.run_id);
    stalled.close();
  },

  async a_stream_that_gives_nothing_fails_in_the_end() {
    const gone = await relay();
    const run = await client.startRun({ upstream: 'claude', prompt: 'carefully' });
    const stream = gone.client({ maxReconnects: 3, maxBackoffMs: 20 }).events(run.run_id, { contract: 'sse.v1' });
    await rejects(
      (async () => {
        for await (const event of stream) if (event.type === 'tool_call_proposed') gone.close();
      })(),
      framegate.ConnectionError,
    );
    await client.interruptRun(run.run_id);
  },

  async an_abort_ends_calls_and_streams() {
    const counting = await relay();
    const through = counting.client();
    const run = await client.startRun({ upstream: 'claude', prompt: 'slowly' });
    const stopping = new AbortController();
    const reason = new Error('enough');
    const stream = through.events(run.run_id, { contract: 'sse.v1', signal: stopping.signal });
    setTimeout(() => stopping.abort(reason), 200);
    await assert.rejects(all(stream), (error) => error === reason);
    const wait = new AbortController();
    setTimeout(() => wait.abort(reason), 200);
    await assert.rejects(through.waitForRun(run.run_id, { signal: wait.signal }), (error) => error === reason);
    await assert.rejects(through.runPage({}, { signal: AbortSignal.abort(reason) }), (error) => error === reason);
    // A reader that leaves closes its connection.
    for await (const event of through.events(run.run_id, { contract: 'sse.v1' })) {
      assert.equal(event.type, 'run_started');
      break;
    }
    await until('connections are closed or idle', async () => {
      // Idle connections of `fetch` close by themselves; the streams must not keep theirs.
      return counting.open.size <= 1;
    });
    const again = through.events(run.run_id, { contract: 'sse.v1' });
    again[Symbol.asyncIterator]();
    assert.throws(() => again[Symbol.asyncIterator](), framegate.FramegateError);
    await client.interruptRun(run.run_id);
    counting.close();
  },
};

for (const [name, holds] of Object.entries(cases)) {
  if (only !== undefined && !name.includes(only)) continue;
  const timer = setTimeout(() => {
    console.error(`${name} takes too long`);
    process.exit(1);
  }, 60_000);
  await holds().catch((error) => {
    console.error(name, error);
    process.exit(1);
  });
  clearTimeout(timer);
  console.log(name);
}
process.exit(0);
