// Bundles the tests for `node --test`.
import { readdirSync } from "node:fs";
import { defineConfig } from "vite";
import { aliases } from "./vite.config.ts";

const tests = readdirSync(new URL("test", import.meta.url)).filter((name) => name.endsWith(".test.ts"));

export default defineConfig({
  resolve: { alias: aliases },
  ssr: { noExternal: true },
  build: {
    ssr: true,
    target: "node20",
    outDir: "node_modules/.cache/ui-tests",
    emptyOutDir: true,
    rolldownOptions: { input: tests.map((name) => `test/${name}`), output: { entryFileNames: "[name].mjs" } },
  },
});
