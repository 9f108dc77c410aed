// The built proxy as a process of the test: starts, restarts on the same port, stops.
//
// In: settings as `{'log.kind': 'sqlite'}` and arguments of `serve`. Out: a running proxy and small clients of its API. Never: a
// process that outlives its test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { atEnd } from './cleanup.mjs';

const PROGRAM = process.env.FRAMEGATE;
if (!PROGRAM) throw new Error('FRAMEGATE must be the path of the built program');

const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** A folder that is removed when the test ends. */
export async function folder(test) {
  const path = await mkdtemp(join(tmpdir(), 'framegate-page-'));
  atEnd(test, () => rm(path, { recursive: true, force: true }));
  return path;
}

export class Proxy {
  /** Starts a proxy that stops when the test ends. Its log is in memory unless the settings say otherwise. */
  static async start(test, { settings = {}, args = [], environment = {} } = {}) {
    const proxy = new Proxy();
    proxy.settings = { 'log.kind': 'memory', ...settings };
    proxy.args = args;
    proxy.environment = environment;
    proxy.token = undefined;
    proxy.log = '';
    await proxy.launch('127.0.0.1:0');
    atEnd(test, () => proxy.stop('SIGKILL'));
    return proxy;
  }

  async launch(listen) {
    const settings = Object.entries({ ...this.settings, 'server.listen': listen });
    const env = { ...process.env, ...this.environment };
    for (const [name, value] of settings) env[`FRAMEGATE__${name.replaceAll('.', '__').toUpperCase()}`] = String(value);
    const child = spawn(PROGRAM, ['serve', ...this.args], { cwd: tmpdir(), env, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    child.once('exit', () => running.delete(child));
    child.stderr.on('data', (text) => (this.log += text));
    this.child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      const found = /http:\/\/([0-9.]+:\d+)/.exec(line);
      if (found) {
        // What it prints later must not fill the pipe.
        child.stdout.resume();
        this.address = found[1];
        this.url = `http://${this.address}`;
        return;
      }
    }
    throw new Error(`the proxy did not start: ${this.log}`);
  }

  /** Ends the process, and waits until it has ended. */
  async stop(signal = 'SIGTERM') {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill(signal);
    await ended;
  }

  /** Starts again on the same port. */
  async restart() {
    await this.launch(this.address);
  }

  async fetch(path, options = {}) {
    const headers = { ...(this.token && { authorization: `Bearer ${this.token}` }), ...options.headers };
    return fetch(this.url + path, { ...options, headers });
  }

  async json(path, options) {
    const answer = await this.fetch(path, options);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  /** Sends a whole recording; returns the ids of its runs. */
  async ingest(runner, bytes, headers = {}) {
    const body = await this.json(`/v1/ingest/${runner}`, { method: 'POST', body: bytes, headers });
    return body.runs.map((run) => run.run_id);
  }

  async runs(query = '') {
    return (await this.json(`/v1/runs?limit=500${query}`)).data;
  }

  /** The newest run, as soon as there is one that is not in `known`. */
  async newRun(known = []) {
    return until('a new run', async () => (await this.runs()).find((run) => !known.includes(run.run_id))?.run_id);
  }

  /** All frames of a run. */
  async frames(run) {
    const frames = [];
    for (let after = -1; ; after = frames.at(-1).seq) {
      const { data } = await this.json(`/v1/runs/${run}/events?contract=frames.v2&limit=500&after=${after}`);
      if (data.length === 0) return frames;
      frames.push(...data);
    }
  }

  /** Waits until the status of a run is as wanted. */
  async status(run, what, isSo) {
    return until(`the run is ${what}`, async () => {
      const status = await this.json(`/v1/runs/${run}`);
      return isSo(status) && status;
    });
  }
}

/** A body that is sent in pieces, as a runner's output arrives. */
export class Trickle {
  constructor(proxy, runner) {
    const url = new URL(`/v1/ingest/${runner}`, proxy.url);
    const headers = proxy.token ? { authorization: `Bearer ${proxy.token}` } : {};
    this.request = request(url, { method: 'POST', headers });
    this.request.flushHeaders();
    this.answer = new Promise((resolve) => {
      this.request.on('error', (error) => resolve({ error }));
      this.request.on('response', async (response) => {
        let text = '';
        try {
          for await (const piece of response) text += piece;
        } catch {
          // The proxy was killed in the middle of its answer.
        }
        resolve({ status: response.statusCode, text });
      });
    });
  }

  /** Writes bytes; resolves when the system has taken them. */
  write(bytes) {
    return new Promise((resolve) => this.request.write(bytes, resolve));
  }

  /** Writes bytes in pieces of `size`, which may end within a character, with a pause after each. */
  async trickle(text, size, pause) {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) {
      await this.write(bytes.subarray(at, at + size));
      await sleep(pause);
    }
  }

  async end() {
    this.request.end();
    return this.answer;
  }
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks again and again; returns the first answer that is not falsy. */
export async function until(what, ask, ms = 20_000) {
  const deadline = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`still waiting for ${what} after ${ms} ms`);
    await sleep(25);
  }
}
