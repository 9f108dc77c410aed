// Tokens and money. A figure that no frame reported is absent, never 0.
import { number } from "./read";

export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
  cache_read_tokens?: number;
  cache_creation_tokens?: number;
  reasoning_tokens?: number;
  /** US dollars. */
  cost_usd?: number;
}

const FIGURES = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "reasoning_tokens", "cost_usd"] as const;

export function usageOf(value: unknown): Usage {
  const usage: Usage = {};
  for (const name of FIGURES) {
    const figure = number(value, name);
    if (figure !== undefined) usage[name] = figure;
  }
  return usage;
}

export function sum(left: Usage, right: Usage): Usage {
  const result: Usage = { ...left };
  for (const name of FIGURES) {
    const figure = right[name];
    if (figure !== undefined) result[name] = (result[name] ?? 0) + figure;
  }
  return result;
}

export function isEmpty(usage: Usage): boolean {
  return FIGURES.every((name) => usage[name] === undefined);
}
