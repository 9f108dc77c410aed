// The token: in `sessionStorage`, so that it ends with the tab, and never in an address.
import { signal } from "@preact/signals";

const KEY = "framegate.token";

/** The token that requests carry; `undefined` without one. */
export const token = signal<string | undefined>(read());

/** Whether the proxy refused the last request for want of a valid token. The page then asks for one. */
export const isTokenWanted = signal(false);

export function setToken(next: string | undefined): void {
  token.value = next;
  isTokenWanted.value = false;
  try {
    if (next === undefined) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, next);
  } catch {
    // Without storage the token lasts until the page is loaded again.
  }
}

const CODE = /^#code=([^&]+)$/;

/** Exchanges the code of a link that is opened in a tab which shows the page already. Before the router starts, which never sees the code. */
export function watchCode(onFailure: (error: unknown) => void): void {
  addEventListener("hashchange", () => {
    const code = takeCode();
    if (code !== undefined) redeem(code).then(setToken, onFailure);
  });
}

/** The code in `#code=CODE`, taken out of the address; `undefined` if there is none. */
export function takeCode(): string | undefined {
  const [, code] = CODE.exec(location.hash) ?? [];
  if (code === undefined) return undefined;
  history.replaceState(null, "", `${location.pathname}${location.search}#/runs`);
  try {
    return decodeURIComponent(code);
  } catch {
    return code;
  }
}

/** Exchanges a code, which works once, for a token. */
export async function redeem(code: string): Promise<string> {
  const response = await fetch("/v1/access/redeem", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ code }),
  });
  if (response.status === 404) throw new Error("This link was used already, or is not one of this proxy. The command that printed it prints a new one when it is started again.");
  if (!response.ok) throw new Error(`The link could not be exchanged for a token: ${response.status} ${response.statusText}`);
  const answer: unknown = await response.json();
  const value = typeof answer === "object" && answer !== null && "token" in answer ? answer.token : undefined;
  if (typeof value !== "string" || value === "") throw new Error("The answer to the link's code has no token.");
  return value;
}

function read(): string | undefined {
  try {
    return sessionStorage.getItem(KEY) ?? undefined;
  } catch {
    return undefined;
  }
}
