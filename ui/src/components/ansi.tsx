// Text of a terminal, in colour.
import { memo } from "./memo";
import { parseAnsi } from "./ansi-text";

export const Ansi = memo(function Ansi({ text }: { text: string }) {
  return (
    <>
      {parseAnsi(text).map((span, index) =>
        span.classes === "" ? (
          span.text
        ) : (
          <span key={index} class={span.classes}>
            {span.text}
          </span>
        ),
      )}
    </>
  );
});
