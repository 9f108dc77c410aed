// Where things are on the page: the only selectors that depend on how it is built.
import assert from 'node:assert/strict';
import { frame } from './inspect.mjs';

/** Waits until the view has its first data. */
export async function ready(page, view) {
  await page.locator(`[data-view=${view}]`).waitFor();
  await page.locator(`[data-view=${view}]:not([aria-busy=true])`).waitFor();
  await frame(page);
}

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
