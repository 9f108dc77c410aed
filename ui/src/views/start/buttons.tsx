// What the list of runs offers beside looking: start a run, send a file in. Only with the scope for it.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Upstream } from "../../api/source";
import { useApp } from "../../app/context";
import { Icon } from "../../components/icon";
import { StartDialog } from "./start";
import { sendAndShow } from "./drop";

export function StartButtons() {
  const { source, can } = useApp();
  const [upstreams, setUpstreams] = useState<readonly Upstream[]>([]);
  const [isOpen, setOpen] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!can.control) return;
    const controller = new AbortController();
    // Without the list nothing can be started; the runs are shown all the same.
    source.upstreams({ signal: controller.signal }).then(setUpstreams, () => {});
    return () => controller.abort();
  }, [source, can.control]);
  const startable = upstreams.filter((upstream) => upstream.takes_prompts);
  return (
    <div class="start-buttons">
      {can.ingest && (
        <>
          <button type="button" class="button" onClick={() => picker.current?.click()}>
            <Icon name="file" />
            Open files…
          </button>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            onChange={({ currentTarget }) => {
              const files = [...(currentTarget.files ?? [])];
              // The same file can be chosen again.
              currentTarget.value = "";
              void sendAndShow(source, files);
            }}
          />
        </>
      )}
      {can.control && startable.length > 0 && (
        <button type="button" class="button button-primary" onClick={() => setOpen(true)}>
          <Icon name="plus" />
          Start a run
        </button>
      )}
      {isOpen && <StartDialog upstreams={startable} onClose={() => setOpen(false)} />}
    </div>
  );
}
