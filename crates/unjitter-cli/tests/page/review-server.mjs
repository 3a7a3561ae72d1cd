// Runs `unjitter review` on the demo's data, as a person would. UNJITTER is the program, UNJITTER_DEMO the demo's folder.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const demo = process.env.UNJITTER_DEMO;
assert.ok(process.env.UNJITTER && demo, "UNJITTER and UNJITTER_DEMO must be the program and the folder of its demo");

/** Starts it with the given log, or a new one; `port` to come back at the same address is not promised. */
export async function startReview(log = join(mkdtempSync(join(tmpdir(), "review-")), "review.jsonl"), ...options) {
  const args = ["review", join(demo, "data"), "--model", join(demo, "model.json"), "--log", log, "--no-open", ...options];
  const child = spawn(process.env.UNJITTER, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const address = await new Promise((found, failed) => {
    const hear = words => {
      said += words;
      const address = /http:\/\/\S+/.exec(said);
      if (address) found(address[0]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", code => failed(new Error(`it ended with ${code}: ${said}`)));
  });
  /** As with Ctrl-C; a server that does not end fails the test. */
  const stop = () => new Promise((done, failed) => {
    child.removeAllListeners("exit");
    if (child.exitCode !== null || child.signalCode !== null) return done();
    const patience = setTimeout(() => {
      child.kill("SIGKILL");
      failed(new Error("the server goes on after Ctrl-C"));
    }, 10000);
    child.on("exit", () => {
      clearTimeout(patience);
      done();
    });
    child.kill("SIGINT");
  });
  return { address, log, stop, lines: () => readFileSync(log, "utf8").trim().split("\n").map(line => JSON.parse(line)) };
}

/** Times of true events by session, as somebody sees them who looks at the signal. */
export function trueTimes() {
  const [, ...rows] = readFileSync(join(demo, "data", "true_events.csv"), "utf8").trim().split("\n");
  const found = new Map();
  for (const row of rows) {
    const [session, time] = row.split(",");
    found.set(session, [...(found.get(session) ?? []), Number(time)]);
  }
  return found;
}
