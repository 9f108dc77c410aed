// Artifacts: what a run stored, and their bytes, which are checked against their hash and size while they are read.
import { ConnectionError, IntegrityError } from "./errors.js";
import type { FramesV2 } from "./generated/contracts.js";
import { reasonOf } from "./http.js";
import { Sha256 } from "./sha256.js";

/** An artifact that a run wrote. */
export type Artifact = FramesV2.ArtifactWrittenEvent;

/** The bytes of an artifact. Read them once: as a stream, as bytes or as text. */
export class ArtifactDownload {
  /** `sha256:` and the digest. */
  readonly digest: string;
  /** The media type that is safe to show. */
  readonly contentType: string;
  /** The number of bytes, if the artifact was given as `artifacts` lists it. */
  readonly size: number | undefined;
  /** The bytes. The stream fails at its end with an `IntegrityError` if they are not those of the artifact. */
  readonly stream: ReadableStream<Uint8Array>;

  constructor(response: Response, asked: string | Artifact, signal?: AbortSignal) {
    this.digest = typeof asked === "string" ? digestOf(response, asked) : asked.digest.toLowerCase();
    this.size = typeof asked === "string" ? undefined : asked.bytes;
    this.contentType = response.headers.get("content-type") ?? "application/octet-stream";
    this.stream = checked(response.body as ReadableStream<Uint8Array>, this.digest, this.size, signal);
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await new Response(this.stream).arrayBuffer());
  }

  text(): Promise<string> {
    return new Response(this.stream).text();
  }
}

/** The hash that was asked for. An id of Hecate is none; then the `ETag` names the hash. */
function digestOf(response: Response, asked: string): string {
  const [, hex] = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(asked) ?? [];
  const [, tag] = /"(sha256:[0-9a-f]{64})"/.exec(response.headers.get("etag") ?? "") ?? [];
  const digest = hex === undefined ? tag : `sha256:${hex.toLowerCase()}`;
  if (digest === undefined) throw new IntegrityError(`the answer has no hash of ${asked}`);
  return digest;
}

function checked(
  body: ReadableStream<Uint8Array>,
  digest: string,
  size: number | undefined,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const hash = new Sha256();
  let read = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = await reader.read().catch((error: unknown) => {
        if (signal?.aborted) throw signal.reason;
        throw new ConnectionError(`${digest} broke off: ${reasonOf(error)}`, { cause: error });
      });
      if (!piece.done) {
        hash.update(piece.value);
        read += piece.value.length;
        return controller.enqueue(piece.value);
      }
      if (size !== undefined && read !== size) throw new IntegrityError(`${digest} has ${read} bytes instead of ${size}`);
      const found = `sha256:${hash.hex()}`;
      if (found !== digest) throw new IntegrityError(`the bytes have the hash ${found} instead of ${digest}`);
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
