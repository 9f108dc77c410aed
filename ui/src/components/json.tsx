// A value as JSON, laid out.
import { Code } from "./code";

export function Json({ value, isBare = false }: { value: unknown; isBare?: boolean }) {
  return <Code text={jsonText(value)} language="json" isBare={isBare} />;
}

export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? String(value);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
