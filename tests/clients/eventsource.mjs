// The `eventsource` package: it reconnects by itself, with the id of the last event, until it is told that there is no more.
import { EventSource } from 'eventsource';
import { plan, say } from './plan.mjs';

for (const { contract, url, names } of plan()) {
  const source = new EventSource(url);
  source.onopen = () => say({ contract, open: true });
  const told = ({ type, data, lastEventId }) => say({ contract, name: type, id: lastEventId, data });
  source.onmessage = told;
  for (const name of names) source.addEventListener(name, told);
  source.onerror = ({ code }) => {
    if (source.readyState === EventSource.CLOSED) say({ contract, end: code });
  };
}
