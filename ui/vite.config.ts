// Builds the page: three files with fixed names, without a source map, the same bytes from the same sources.
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Modules outside of this folder, and what they need from its `node_modules`. */
export const aliases = {
  "@framegate/client/http": path("../clients/typescript/src/http.ts"),
  "@framegate/client": path("../clients/typescript/src/index.ts"),
  "eventsource-parser": path("node_modules/eventsource-parser/dist/index.js"),
};

/** `index.html` with plain references: a page that one origin serves needs no `crossorigin`, and its script waits for the document. */
const plainReferences: Plugin = {
  name: "plain-references",
  transformIndexHtml: { order: "post", handler: (html) => html.replaceAll(" crossorigin", "") },
};

export default defineConfig({
  base: "/",
  plugins: [plainReferences],
  resolve: { alias: aliases },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    // The first versions with `light-dark()` and `:has()`, which are left as they are.
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    sourcemap: false,
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        codeSplitting: false,
        entryFileNames: "app.js",
        assetFileNames: "app[extname]",
      },
    },
  },
  // `npm run dev` serves the sources beside a proxy that runs.
  server: { proxy: { "^/(v1|schemas)": process.env["FRAMEGATE_URL"] ?? "http://127.0.0.1:8080" } },
});
