// Where things are on the page: the only selectors that depend on how it is built.
import assert from 'node:assert/strict';
import { frame } from './inspect.mjs';

/** What has its content: no view, and no part of one, is still loading. */
const LOADED = 'main:not(:has(.spinner, .trace-row.is-empty))';

/** Waits until the view has its first data. */
export async function ready(page, view) {
  await page.locator(`${LOADED}[data-view=${view}]`).waitFor();
  await frame(page);
}

/** The items of a conversation, by what they are: `prompt`, `text`, `reasoning`, `tool`, `plan`, `error`, `notice`, `gap`, `turn`, `end`. */
export const items = (page, kind) => page.locator(`[data-view] [data-item${kind ? `=${kind}` : ''}]`);
/** The cards of tools. */
export const tools = (page, kind, state) => page.locator(`[data-tool]${kind ? `[data-kind=${kind}]` : ''}${state ? `[data-state=${state}]` : ''}`);
/** How the connection of a run is. */
export const connection = (page, ...states) => page.locator(states.map((state) => `[data-connection=${state}]`).join(', '));
/** The bars of the timeline: of turns, of calls, of waits. */
export const bars = (page, row) => page.locator(`[data-bar]${row ? `[data-row=${row}]` : ''}`);
/** The questions that a run waits for. */
export const questions = (page) => page.locator('[data-approval]');

/** Opens a route within the page, as a link does. */
export async function go(page, route, view) {
  await page.evaluate((route) => {
    location.hash = route;
  }, route);
  await ready(page, view);
}

export const conversation = (page, run) => go(page, `#/runs/${run}`, 'conversation');
export const timeline = (page, run) => go(page, `#/runs/${run}/timeline`, 'timeline');
export const trace = (page, run, contract) => go(page, `#/runs/${run}/trace${contract ? `?contract=${contract}` : ''}`, 'trace');
export const runsList = (page) => go(page, '#/runs', 'runs');
export const stats = (page) => go(page, '#/stats', 'stats');

/** Letters and digits of a text, to compare it with what markdown made of it. */
export const letters = (text) => text.normalize().replace(/[^\p{L}\p{N}]+/gu, '');

/** Fails if the page scrolls sideways. */
export async function checkWidth(page, where) {
  const { content, window, widest } = await page.evaluate(() => {
    const elements = [...document.querySelectorAll('body *')];
    const isClipped = (element) => {
      for (let parent = element.parentElement; parent; parent = parent.parentElement) {
        if (getComputedStyle(parent).overflowX !== 'visible') return true;
      }
      return false;
    };
    const over = elements.filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !isClipped(element));
    return {
      content: document.scrollingElement.scrollWidth,
      window: innerWidth,
      widest: over.slice(0, 3).map((element) => element.outerHTML.slice(0, 150)),
    };
  });
  assert.ok(content <= window, `${where}: ${content} px in a window of ${window} px: ${widest.join('\n')}`);
}
