// Reads values whose types nothing guarantees: frames may come from another version, a file, or a hostile runner.

export type Fields = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own property, never one of the prototype. */
export function field(object: unknown, name: string): unknown {
  return isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A text; `undefined` if the field is absent, null, or of another type. */
export function text(object: unknown, name: string): string | undefined {
  const value = field(object, name);
  return typeof value === "string" ? value : undefined;
}

/** A finite number; `undefined` if the field is absent, null, or of another type. */
export function number(object: unknown, name: string): number | undefined {
  const value = field(object, name);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function boolean(object: unknown, name: string): boolean | undefined {
  const value = field(object, name);
  return typeof value === "boolean" ? value : undefined;
}

/** The items of a list; empty if the field is anything else. */
export function list(object: unknown, name: string): readonly unknown[] {
  const value = field(object, name);
  return Array.isArray(value) ? value : [];
}

/** The texts within a list. */
export function texts(object: unknown, name: string): string[] {
  return list(object, name).filter((item) => typeof item === "string");
}
