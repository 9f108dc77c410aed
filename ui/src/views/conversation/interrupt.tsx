// The button that ends a run: it asks once more, in place.
import { useEffect, useState } from "preact/hooks";
import { useApp } from "../../app/context";
import { Icon } from "../../components/icon";
import { toast, toastError } from "../../components/toast";
import type { RunSession } from "../../state/run-session";

const ASKED_MS = 5_000;

export function InterruptButton({ session }: { session: RunSession }) {
  const { source } = useApp();
  const [state, setState] = useState<"idle" | "asked" | "sent">("idle");
  useEffect(() => {
    if (state === "idle") return;
    const timer = setTimeout(() => setState("idle"), state === "asked" ? ASKED_MS : 4 * ASKED_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const press = async () => {
    if (state === "idle") return setState("asked");
    if (state === "sent") return;
    setState("sent");
    try {
      await source.interrupt(session.runId);
      toast("The runner was asked to stop.");
    } catch (error) {
      toastError(error);
      setState("idle");
    }
  };
  return (
    <button type="button" class={`button button-small ${state === "asked" ? "button-danger" : ""}`} disabled={state === "sent"} onClick={() => void press()}>
      <Icon name="stop" />
      {state === "idle" ? "Interrupt" : state === "asked" ? "Really interrupt?" : "Stopping…"}
    </button>
  );
}
