// Text of a terminal as spans with classes: colours and weights of SGR sequences, nothing else of what a terminal can do.
//
// In: text that anything may have printed. Out: spans whose texts are free of control characters, except line ends and tabs. A carriage
// return starts its line again, as progress bars want it. Never: a colour that the page's themes do not have; 256 colours and true colours
// become the nearest of 16.

import { reordering } from "./visible";

export interface Span {
  text: string;
  /** Classes, separated by spaces; empty for plain text. */
  classes: string;
}

// CSI, OSC, other strings, two-character escapes; then single control characters, also those of the C1 set.
const CONTROL =
  /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|\u001b[ -/]*[0-~]?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

interface Style {
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  inverse: boolean;
  colour: number | undefined;
  background: number | undefined;
}

const PLAIN: Style = {
  bold: false, dim: false, italic: false, underline: false, strike: false, inverse: false, colour: undefined, background: undefined,
}; // prettier-ignore

export function parseAnsi(printed: string): Span[] {
  const text = reordering(printed);
  // Most texts have nothing to parse.
  CONTROL.lastIndex = 0;
  if (!CONTROL.test(text)) return text === "" ? [] : [{ text, classes: "" }];
  const spans: Span[] = [];
  /** Where the current line begins in `spans`. */
  let lineStart = 0;
  let style = { ...PLAIN };
  let classes = "";
  let isReturned = false;
  const add = (piece: string) => {
    if (piece === "") return;
    const last = spans.length > lineStart ? spans[spans.length - 1] : undefined;
    if (last !== undefined && last.classes === classes) last.text += piece;
    else spans.push({ text: piece, classes });
  };
  const write = (piece: string) => {
    let rest = piece;
    while (rest !== "") {
      if (isReturned && !rest.startsWith("\n")) spans.length = lineStart;
      isReturned = false;
      const end = rest.indexOf("\n");
      if (end < 0) return add(rest);
      add(rest.slice(0, end + 1));
      lineStart = spans.length;
      rest = rest.slice(end + 1);
    }
  };
  let from = 0;
  CONTROL.lastIndex = 0;
  for (let match = CONTROL.exec(text); match !== null; match = CONTROL.exec(text)) {
    write(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[0] === "\r") isReturned = true;
    else if (match[0] === "\b") {
      const last = spans.length > lineStart ? spans[spans.length - 1] : undefined;
      if (last !== undefined) last.text = last.text.slice(0, -1);
    } else if (match[2] === "m") {
      style = sgr(style, match[1] ?? "");
      classes = classesOf(style);
    }
    // An empty match cannot occur, but must never stop the loop from ending.
    if (match[0] === "") CONTROL.lastIndex += 1;
  }
  write(text.slice(from));
  return spans.filter((span) => span.text !== "");
}

function sgr(before: Style, parameters: string): Style {
  const style = { ...before };
  const codes = parameters.split(/[;:]/, 64).map((code) => (code === "" ? 0 : Number(code)));
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    if (code === 0) Object.assign(style, PLAIN);
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 7) style.inverse = true;
    else if (code === 9) style.strike = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code === 27) style.inverse = false;
    else if (code === 29) style.strike = false;
    else if (code >= 30 && code <= 37) style.colour = code - 30;
    else if (code >= 90 && code <= 97) style.colour = code - 82;
    else if (code === 39) style.colour = undefined;
    else if (code >= 40 && code <= 47) style.background = code - 40;
    else if (code >= 100 && code <= 107) style.background = code - 92;
    else if (code === 49) style.background = undefined;
    else if (code === 38 || code === 48) {
      const isIndexed = codes[index + 1] === 5;
      const colour = isIndexed
        ? indexed(codes[index + 2] ?? 0)
        : nearest(codes[index + 2] ?? 0, codes[index + 3] ?? 0, codes[index + 4] ?? 0);
      if (code === 38) style.colour = colour;
      else style.background = colour;
      index += isIndexed ? 2 : 4;
    }
  }
  return style;
}

function classesOf(style: Style): string {
  const classes: string[] = [];
  if (style.bold) classes.push("ansi-bold");
  if (style.dim) classes.push("ansi-dim");
  if (style.italic) classes.push("ansi-italic");
  if (style.underline) classes.push("ansi-underline");
  if (style.strike) classes.push("ansi-strike");
  const [colour, background] = style.inverse ? [style.background, style.colour ?? 7] : [style.colour, style.background];
  if (background !== undefined) classes.push(`ansi-bg-${background}`);
  else if (colour !== undefined) classes.push(`ansi-${colour}`);
  return classes.join(" ");
}

/** One of 16 for one of 256. */
function indexed(index: number): number {
  if (!(index >= 0 && index < 256)) return 7;
  if (index < 16) return Math.floor(index);
  if (index >= 232) return index < 244 ? 8 : 7;
  const cube = index - 16;
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

/** By hue: the brightness is the theme's. */
function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (!(most - least > 40)) return most < 128 ? 8 : 7;
  const middle = (most + least) / 2;
  const code = (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
  return code === 0 || code === 7 ? 7 : most > 200 ? code + 8 : code;
}
