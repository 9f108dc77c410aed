// Code, with a button that copies it. Colours come when it has been in view for a moment.
import type { ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon";
import { highlight, type Node } from "./highlight";
import { memo } from "./memo";
import { toast } from "./toast";
import { visible } from "./visible";

/** Longer code is cut; the copy is whole. */
const LONGEST = 200_000;

export interface CodeProps {
  text: string;
  /** A name of a language, or the ending of a file name. */
  language?: string | undefined;
  /** Without the frame and the button. */
  isBare?: boolean;
}

export const Code = memo(function Code({ text, language = "", isBare = false }: CodeProps) {
  const [isLong, setLong] = useState(false);
  const shown = visible(text.length > LONGEST && !isLong ? text.slice(0, LONGEST) : text);
  const [tree, setTree] = useState<{ of: string; root: Node }>();
  const ref = useRef<HTMLPreElement>(null);

  useEffect(() => {
    const element = ref.current;
    if (element === null || language === "") return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new IntersectionObserver((entries) => {
      clearTimeout(timer);
      if (!entries.some((entry) => entry.isIntersecting)) return;
      timer = setTimeout(() => {
        observer.disconnect();
        const root = highlight(shown, language);
        if (root !== undefined) setTree({ of: shown, root });
      }, 60);
    });
    observer.observe(element);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [shown, language]);

  const content = tree?.of === shown ? tree.root.children.map(node) : shown;
  const pre = (
    <pre ref={ref} class="code" tabIndex={0}>
      <code>{content}</code>
    </pre>
  );
  const rest =
    text.length > LONGEST && !isLong ? (
      <button type="button" class="button button-small" onClick={() => setLong(true)}>
        Show the other {(text.length - LONGEST).toLocaleString("en")} characters
      </button>
    ) : null;
  if (isBare) {
    return (
      <>
        {pre}
        {rest}
      </>
    );
  }
  return (
    <div class="code-block">
      <div class="code-bar">
        <span class="faint">{language}</span>
        <CopyButton text={text} what="code" />
      </div>
      {pre}
      {rest}
    </div>
  );
});

function node(value: Node | string, index: number): ComponentChild {
  if (typeof value === "string") return value;
  const children = value.children.map(node);
  return value.scope === undefined ? children : <span key={index} class={value.scope}>{children}</span>;
}

/** `text`: what is copied, or what makes it, where making it takes time. */
export function CopyButton({ text, what }: { text: string | (() => string); what: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setDone(true);
      setTimeout(() => setDone(false), 1_500);
    } catch {
      toast("The browser does not let this page copy. Select the text instead.", "bad");
    }
  };
  return (
    <button type="button" class="button button-plain button-small button-icon copy" onClick={() => void copy()} aria-label={`Copy ${what}`} title={`Copy ${what}`}>
      <Icon name={isDone ? "check" : "copy"} />
    </button>
  );
}
