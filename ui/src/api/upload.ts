// Sends a file with progress, which `fetch` does not report.
//
// In: a file of any size; the browser reads it in pieces. Out: the JSON of the answer. Never: a promise that stays open after the signal.
import { ApiError, ConnectionError } from "@framegate/client";

export interface UploadOptions {
  headers: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  /** Called with the number of bytes that were sent. */
  onProgress(sent: number): void;
}

export function upload<T>(url: string, file: Blob, { headers, signal, onProgress }: UploadOptions): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    const done = () => signal?.removeEventListener("abort", stop);
    signal?.addEventListener("abort", stop, { once: true });
    request.open("POST", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () => {
      done();
      if (request.status < 200 || request.status > 299) {
        const head = new Headers({ "content-type": request.getResponseHeader("content-type") ?? "" });
        const response = new Response(request.responseText, { status: request.status, statusText: request.statusText, headers: head });
        return void ApiError.from(response).then(reject, reject);
      }
      try {
        resolve(JSON.parse(request.responseText) as T);
      } catch (error) {
        reject(error);
      }
    };
    request.onerror = () => {
      done();
      reject(new ConnectionError("The connection was closed before the file was sent. The proxy may have refused it, or is not reachable."));
    };
    request.onabort = () => {
      done();
      reject(signal?.reason ?? new DOMException("The upload was stopped.", "AbortError"));
    };
    request.send(file);
  });
}
