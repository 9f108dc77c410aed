"""The httpx-sse package: whoever uses it goes on by hand after the last id."""

import json
import sys
import threading
import time

import httpx
from httpx_sse import connect_sse

LOCK = threading.Lock()


def say(**what):
    with LOCK:
        print(json.dumps(what), flush=True)


def follow(stream):
    contract, last = stream["contract"], None
    with httpx.Client(timeout=60, trust_env=False) as client:
        while True:
            headers = {} if last is None else {"last-event-id": last}
            try:
                with connect_sse(client, "GET", stream["url"], headers=headers) as source:
                    if source.response.status_code != 200:
                        return say(contract=contract, end=source.response.status_code)
                    say(contract=contract, open=True)
                    for event in source.iter_sse():
                        last = event.id or last
                        say(contract=contract, name=event.event, id=event.id, data=event.data)
            except httpx.TransportError:
                pass  # Cut off.
            time.sleep(0.05)


threads = [threading.Thread(target=follow, args=(stream,)) for stream in json.loads(sys.argv[1])]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
