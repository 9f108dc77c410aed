// Light or dark: as the system is set, until the reader chooses.
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "framegate.theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>("system");

export function startTheme(): void {
  const stored = read();
  setTheme(THEMES.find((known) => known === stored) ?? "system");
}

export function setTheme(next: Theme): void {
  theme.value = next;
  if (next === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = next;
  try {
    if (next === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

/** The choice after this one, for a button that goes through them. */
export function nextTheme(): Theme {
  return THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
}

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
