// What every view needs: where the data comes from, and what the reader may do.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Abilities, Access, Source } from "../api/source";

export interface App {
  source: Source;
  access: Access;
  can: Abilities;
}

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error("a view is outside of the app");
  return app;
}

export function abilities(source: Source, access: Access): Abilities {
  const isProxy = source.kind === "proxy";
  return {
    control: isProxy && access.scopes.includes("control"),
    ingest: isProxy && access.scopes.includes("ingest"),
    live: isProxy,
  };
}
