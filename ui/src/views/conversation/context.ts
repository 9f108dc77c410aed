// What the items of a conversation need beyond themselves.
import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import type { Source } from "../../api/source";
import type { RunSession } from "../../state/run-session";

export interface ConversationContext {
  source: Source;
  session: RunSession;
  /** Whether the reader may answer questions. */
  canAnswer: boolean;
  /** What the reader opened and closed: items that scroll away keep it. */
  folds: Map<string, boolean>;
  /** Tells the list that threads were opened or closed. */
  onThreads(): void;
}

export const Conversing = createContext<ConversationContext | undefined>(undefined);

export function useConversing(): ConversationContext {
  const value = useContext(Conversing);
  if (value === undefined) throw new Error("an item is outside of a conversation");
  return value;
}

/** Whether something is open. `initial` counts until the reader chose. */
export function useFold(key: string, initial: boolean): [boolean, (isOpen: boolean) => void] {
  const { folds } = useConversing();
  const [, redraw] = useState(0);
  const isOpen = folds.get(key) ?? initial;
  return [
    isOpen,
    (next) => {
      folds.set(key, next);
      redraw((count) => count + 1);
    },
  ];
}
