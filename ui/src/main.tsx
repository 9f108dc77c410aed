// Starts the page: over the data of an exported file if this document has some, over the proxy otherwise.
// The general styles come first: those of views refine them.
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/components.css";
import "./styles/content.css";
import "./styles/shell.css";
import { render } from "preact";
import { exportWithin } from "./api/export";
import { ProxySource } from "./api/proxy";
import type { Source } from "./api/source";
import { redeem, setToken, takeCode, watchCode } from "./api/token";
import { startKeys } from "./app/keys";
import { startRouter } from "./app/router";
import { Shell } from "./app/shell";
import { startTheme } from "./app/theme";
import { Failure } from "./components/states";
import { toastError } from "./components/toast";

async function start(): Promise<void> {
  const root = document.getElementById("app");
  if (root === null) return;
  startTheme();
  let source: Source;
  let notice: string | undefined;
  try {
    const code = takeCode();
    source = exportWithin(document) ?? new ProxySource();
    if (code !== undefined && source.kind === "proxy") {
      notice = await redeem(code).then(
        (token) => {
          setToken(token);
          return undefined;
        },
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
    }
  } catch (error) {
    render(<Failure error={error} title="This file cannot be shown" />, root);
    return;
  }
  if (source.kind === "proxy") watchCode(toastError);
  startRouter();
  startKeys();
  render(<Shell source={source} notice={notice} />, root);
}

void start();
