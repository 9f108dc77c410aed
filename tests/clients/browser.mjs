// A browser's own EventSource, on a page of the same origin as the streams.
import { chromium } from 'playwright-core';
import { plan, say } from './plan.mjs';

const streams = plan();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM });
// What the proxy answers may load nothing, so that nothing can be made of it; a page of somebody's own says that itself.
const page = await browser.newPage({ bypassCSP: true });
await page.goto(new URL('/healthz', streams[0].url).href);
await page.exposeFunction('say', say);
await page.evaluate(async (streams) => {
  const follow = ({ contract, url, names }) =>
    new Promise((resolve) => {
      const source = new EventSource(url);
      const end = (how) => {
        source.close();
        resolve(window.say({ contract, end: how }));
      };
      source.onopen = () => window.say({ contract, open: true });
      const told = ({ type, data, lastEventId }) => window.say({ contract, name: type, id: lastEventId, data });
      source.onmessage = told;
      for (const name of names) source.addEventListener(name, told);
      // A browser does not tell a page the status; it closes for good on 204 and on errors, and tries again otherwise.
      source.onerror = () => source.readyState === EventSource.CLOSED && end('closed');
    });
  await Promise.all(streams.map(follow));
}, streams);
await browser.close();
