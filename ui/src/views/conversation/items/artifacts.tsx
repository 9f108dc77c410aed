// What a run stored: images in place, everything else to download.
import { useEffect, useState } from "preact/hooks";
import { bytes } from "../../../components/format";
import { Icon } from "../../../components/icon";
import { messageOf } from "../../../components/states";
import { toastError } from "../../../components/toast";
import { visible } from "../../../components/visible";
import type { ArtifactRef, Attachment } from "../../../model/items";
import { useConversing } from "../context";

export function ArtifactList({ artifacts }: { artifacts: readonly ArtifactRef[] }) {
  if (artifacts.length === 0) return null;
  return (
    <ul class="artifacts">
      {artifacts.map((artifact) => (
        <li key={artifact.artifactId}>
          {artifact.kind === "image" ? (
            <ArtifactImage artifactId={artifact.artifactId} alt="Image that the run stored" size={artifact.bytes} />
          ) : (
            <Download artifactId={artifact.artifactId} label={nameOf(artifact)} size={artifact.bytes} mime={artifact.mime} />
          )}
        </li>
      ))}
    </ul>
  );
}

export function AttachmentList({ attachments }: { attachments: readonly Attachment[] }) {
  if (attachments.length === 0) return null;
  return (
    <ul class="artifacts">
      {attachments.map(({ artifactId, kind, mime, name, bytes: size }, index) => (
        <li key={index}>
          {artifactId === undefined ? (
            <span class="artifact-chip">
              <Icon name={kind === "image" ? "image" : "file"} />
              {visible(name ?? kind)}
            </span>
          ) : kind === "image" ? (
            <ArtifactImage artifactId={artifactId} alt={name ?? "Attached image"} size={size} />
          ) : (
            <Download artifactId={artifactId} label={name ?? kind} size={size} mime={mime} />
          )}
        </li>
      ))}
    </ul>
  );
}

const NAMES: Record<string, string> = {
  command_output: "whole output",
  patch: "patch",
  tool_result_blob: "file",
};

function nameOf({ kind }: ArtifactRef): string {
  return (Object.hasOwn(NAMES, kind) ? NAMES[kind] : undefined) ?? (kind || "file");
}

interface DownloadProps {
  artifactId: string;
  label: string;
  size: number | undefined;
  mime?: string | undefined;
}

/** Fetches the bytes with the reader's token, then hands them to the browser as a file. */
export function Download({ artifactId, label, size, mime }: DownloadProps) {
  const { source } = useConversing();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const blob = await source.artifact(artifactId);
      const url = URL.createObjectURL(blob);
      const link = document.createElement("a");
      link.href = url;
      link.download = fileName(label, artifactId, mime ?? blob.type);
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" class="artifact-chip" disabled={isBusy} onClick={() => void save()} title={artifactId}>
      <Icon name="download" />
      {isBusy ? "Fetching…" : visible(label)}
      {size !== undefined && <span class="faint numeric">{bytes(size)}</span>}
    </button>
  );
}

const ENDINGS: Record<string, string> = { "text/plain": "txt", "application/json": "json", "image/png": "png", "image/jpeg": "jpg", "application/pdf": "pdf" };

function fileName(label: string, artifactId: string, mime: string): string {
  if (/\.[A-Za-z0-9]{1,8}$/.test(label)) return label.replace(/[^\w.-]+/g, "_").slice(-120);
  const type = mime.split(";")[0] ?? "";
  const ending = Object.hasOwn(ENDINGS, type) ? ENDINGS[type] : "bin";
  return `${label.replace(/[^\w-]+/g, "-")}-${artifactId.replace(/^sha256:/, "").slice(0, 12)}.${ending}`;
}

function ArtifactImage({ artifactId, alt, size }: { artifactId: string; alt: string; size: number | undefined }) {
  const { source } = useConversing();
  const [url, setUrl] = useState<string>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    let made: string | undefined;
    source.artifact(artifactId, { signal: controller.signal }).then(
      (blob) => {
        if (controller.signal.aborted) return;
        if (!blob.type.startsWith("image/")) return setProblem("The proxy does not say that this is an image.");
        made = URL.createObjectURL(blob);
        setUrl(made);
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setProblem(messageOf(error));
      },
    );
    return () => {
      controller.abort();
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [source, artifactId]);
  if (problem !== undefined) {
    return (
      <span class="artifact-chip artifact-bad">
        <Icon name="image" />
        {problem}
      </span>
    );
  }
  return (
    <figure class="artifact-image">
      {url === undefined ? <span class="artifact-wait" aria-hidden="true" /> : <img src={url} alt={visible(alt)} />}
      <figcaption>
        <Download artifactId={artifactId} label="image" size={size} />
      </figcaption>
    </figure>
  );
}
