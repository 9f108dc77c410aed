// Colours for code: a few languages, as spans with classes. Nothing is guessed: a language that is not named or not known stays plain.
import core from "highlight.js/lib/core";
import type { HLJSApi } from "highlight.js";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

/** Longer code stays plain: colours are not worth a pause. */
const LONGEST = 60_000;
const DEEPEST = 32;

const LANGUAGES = { bash, c, css, diff, go, ini, java, javascript, json, python, ruby, rust, sql, typescript, xml, yaml };
const NAMES: Readonly<Record<string, keyof typeof LANGUAGES>> = {
  sh: "bash", shell: "bash", zsh: "bash", console: "bash", h: "c", cpp: "c", "c++": "c", cc: "c", hpp: "c", scss: "css", patch: "diff",
  toml: "ini", cfg: "ini", conf: "ini", js: "javascript", jsx: "javascript", mjs: "javascript", cjs: "javascript", json5: "json",
  jsonc: "json", ndjson: "json", jsonl: "json", py: "python", rb: "ruby", rs: "rust", ts: "typescript", tsx: "typescript", mts: "typescript",
  html: "xml", svg: "xml", htm: "xml", vue: "xml", yml: "yaml", golang: "go", kt: "java", kotlin: "java",
}; // prettier-ignore

export interface Node {
  /** The class; `undefined` for plain text. */
  scope: string | undefined;
  children: (Node | string)[];
}

/** Collects a tree in place of HTML. */
class Emitter {
  readonly root: Node = { scope: undefined, children: [] };
  readonly #stack: Node[] = [this.root];

  addText(text: string): void {
    const { children } = this.#top();
    const last = children.at(-1);
    if (typeof last === "string") children[children.length - 1] = last + text;
    else if (text !== "") children.push(text);
  }

  startScope(scope: string): void {
    const top = this.#top();
    const node: Node = { scope: `hl-${scope.split(".")[0] ?? ""}`, children: [] };
    if (this.#stack.length < DEEPEST) top.children.push(node);
    this.#stack.push(this.#stack.length < DEEPEST ? node : top);
  }

  endScope(): void {
    if (this.#stack.length > 1) this.#stack.pop();
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage({ root }: Emitter): void {
    this.#top().children.push(root);
  }

  finalize(): void {
    this.#stack.length = 1;
  }

  toHTML(): string {
    return "";
  }

  #top(): Node {
    return this.#stack.at(-1) ?? this.root;
  }
}

let engine: HLJSApi | undefined;

function start(): HLJSApi {
  const api = core.newInstance();
  for (const [name, language] of Object.entries(LANGUAGES)) api.registerLanguage(name, language);
  api.configure({ __emitter: Emitter } as object);
  return api;
}

/** The language that is known by this name or file ending. */
export function languageOf(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(LANGUAGES, lower)) return lower;
  return Object.hasOwn(NAMES, lower) ? NAMES[lower] : undefined;
}

/** The language of a file, by its ending. */
export function languageOfPath(path: string): string | undefined {
  const [, ending] = /\.([A-Za-z0-9]{1,8})$/.exec(path) ?? [];
  return ending === undefined ? undefined : languageOf(ending);
}

/** The code as a tree; `undefined` if it stays plain. */
export function highlight(code: string, language: string | undefined): Node | undefined {
  const known = language === undefined ? undefined : languageOf(language);
  if (known === undefined || code.length > LONGEST || code === "") return undefined;
  engine ??= start();
  try {
    const result = engine.highlight(code, { language: known, ignoreIllegals: true });
    return (result as unknown as { _emitter: Emitter })._emitter.root;
  } catch {
    return undefined;
  }
}
