// Chromium, and pages that are watched: whatever the page does that it must never do fails the test.
//
// In: a URL and what the test expects to go wrong. Out: a Playwright page. Never: an unexpected error, request, dialog, download,
// navigation or CSP violation that the test does not see.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { atEnd } from './cleanup.mjs';

if (!process.env.CHROMIUM) throw new Error('CHROMIUM must be the path of a Chromium');

let launched;

/** One browser for all tests of a program. */
function browser() {
  launched ??= chromium.launch({ executablePath: process.env.CHROMIUM });
  return launched;
}

/** Closes the browser: `after(close)`. */
export async function close() {
  await (await launched)?.close();
  launched = undefined;
}

/** The name that hostile texts call. */
export const CANARY = 'framegateCanary';

/**
 * Opens a page in a context of its own. Options: those of Playwright's contexts; `allow`: patterns of console errors that the test
 * provokes, such as failed requests.
 */
export async function open(test, url, { allow = [], ...options } = {}) {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const watch = new Watch(new URL(url), allow);
  await watch.attach(context);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.watch = watch;
  atEnd(test, async () => {
    await context.close();
    watch.check();
  });
  await page.goto(url);
  return page;
}

export class Watch {
  constructor(url, allow) {
    this.origin = url.protocol === 'file:' ? undefined : url.origin;
    this.home = url.href.split('#')[0];
    this.allow = allow;
    this.problems = [];
    /** Every request: `{method, url, headers}`. */
    this.requests = [];
    /** All that the console said. */
    this.console = [];
  }

  report(what) {
    if (!this.allow.some((pattern) => pattern.test(what))) this.problems.push(what);
  }

  async attach(context) {
    await context.exposeBinding(CANARY, (_, what) => this.problems.push(`a text of the run was executed: ${what}`));
    await context.exposeBinding('framegateViolation', (_, what) => this.report(`CSP violation: ${what}`));
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        window.framegateViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
      });
    });
    context.on('request', (request) => this.request(request));
    context.on('console', (message) => {
      this.console.push(`${message.type()}: ${message.text()}`);
      if (['error', 'warning', 'assert'].includes(message.type())) this.report(`console ${message.type()}: ${message.text()}`);
    });
    context.on('weberror', (error) => this.report(`error: ${error.error().stack ?? error.error().message}`));
    context.on('dialog', (dialog) => {
      this.problems.push(`dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    context.on('page', (page) => {
      this.pages = (this.pages ?? 0) + 1;
      if (this.pages > 1) this.report(`another page was opened: ${page.url()}`);
      page.on('frameattached', () => this.report('a frame was attached'));
      page.on('download', (download) => this.report(`download: ${download.url()}`));
      page.on('crash', () => this.problems.push('the page crashed'));
      page.on('framenavigated', (frame) => {
        const url = frame.url();
        if (frame === page.mainFrame() && url !== 'about:blank' && url.split('#')[0] !== this.home) {
          this.report(`the page navigated to ${url}`);
        }
      });
    });
  }

  request(request) {
    const url = request.url();
    this.requests.push({ method: request.method(), url, headers: request.headers() });
    const isLocal = ['data:', 'blob:'].some((scheme) => url.startsWith(scheme));
    const isOwn = this.origin ? url.startsWith(`${this.origin}/`) : url.split('#')[0] === this.home;
    if (!isLocal && !isOwn) this.report(`request to another origin: ${url}`);
  }

  check() {
    assert.deepEqual([...new Set(this.problems)], [], 'the page did what it must not do');
  }
}

/** Errors of a browser whose connection is cut or refused, or whose request the proxy refuses. */
export const FAILED_REQUESTS = [/Failed to load resource/, /net::ERR_/];
