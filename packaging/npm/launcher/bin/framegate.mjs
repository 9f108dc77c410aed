#!/usr/bin/env node
// Runs the framegate binary of this platform, which npm installed as an optional dependency, as if it had been started itself.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";

const REPOSITORY = "https://github.com/framegate/framegate";
/** The exit code if framegate cannot be started: that of a shell for a command that it does not find. */
const EXIT_NOT_FOUND = 127;
/** What a shell adds to a signal's number for the exit code. */
const EXIT_SIGNAL = 128;
/** A terminal sends these to every process in its foreground, so the binary receives them without this program. */
const OF_A_TERMINAL = ["SIGINT", "SIGQUIT", "SIGHUP"];
const FORWARDED = ["SIGTERM", "SIGUSR1", "SIGUSR2", ...OF_A_TERMINAL];

const require = createRequire(import.meta.url);
const about = require("../package.json");
const platform = `${process.platform}-${process.arch}`;
const name = `@framegate/${platform}`;

const path = binary();
// With execve, the binary takes the place of this process: its signals, its exit code and its process id are its own.
if (typeof process.execve === "function" && process.platform !== "win32") {
  process.execve(path, [path, ...process.argv.slice(2)]);
}
run(path);

/** The path of the binary. Exits with a message if it is not installed. */
function binary() {
  const file = process.platform === "win32" ? "framegate.exe" : "framegate";
  try {
    const found = join(dirname(require.resolve(`${name}/package.json`)), "bin", file);
    if (existsSync(found)) return found;
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
  }
  const known = Object.keys(about.optionalDependencies ?? {});
  if (known.includes(name)) {
    const version = about.optionalDependencies[name];
    fail(
      `the package ${name} is not installed, which has the binary for this platform.\n` +
        "npm leaves it out with --omit=optional, and if node_modules or the lock file came from another platform.\n" +
        `Install it: npm install --include=optional framegate@${about.version}\n` +
        `or:         npm install ${name}@${version}`,
    );
  }
  const others = known.map((one) => one.replace("@framegate/", "")).join(", ");
  fail(
    `there is no binary for ${platform}; there are binaries for ${others || "no platform"}.\n` +
      `Build it with Rust: cargo install --locked --git ${REPOSITORY} framegate`,
  );
}

function fail(message) {
  console.error(`framegate: ${message}`);
  process.exit(EXIT_NOT_FOUND);
}

/** Runs the binary as a child, and ends as it ends. */
function run(path) {
  const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
  const isInTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  for (const signal of FORWARDED) {
    if (constants.signals[signal] === undefined || process.platform === "win32") continue;
    // A second SIGINT ends framegate at once, so it must not receive one of the terminal twice.
    const forward = isInTerminal && OF_A_TERMINAL.includes(signal) ? () => {} : () => child.kill(signal);
    process.on(signal, forward);
  }
  child.on("error", (error) => fail(`cannot start ${path}: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    // The program that started this one sees the signal too. If it is ignored, the exit code names it.
    for (const forwarded of FORWARDED) process.removeAllListeners(forwarded);
    process.exitCode = EXIT_SIGNAL + constants.signals[signal];
    process.kill(process.pid, signal);
  });
}
