// A TCP relay between the browser and the proxy, whose connections can be cut or stalled.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { atEnd } from './cleanup.mjs';

export class Relay {
  static async to(test, proxy) {
    const relay = new Relay();
    relay.sockets = new Set();
    relay.refuses = false;
    relay.cuts = 0;
    relay.server = createServer((client) => relay.accept(client, proxy));
    relay.server.listen(0, '127.0.0.1');
    await once(relay.server, 'listening');
    relay.url = `http://127.0.0.1:${relay.server.address().port}`;
    atEnd(test, () => {
      relay.cut();
      relay.server.close();
    });
    return relay;
  }

  accept(client, proxy) {
    if (this.refuses) return client.destroy();
    const [host, port] = proxy.address.split(':');
    const server = connect(Number(port), host);
    const pair = { client, server };
    this.sockets.add(pair);
    const end = () => {
      this.sockets.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', end);
    }
    client.pipe(server);
    server.pipe(client);
  }

  /** Cuts every open connection. */
  cut() {
    this.cuts += this.sockets.size;
    for (const { client, server } of [...this.sockets]) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Closes new connections at once, as if no proxy listened. */
  refuse(refuses) {
    this.refuses = refuses;
  }
}
