// Says aloud, for those who do not see the page, what matters while a run is in progress: questions, the end, a lost connection. Not the
// text as it is written: read aloud, it would drown everything else.
import { useEffect, useRef, useState } from "preact/hooks";
import type { RunSession } from "../../state/run-session";

export function Announcer({ session }: { session: RunSession }) {
  const { conversation } = session;
  const connection = session.connection.value.state;
  void session.version.value;
  const [text, setText] = useState("");
  const isLive = useRef(false);
  const before = useRef({ questions: 0, hasEnded: false, connection });

  const questions = conversation.openApprovals;
  const end = conversation.end;
  useEffect(() => {
    const last = before.current;
    before.current = { questions: questions.length, hasEnded: end !== undefined, connection };
    // What was there when the run was opened is read from the page.
    if (!isLive.current) {
      isLive.current = connection === "live";
      return;
    }
    if (questions.length > last.questions) setText(`The runner asks about ${questions.at(-1)?.toolName || "a question"}.`);
    else if (end !== undefined && !last.hasEnded) setText(`The run has ended: ${end.reason}.`);
    else if (connection === "reconnecting" && last.connection !== "reconnecting") setText("The connection is lost. Connecting again.");
    else if (connection === "live" && last.connection === "reconnecting") setText("Connected again.");
  }, [questions.length, end, connection]);

  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {text}
    </div>
  );
}
