// The frame of every view: navigation, theme, help; and the form that asks for a token where one is needed.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Access, Source } from "../api/source";
import { isTokenWanted, setToken, token } from "../api/token";
import { Dialog } from "../components/dialog";
import { Icon, type IconName } from "../components/icon";
import { Empty, Failure, Loading } from "../components/states";
import { toast, Toasts } from "../components/toast";
import { ConversationView } from "../views/conversation/view";
import { RunsView } from "../views/runs/view";
import { SearchView } from "../views/search/view";
import { DropFiles } from "../views/start/drop";
import { StatsView } from "../views/stats/view";
import { TimelineView } from "../views/timeline/view";
import { FrameView, TraceView } from "../views/trace/view";
import { abilities, type App, AppContext } from "./context";
import { activeKeys, type Key, useKeys } from "./keys";
import { go, paths, type Route, route } from "./router";
import { nextTheme, setTheme, type Theme, theme } from "./theme";
import { TokenForm } from "./token-form";

export function Shell({ source, notice }: { source: Source; notice: string | undefined }) {
  const [access, setAccess] = useState<Access>();
  const [error, setError] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  const [isHelp, setHelp] = useState(false);

  useEffect(() => {
    const controller = new AbortController();
    setError(undefined);
    source.access({ signal: controller.signal }).then(setAccess, (reason: unknown) => {
      if (!controller.signal.aborted) setError(reason);
    });
    return () => controller.abort();
  }, [source, token.value, attempt]);

  // Without the form, which says it too.
  const isOpen = access !== undefined;
  useEffect(() => {
    if (isOpen && notice !== undefined) toast(notice, "bad");
  }, [isOpen, notice]);

  const app = useMemo<App | undefined>(() => access && { source, access, can: abilities(source, access) }, [source, access]);

  const keys = useMemo<Key[]>(
    () => [
      { keys: "?", does: "Show the keys", run: () => setHelp(true) },
      { keys: "g r", does: "Go to the runs", run: () => go(paths.runs()) },
      ...(source.kind === "proxy"
        ? [
            { keys: "g s", does: "Go to the statistics", run: () => go(paths.stats()) },
            { keys: "g f", does: "Find texts of all runs", run: () => go(paths.search()) },
          ]
        : []),
      { keys: "t", does: "Change the theme", run: () => setTheme(nextTheme()) },
    ],
    [source],
  );
  useKeys("Everywhere", keys);

  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Header source={source} access={access} onHelp={() => setHelp(true)} />
      <main id="main" class="main" tabIndex={-1} data-view={isTokenWanted.value ? "login" : route.value.view}>
        {isTokenWanted.value ? (
          <TokenForm notice={notice} />
        ) : app !== undefined ? (
          <AppContext.Provider value={app}>
            <View route={route.value} />
            <DropFiles />
          </AppContext.Provider>
        ) : error !== undefined ? (
          <Failure error={error} title="The proxy cannot be reached" onRetry={() => setAttempt(attempt + 1)} />
        ) : (
          <Loading what="the page" />
        )}
      </main>
      {isHelp && <Help onClose={() => setHelp(false)} />}
      <Toasts />
    </div>
  );
}

function View({ route: shown }: { route: Route }) {
  switch (shown.view) {
    case "runs":
      return <RunsView query={shown.query} />;
    case "stats":
      return <StatsView query={shown.query} />;
    case "search":
      return <SearchView query={shown.query} />;
    case "conversation":
      return <ConversationView key={shown.runId} runId={shown.runId} query={shown.query} />;
    case "tool":
      return <ConversationView key={`${shown.runId}/${shown.toolId}`} runId={shown.runId} toolId={shown.toolId} query={shown.query} />;
    case "timeline":
      return <TimelineView key={shown.runId} runId={shown.runId} query={shown.query} />;
    case "trace":
      return <TraceView key={shown.runId} runId={shown.runId} query={shown.query} />;
    case "frame":
      return <FrameView key={shown.runId} runId={shown.runId} seq={shown.seq} query={shown.query} />;
    case "unknown":
      return (
        <Empty title="There is nothing at this address">
          <a href={paths.runs()}>All runs</a>
        </Empty>
      );
  }
}

const THEMES: Record<Theme, { icon: IconName; label: string }> = {
  system: { icon: "contrast", label: "Theme: as the system" },
  light: { icon: "sun", label: "Theme: light" },
  dark: { icon: "moon", label: "Theme: dark" },
};

function Header({ source, access, onHelp }: { source: Source; access: Access | undefined; onHelp: () => void }) {
  const { view } = route.value;
  const { icon, label } = THEMES[theme.value];
  return (
    <header class="header">
      <a class="brand" href={paths.runs()}>
        <Mark />
        framegate
      </a>
      <nav class="nav" aria-label="Main">
        <a href={paths.runs()} aria-current={view === "stats" || view === "search" ? undefined : view === "runs" ? "page" : "true"}>
          Runs
        </a>
        {source.kind === "proxy" && (
          <>
            <a href={paths.search()} aria-current={view === "search" ? "page" : undefined}>
              Search
            </a>
            <a href={paths.stats()} aria-current={view === "stats" ? "page" : undefined}>
              Statistics
            </a>
          </>
        )}
      </nav>
      <div class="header-end">
        {source.kind === "export" && <span class="header-note small faint">exported file</span>}
        {access?.version && <span class="header-note small faint">{access.version}</span>}
        {token.value !== undefined && (
          <button type="button" class="button button-plain" onClick={() => signOut()}>
            Forget token
          </button>
        )}
        <button type="button" class="button button-plain button-icon" onClick={() => setTheme(nextTheme())} aria-label={label} title={label}>
          <Icon name={icon} />
        </button>
        <button type="button" class="button button-plain button-icon" onClick={onHelp} aria-label="Keys" title="Keys (?)">
          <Icon name="help" />
        </button>
      </div>
    </header>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d="M3 5.5h14M3 10h9M3 14.5h14" />
      <circle cx="15.5" cy="10" r="1.6" />
    </svg>
  );
}

function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      {activeKeys.value.map(({ group, keys }) => (
        <section key={group} class="help-group">
          <h3>{group}</h3>
          <dl class="help-keys">
            {keys.map((key) => (
              <div key={key.keys}>
                <dt>
                  {key.keys.split(" ").map((one) => (
                    <kbd key={one}>{one}</kbd>
                  ))}
                </dt>
                <dd>{key.does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}

function signOut(): void {
  setToken(undefined);
  isTokenWanted.value = true;
}

/** The fragment is the route, so the link must not change it. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
