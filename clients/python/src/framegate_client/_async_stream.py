"""The asynchronous stream of events that continues by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import httpx
from httpx_sse import EventSource, SSEError

from ._core import StreamState, stream_error
from ._errors import FramegateError

if TYPE_CHECKING:
    from ._async_client import AsyncFramegate

E = TypeVar("E")


class AsyncEventStream(Generic[E]):
    """The events of a run or a feed: an iterator that can be read once.

    Each event comes once, in order. After a lost connection or a silence longer than the heartbeat, the stream is opened again after
    the last id. It ends with its run, and a feed does not end. `async with` closes the connection if the reader leaves early.
    """

    def __init__(self, client: AsyncFramegate, state: StreamState) -> None:
        self._client = client
        self._state = state
        self._events = self._read()

    @property
    def cursor(self) -> str | None:
        """The id of the last event that the iterator gave. Store it to continue there later (`after`)."""
        return self._state.cursor

    def __aiter__(self) -> AsyncEventStream[E]:
        return self

    async def __anext__(self) -> E:
        return await self._events.__anext__()

    async def aclose(self) -> None:
        """Ends the stream and its connection."""
        await self._events.aclose()

    async def __aenter__(self) -> AsyncEventStream[E]:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _read(self) -> AsyncGenerator[E, None]:
        state = self._state
        while True:
            call = state.call()
            began = time.monotonic()
            lost: FramegateError | None = None
            response: httpx.Response | None = None
            try:
                response = await self._client._open(call)
                if response.status_code == 204:
                    return
                state.opened()
                async for message in EventSource(response).aiter_sse():
                    event = state.received(message)
                    if event is not None:
                        yield cast(E, event)
            except FramegateError as error:
                lost = error
            except (httpx.HTTPError, SSEError) as error:
                lost = stream_error(error, call.what)
            finally:
                if response is not None:
                    await response.aclose()
            await asyncio.sleep(state.lost(lost, time.monotonic() - began))
