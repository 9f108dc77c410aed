// What the document consists of, after hostile texts have been shown in it: only what the page itself makes.
import assert from 'node:assert/strict';

/** Elements that the page never makes. */
const FORBIDDEN = 'iframe, frame, object, embed, base, applet, style, template, math, marquee, audio, video, source, portal, isindex, foreignObject, animate, set, use';

/** Fails if the document has an element or an attribute that can run, load or send something. */
export async function checkDocument(page, where) {
  const found = await page.evaluate((forbidden) => {
    const problems = [];
    const roots = [document];
    for (const root of roots) {
      for (const element of root.querySelectorAll('*')) {
        if (element.shadowRoot) roots.push(element.shadowRoot);
        const name = element.tagName.toLowerCase();
        const show = () => element.cloneNode(false).outerHTML?.slice(0, 200);
        const isOfFile = location.protocol === 'file:' && (element.parentElement === document.head || element.id === 'framegate-export' || element.parentElement === document.body);
        if (element.matches(forbidden) && !(isOfFile && name === 'style')) problems.push(`<${name}>: ${show()}`);
        if (name === 'script' && !isOfFile && !(element.src === `${location.origin}/app.js`)) problems.push(`a script: ${show()}`);
        if (['link', 'meta'].includes(name) && element.parentElement !== document.head) problems.push(`<${name}>: ${show()}`);
        for (const { name: attribute, value } of element.attributes) {
          if (/^on/i.test(attribute) || ['srcdoc', 'srcset', 'ping', 'background', 'poster', 'formaction'].includes(attribute)) {
            problems.push(`${attribute}: ${show()}`);
          }
          if (['href', 'xlink:href', 'src', 'action', 'data'].includes(attribute)) {
            let scheme;
            try {
              scheme = new URL(value, location.href).protocol;
            } catch {
              scheme = 'invalid';
            }
            // The page's own icon.
            const isIcon = name === 'link' && element.rel === 'icon' && element.parentElement === document.head && value.startsWith('data:image/svg+xml,');
            const isImage = name === 'img' && /^(blob:|data:image\/(png|jpe?g|gif|webp|avif)[;,])/i.test(value);
            // A file's own links keep its scheme.
            const known = ['http:', 'https:', 'mailto:', 'blob:', location.protocol];
            if (!isImage && !isIcon && !known.includes(scheme)) problems.push(`${attribute}=${value.slice(0, 80)}: ${show()}`);
            if (name === 'img' && /^https?:/.test(new URL(value, location.href).href) && !value.startsWith('/') && new URL(value, location.href).origin !== location.origin) {
              problems.push(`an image of another origin: ${show()}`);
            }
          }
        }
        if (name === 'a' && element.target === '_blank' && !element.relList.contains('noopener')) problems.push(`no noopener: ${show()}`);
      }
    }
    for (const name of ['isAdmin', 'x']) {
      if (name in {}) problems.push(`Object.prototype.${name}`);
    }
    return [...new Set(problems)];
  }, FORBIDDEN);
  assert.deepEqual(found, [], `${where}: the document has what the page does not make`);
}

/** Scrolls each scrollable part to its end step by step, so that everything that is drawn on demand was drawn once. */
export async function scrollThrough(page, { seen = async () => {}, limit = 400 } = {}) {
  const reset = await page.evaluate(() => {
    const scrolls = (element) => element.scrollHeight > element.clientHeight + 4 && ['auto', 'scroll'].includes(getComputedStyle(element).overflowY);
    const parts = [document.scrollingElement, ...document.querySelectorAll('body *')].filter(
      (element) => element && (element === document.scrollingElement ? element.scrollHeight > innerHeight + 4 : scrolls(element)),
    );
    window.framegateParts = parts.sort((one, other) => other.clientHeight * other.clientWidth - one.clientHeight * one.clientWidth).slice(0, 3);
    for (const part of window.framegateParts) part.scrollTop = 0;
    return window.framegateParts.length;
  });
  await frame(page);
  await seen();
  if (reset === 0) return;
  for (let step = 0; step < limit; step += 1) {
    const moved = await page.evaluate(() => {
      let moved = false;
      for (const part of window.framegateParts) {
        const before = part.scrollTop;
        part.scrollTop += Math.max(50, part.clientHeight * 0.8);
        moved ||= part.scrollTop > before;
      }
      return moved;
    });
    await frame(page);
    await seen();
    if (!moved) return;
  }
}

/**
 * The longest task of a page's main thread while `work` is done: `{cpu, wall}` in ms. Its time on a processor says what the page costs;
 * how long it took says also how busy the machine was.
 */
export async function longestTask(page, work) {
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: ['__metadata', 'disabled-by-default-devtools.timeline'] });
  await work();
  const { traceEvents: events } = JSON.parse(await browser.stopTracing());
  const thread = ({ pid, tid }) => `${pid} ${tid}`;
  const main = new Set(events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(thread));
  // A task without is shorter than a step of the clock, or goes on when the trace ends.
  const tasks = events.filter((event) => event.name === 'RunTask' && main.has(thread(event)) && event.tdur !== undefined);
  assert.ok(tasks.length > 10, `the trace has ${tasks.length} tasks with their times`);
  return { cpu: Math.max(...tasks.map(({ tdur }) => tdur)) / 1000, wall: Math.max(...tasks.map(({ dur }) => dur)) / 1000 };
}

/** Waits until the page has drawn. */
export const frame = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

/** Opens everything that is folded and on screen. */
export async function unfold(page) {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('main details:not([open])')) details.open = true;
    for (const button of document.querySelectorAll('main button[aria-expanded=false]')) {
      if (!button.getAttribute('aria-haspopup')) button.click();
    }
  });
  await frame(page);
}
