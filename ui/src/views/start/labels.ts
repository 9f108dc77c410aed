// Labels as they are written in a form: `team:web, ticket:ABC-7`.

/** The labels; a text if one of them cannot be one, which says what is wrong. */
export function parseLabels(text: string): Record<string, string> | string {
  const labels: Record<string, string> = {};
  for (const part of text.split(",").map((label) => label.trim())) {
    if (part === "") continue;
    const at = part.indexOf(":");
    const key = part.slice(0, at).trim();
    const value = part.slice(at + 1).trim();
    if (at < 1 || value === "") return `“${part}” is not a label: write key:value.`;
    if (!/^[a-zA-Z0-9][a-zA-Z0-9._/-]{0,63}$/.test(key)) return `The key “${key}” has other characters than letters, digits, and . _ - / after the first one.`;
    if (Object.hasOwn(labels, key)) return `The key “${key}” is there twice.`;
    labels[key] = value;
  }
  return labels;
}
