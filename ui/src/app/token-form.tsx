// Asks for a token, and tries it before it is taken.
import { useState } from "preact/hooks";
import { setToken } from "../api/token";

export function TokenForm({ notice }: { notice: string | undefined }) {
  const [value, setValue] = useState("");
  const [problem, setProblem] = useState<string | undefined>(notice);
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: Event) => {
    event.preventDefault();
    const typed = value.trim();
    if (typed === "") return setProblem("Enter a token.");
    // A header cannot hold anything else.
    if (!/^[\x21-\x7e]+$/.test(typed)) return setProblem("A token consists of visible ASCII characters without spaces.");
    setBusy(true);
    try {
      const response = await fetch("/v1/access", { headers: { authorization: `Bearer ${typed}`, accept: "application/json" }, cache: "no-store" });
      if (response.status === 401) setProblem("The proxy does not know this token, or it has expired.");
      else if (!response.ok && response.status !== 403) setProblem(`The proxy answers ${response.status} ${response.statusText}.`);
      else setToken(typed);
    } catch {
      setProblem("The proxy cannot be reached.");
    } finally {
      setBusy(false);
    }
  };

  return (
    <form class="token-form card" onSubmit={(event) => void submit(event)}>
      <h1>A token is needed</h1>
      <p class="soft">This proxy answers only with a token. It is kept in this tab and sent with each request, never in an address.</p>
      <label class="field">
        <span>Token</span>
        <input
          type="password"
          name="token"
          autocomplete="off"
          spellcheck={false}
          autofocus
          value={value}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : "token-problem"}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </label>
      {problem !== undefined && (
        <p id="token-problem" class="problem" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" class="button button-primary" disabled={isBusy}>
        {isBusy ? "Trying…" : "Continue"}
      </button>
    </form>
  );
}
