// Serves the page on http://localhost:5173, and passes what it asks of framegate on.
// PORT and FRAMEGATE_URL in the environment choose another port and another proxy.
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { build } from 'esbuild';

const framegate = new URL(process.env.FRAMEGATE_URL ?? 'http://127.0.0.1:8080');
const here = (name) => new URL(name, import.meta.url);

const bundle = await build({
  entryPoints: [here('src/main.jsx').pathname],
  bundle: true,
  format: 'esm',
  jsx: 'automatic',
  minify: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  write: false,
});
const files = {
  '/': ['text/html; charset=utf-8', await readFile(here('index.html'))],
  '/main.js': ['text/javascript; charset=utf-8', bundle.outputFiles[0].contents],
};

// Other sites must not reach framegate through this server, neither by their pages nor under a host name of theirs.
function isOwn({ headers: { host = '', origin = `http://${host}` } }) {
  return /^(localhost|127\.0\.0\.1):\d+$/.test(host) && origin === `http://${host}`;
}

// The page and framegate thus have one origin, so framegate needs no `cors_origins`.
function pass(incoming, outgoing) {
  const { host, origin, ...headers } = incoming.headers;
  const options = { method: incoming.method, headers };
  const upstream = request(new URL(incoming.url, framegate), options, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
    // A page that leaves ends its request to framegate; the run goes on.
    outgoing.on('close', () => answer.destroy());
  });
  upstream.on('error', (error) => {
    if (outgoing.headersSent) return outgoing.destroy();
    outgoing.writeHead(502, { 'content-type': 'text/plain' }).end(`framegate at ${framegate.href}: ${error.message}`);
  });
  incoming.pipe(upstream);
}

const server = createServer((incoming, outgoing) => {
  if (!isOwn(incoming)) return outgoing.writeHead(403).end();
  if (/^\/(ai-sdk|v1)\//.test(incoming.url)) return pass(incoming, outgoing);
  const file = files[incoming.url.split('?')[0]];
  if (!file) return outgoing.writeHead(404).end();
  outgoing.writeHead(200, { 'content-type': file[0] }).end(file[1]);
});
server.listen(Number(process.env.PORT ?? 5173), '127.0.0.1', () => {
  console.log(`The chat is on http://localhost:${server.address().port}, and framegate on ${framegate.href}`);
});
