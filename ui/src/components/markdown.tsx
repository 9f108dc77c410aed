// Markdown as elements. `marked` finds the structure; elements are made from its tokens, so no HTML is ever parsed: HTML within the text
// is text, and so is everything that is not markdown.
//
// Links lead to http, https and mailto only. Images are never loaded: they are links.
import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import type { ComponentChild, ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Code } from "./code";
import { whole } from "./format";
import { decodeEntities, LONGEST_PIECE, pieces, safeLink } from "./markdown-text";
import { memo } from "./memo";
import { visible } from "./visible";

/** Nesting beyond this is shown as text. */
const DEEPEST = 24;
/** Characters that are shown at first; more on request, because elements of megabytes of text would stop the page. */
const FIRST = 100_000;

export function Markdown({ text }: { text: string }) {
  const [most, setMost] = useState(FIRST);
  const shown = useMemo(() => beginning(text, most), [text, most]);
  const parts = useMemo(() => pieces(shown), [shown]);
  const rest = text.length - shown.length;
  return (
    <>
      <div class="md" dir="auto">
        {parts.map((part, index) => (
          <Piece key={index} text={part} />
        ))}
      </div>
      {rest > 0 && (
        <p class="small soft">
          {whole(rest)} more characters are not shown.{" "}
          <button type="button" class="button button-small" onClick={() => setMost(most * 2)}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}

/** The text up to `most` characters, which ends with a line if it has lines. */
function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf("\n", most);
  return text.slice(0, end > most / 2 ? end : most);
}

const Piece = memo(function Piece({ text }: { text: string }) {
  const tokens = useMemo(() => parse(text), [text]);
  if (tokens === undefined) return <p class="md-plain">{visible(text)}</p>;
  return <>{blocks(tokens, 0)}</>;
});

function parse(text: string): Token[] | undefined {
  if (text.length > LONGEST_PIECE && !/^\s{0,3}(?:`{3}|~{3})/.test(text)) return undefined;
  try {
    return lexer(text, { gfm: true });
  } catch {
    // Nesting that is too deep for the parser, for one.
    return undefined;
  }
}

function blocks(tokens: readonly Token[], depth: number): ComponentChild[] {
  return tokens.map((token, index) => block(token as MarkedToken, depth, index));
}

function block(token: MarkedToken, depth: number, key: number): ComponentChild {
  if (depth > DEEPEST) return <p key={key}>{visible(token.raw)}</p>;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "paragraph":
      return <p key={key}>{inline(token.tokens, depth)}</p>;
    case "text":
      return token.tokens === undefined ? plain(token.text) : <span key={key}>{inline(token.tokens, depth)}</span>;
    case "heading":
      return heading(token, depth, key);
    case "code":
      return <Code key={key} text={token.text} language={token.lang?.split(/\s/)[0] ?? ""} />;
    case "blockquote":
      return <blockquote key={key}>{blocks(token.tokens, depth + 1)}</blockquote>;
    case "list": {
      const items = token.items.map((item, at) => listItem(item, depth + 1, at));
      const start = typeof token.start === "number" && token.start !== 1 ? token.start : undefined;
      return token.ordered ? (
        <ol key={key} start={start}>
          {items}
        </ol>
      ) : (
        <ul key={key}>{items}</ul>
      );
    }
    case "table":
      return table(token, depth, key);
    case "hr":
      return <hr key={key} />;
    case "html":
      return <p key={key}>{visible(token.text)}</p>;
    default:
      return inlineToken(token, depth, key);
  }
}

/** The page has its own `h1` and `h2`: headings of a text come below. */
function heading(token: Tokens.Heading, depth: number, key: number): ComponentChild {
  const content = inline(token.tokens, depth);
  const level = Math.min(6, token.depth + 2);
  if (level <= 3) return <h3 key={key}>{content}</h3>;
  if (level === 4) return <h4 key={key}>{content}</h4>;
  if (level === 5) return <h5 key={key}>{content}</h5>;
  return <h6 key={key}>{content}</h6>;
}

function listItem(item: Tokens.ListItem, depth: number, key: number): ComponentChild {
  const tokens = item.tokens.filter((token) => token.type !== "checkbox");
  return (
    <li key={key} class={item.task ? "md-task" : undefined}>
      {item.task && (
        <span role="img" class="md-check" aria-label={item.checked ? "done" : "to do"}>
          {item.checked ? "☑" : "☐"}
        </span>
      )}
      {blocks(tokens, depth)}
    </li>
  );
}

function table(token: Tokens.Table, depth: number, key: number): ComponentChild {
  const side = (align: string | null) => (align === "right" || align === "center" ? `md-${align}` : undefined);
  return (
    <div key={key} class="md-table" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, at) => (
              <th key={at} class={side(cell.align)} scope="col">
                {inline(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, rowAt) => (
            <tr key={rowAt}>
              {row.map((cell, at) => (
                <td key={at} class={side(cell.align)}>
                  {inline(cell.tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[] | undefined, depth: number): ComponentChild[] {
  return (tokens ?? []).map((token, index) => inlineToken(token as MarkedToken, depth + 1, index));
}

function inlineToken(token: MarkedToken, depth: number, key: number): ComponentChild {
  if (depth > DEEPEST) return visible(token.raw);
  switch (token.type) {
    case "strong":
      return <strong key={key}>{inline(token.tokens, depth)}</strong>;
    case "em":
      return <em key={key}>{inline(token.tokens, depth)}</em>;
    case "del":
      return <del key={key}>{inline(token.tokens, depth)}</del>;
    case "codespan":
      return <code key={key}>{visible(token.text)}</code>;
    case "br":
      return <br key={key} />;
    case "link":
      return link(token.href, inline(token.tokens, depth), key);
    case "image":
      return link(token.href, `[image${token.text === "" ? "" : `: ${plain(token.text)}`}]`, key);
    case "escape":
      return visible(token.text);
    case "text":
      return token.tokens === undefined ? plain(token.text) : <span key={key}>{inline(token.tokens, depth)}</span>;
    case "html":
      return visible(token.text);
    default:
      return visible(token.raw);
  }
}

function link(address: string, content: ComponentChildren, key: number): ComponentChild {
  const href = safeLink(decodeEntities(address));
  if (href === undefined) {
    return (
      <span key={key} class="md-dead-link" title={`This page does not link to ${visible(address.slice(0, 200))}`}>
        {content}
      </span>
    );
  }
  return (
    <a key={key} href={href} title={visible(href)} target="_blank" rel="noopener noreferrer nofollow">
      {content}
    </a>
  );
}

function plain(text: string): string {
  return visible(decodeEntities(text));
}
