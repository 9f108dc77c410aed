"""The synchronous stream of events that continues by itself."""

# Written by scripts/generate.py from _async_stream.py; do not edit.

from __future__ import annotations

import time
from collections.abc import Generator
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import httpx
from httpx_sse import EventSource, SSEError

from ._core import StreamState, stream_error
from ._errors import FramegateError

if TYPE_CHECKING:
    from ._sync_client import Framegate

E = TypeVar("E")


class EventStream(Generic[E]):
    """The events of a run or a feed: an iterator that can be read once.

    Each event comes once, in order. After a lost connection or a silence longer than the heartbeat, the stream is opened again after
    the last id. It ends with its run, and a feed does not end. `with` closes the connection if the reader leaves early.
    """

    def __init__(self, client: Framegate, state: StreamState) -> None:
        self._client = client
        self._state = state
        self._events = self._read()

    @property
    def cursor(self) -> str | None:
        """The id of the last event that the iterator gave. Store it to continue there later (`after`)."""
        return self._state.cursor

    def __iter__(self) -> EventStream[E]:
        return self

    def __next__(self) -> E:
        return self._events.__next__()

    def close(self) -> None:
        """Ends the stream and its connection."""
        self._events.close()

    def __enter__(self) -> EventStream[E]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self) -> Generator[E, None]:
        state = self._state
        while True:
            call = state.call()
            began = time.monotonic()
            lost: FramegateError | None = None
            response: httpx.Response | None = None
            try:
                response = self._client._open(call)
                if response.status_code == 204:
                    return
                state.opened()
                for message in EventSource(response).iter_sse():
                    event = state.received(message)
                    if event is not None:
                        yield cast(E, event)
            except FramegateError as error:
                lost = error
            except (httpx.HTTPError, SSEError) as error:
                lost = stream_error(error, call.what)
            finally:
                if response is not None:
                    response.close()
            time.sleep(state.lost(lost, time.monotonic() - began))
