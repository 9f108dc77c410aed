"""The bytes of an artifact, for the synchronous client. They are checked against the hash and size while they are read."""

# Written by scripts/generate.py from _async_artifact.py; do not edit.

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from types import TracebackType

import httpx

from ._errors import IntegrityError, transport_error
from .contracts.frames_v2 import ArtifactWrittenEvent

Artifact = ArtifactWrittenEvent


class ArtifactDownload:
    """The bytes of an artifact. Read them once."""

    digest: str
    """`sha256:` and the digest."""
    content_type: str
    """The media type that is safe to show."""
    size: int | None
    """The number of bytes, if the artifact was given as `artifacts` lists it."""

    def __init__(self, response: httpx.Response, asked: str | Artifact) -> None:
        self._response = response
        self.content_type = response.headers.get("content-type", "application/octet-stream")
        if isinstance(asked, str):
            self.digest, self.size = _digest(response, asked), None
        else:
            self.digest, self.size = asked["digest"].lower(), asked["bytes"]

    def iter_bytes(self) -> Iterator[bytes]:
        """The bytes, piece by piece. Raises `IntegrityError` at the end if they are not those of the artifact."""
        found, size = hashlib.sha256(), 0
        try:
            for piece in self._response.iter_bytes():
                found.update(piece)
                size += len(piece)
                yield piece
        except httpx.HTTPError as error:
            raise transport_error(error, self.digest) from error
        finally:
            self._response.close()
        if self.size is not None and size != self.size:
            raise IntegrityError(f"{self.digest} has {size} bytes instead of {self.size}")
        if f"sha256:{found.hexdigest()}" != self.digest:
            raise IntegrityError(f"the bytes have the hash sha256:{found.hexdigest()} instead of {self.digest}")

    def read(self) -> bytes:
        """All bytes."""
        pieces = []
        for piece in self.iter_bytes():
            pieces.append(piece)
        return b"".join(pieces)

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> ArtifactDownload:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _digest(response: httpx.Response, asked: str) -> str:
    """The hash that was asked for. An id of Hecate is none; then the `ETag` names the hash."""
    by_hash = re.fullmatch(r"(?:sha256:)?([0-9a-fA-F]{64})", asked)
    if by_hash:
        return f"sha256:{by_hash[1].lower()}"
    tag = re.search(r'"(sha256:[0-9a-f]{64})"', response.headers.get("etag", ""))
    if tag is None:
        raise IntegrityError(f"the answer has no hash of {asked}")
    return tag[1]
