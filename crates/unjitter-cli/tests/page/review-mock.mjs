// A server as `unjitter review` is one, with made-up sessions of any length. Answers are computed where they are
// asked for, so that a session of ten million samples costs nothing. `node review-mock.mjs PORT` runs it by hand.

import { createServer } from "node:http";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../../src/", import.meta.url));
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";
const KINDS = { html: "text/html", css: "text/css", js: "text/javascript", svg: "image/svg+xml" };

/** The colours, as theme.rs writes them from the palette. */
function themeCss() {
  const palette = Object.fromEntries([...readFileSync(`${source}palette.rs`, "utf8").matchAll(/const (\w+): &str = "(#\w+)"/g)].map(([, name, value]) => [name, value]));
  const tones = [...readFileSync(`${source}report/theme.rs`, "utf8").matchAll(/name: "(\w+)", light: (?:palette::(\w+)|"(#\w+)"), dark: "(#\w+)"/g)];
  const write = pick => tones.map(tone => `--${tone[1]}: ${pick(tone)};`).join(" ");
  const [light, dark] = [write(tone => tone[3] ?? palette[tone[2]]), write(tone => tone[4])];
  return `:root { ${light} } :root[data-theme="dark"] { ${dark} } @media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { ${dark} } }`;
}

function files() {
  const found = new Map([["theme.css", themeCss()], ["style.css", readFileSync(`${source}report/style.css`, "utf8")]]);
  for (const folder of ["report/script/", "review/page/"]) {
    for (const name of readdirSync(source + folder)) found.set(name, readFileSync(source + folder + name, "utf8"));
  }
  return found;
}

/** A number in [0, 1) that depends on `key` only. */
function chance(key) {
  let hash = 2166136261 ^ key;
  for (let round = 0; round < 3; round += 1) {
    hash = Math.imul(hash ^ (hash >>> 15), 2246822519);
    hash = Math.imul(hash ^ (hash >>> 13), 3266489917);
  }
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

const STEP = 3;
const EVERY = 12;

/** Breaths every three seconds, every twelfth or so a deep one; a press for most of these, some seconds late. */
function createSession(number, instances, stamps) {
  const time = i => STEP * i + 0.8 * chance(i * 7 + number);
  const event = i => i % EVERY === 5 + Math.floor(3 * chance(Math.floor(i / EVERY) + 99 * number));
  const pDetector = i => (event(i) ? 0.55 + 0.44 * chance(i + 5) : 0.25 * chance(i + 11) ** 3);
  const truth = k => {
    const block = Math.floor((k * instances) / EVERY / stamps);
    return block * EVERY + 5 + Math.floor(3 * chance(block + 99 * number));
  };
  const nothing = k => chance(k + 31 * number + 7) < 0.08;
  const stamp = k => time(truth(k)) + (nothing(k) ? 14 : 2 + 2.2 * (chance(k * 3 + number) + chance(k * 5 + 1) - 1));
  const breath = t => Math.sin((2 * Math.PI * t) / STEP) * (event(Math.floor(t / STEP)) ? 1.9 : 0.8) + 0.12 * Math.sin(31 * t);
  return { number, instances, stamps, time, event, pDetector, truth, nothing, stamp, breath, start: 0, end: STEP * instances };
}

function posterior(session, k, tilt = 0) {
  const stamp = session.stamp(k);
  const middle = Math.floor((stamp - 2) / STEP);
  const near = [];
  for (let i = Math.max(0, middle - 12); i <= Math.min(session.instances - 1, middle + 12); i += 1) near.push(i);
  const weight = i => Math.exp(-0.5 * ((stamp - session.time(i) - 2 - tilt) / 2.2) ** 2) * session.pDetector(i);
  const spurious = 0.02;
  const total = near.reduce((sum, i) => sum + weight(i), spurious);
  const candidates = near.map(instance => ({ instance, time: session.time(instance), p: weight(instance) / total })).filter(({ p }) => p > 1e-4);
  const neighbours = near.map(instance => ({ instance, time: session.time(instance), p_detector: session.pDetector(instance) }));
  return { stamp, candidates: candidates.sort((a, b) => b.p - a.p), neighbours, p_spurious: spurious / total };
}

/** `sessions`: how many instances and stamps each has. Also gives what a test may look at or break. */
export async function startMock({ sessions: sizes = [[280, 20], [280, 20], [280, 20]], samplesPerSecond = 10, port = 0, delay = 0 } = {}) {
  const sessions = sizes.map(([instances, stamps], number) => createSession(number, instances, stamps));
  const names = sessions.map((_, k) => (k === 1 ? "<b>p2</b> evening" : `p${k + 1} ${["morning", "evening", "night"][k % 3]}`));
  const served = files();
  const mock = { tilt: 0, fits: 1, log: [], undone: [], down: false, revision: 1, conflicts: [], sessions, requests: [] };
  const waiting = new Set();

  const decisions = () => new Map(mock.log.flatMap(entry => entry.decisions));
  const bump = () => {
    mock.revision += 1;
    for (const wake of waiting) wake();
    waiting.clear();
  };

  const stampItem = (session, k) => {
    const { stamp, candidates, p_spurious: nothing } = posterior(session, k);
    return { id: `s${session.number}-${k}`, kind: "stamp", session: session.number, time: stamp, stamp, probability: Math.max(nothing, candidates[0]?.p ?? 0) };
  };
  const missedItem = session => {
    const instance = 11 + EVERY * 3;
    return { id: `m${session.number}-${instance}`, kind: "missed", session: session.number, time: session.time(instance), stamp: null, probability: 0.7 };
  };
  const all = sessions.flatMap(session => [...Array.from({ length: session.stamps }, (_, k) => stampItem(session, k)), missedItem(session)]);
  const byInformation = all.slice().sort((a, b) => a.probability - b.probability || a.time - b.time);
  const orders = {
    informative: byInformation,
    probability: byInformation,
    time: all.slice().sort((a, b) => a.time - b.time),
    session: all.slice().sort((a, b) => a.session - b.session || a.time - b.time),
  };

  const nextOpen = () => {
    const made = decisions();
    return byInformation.find(({ id }) => !made.has(id))?.id ?? null;
  };

  function state() {
    const made = decisions();
    const left = all.filter(({ id }) => !made.has(id));
    return {
      revision: mock.revision, reviewer: "Ada",
      sessions: sessions.map(({ start, end, instances, stamps }, k) => ({ name: names[k], start, end, instances, stamps, zero: k === 2 ? "2026-03-01 09:00:00" : null })),
      progress: { left: left.length, done: made.size, seconds_left: 4 * left.length },
      fit: {
        running: false, revision: mock.fits, delay: [2.0, 1.6, 2.4], spread: [2.2, 1.9, 2.6], modes: [{ delay: 2, spread: 2.2, share: 1 }],
        expected_errors: left.reduce((sum, { probability }) => sum + 1 - probability, 0), changed: made.size ? "delay 2.1 s → 2.0 s, expected errors 6.2 → 5.9" : null,
      },
      findings: [{ severity: "warning", message: "session p2: 3 presses lie outside the recording" }, { severity: "note", message: "presses of two annotators <i>differ</i> by 0.4 s" }],
      conflicts: mock.conflicts,
    };
  }

  function queue(query) {
    const made = decisions();
    const search = (query.get("search") ?? "").toLowerCase();
    const matching = orders[query.get("order") ?? "informative"].filter(({ session }) => names[session].toLowerCase().includes(search));
    const from = Number(query.get("from"));
    const items = matching.slice(from, from + Number(query.get("count"))).map(item => ({ ...item, decision: made.get(item.id) ?? null }));
    return { total: matching.length, items };
  }

  function item(id) {
    const [, kind, number, place] = /^([sm])(\d+)-(\d+)$/.exec(id) ?? [];
    const session = sessions[number];
    if (!session) return null;
    const decision = decisions().get(id) ?? null;
    const shared = { id, session: session.number, others: [], link: null, decision };
    if (kind === "m") {
      const instance = Number(place);
      const time = session.time(instance);
      const neighbours = Array.from({ length: 25 }, (_, k) => instance - 12 + k).map(i => ({ instance: i, time: session.time(i), p_detector: session.pDetector(i) }));
      return { ...shared, kind: "missed", stamp: null, p_spurious: 0.3, candidates: [{ instance, time, p: 0.7 }], neighbours, from: time - 30, to: time + 30 };
    }
    const k = Number(place);
    const found = posterior(session, k, mock.tilt);
    return { ...shared, kind: "stamp", ...found, from: found.stamp - 30, to: found.stamp + 30, others: [{ annotator: "Grace", time: found.stamp + 0.7 }], link: k % 2 ? { label: "video.mp4", seconds: found.stamp + 12, href: k === 1 ? "javascript:window.hacked = 1" : `https://example.invalid/${k}.mp4` } : null };
  }

  function signal(query) {
    const session = sessions[Number(query.get("session"))];
    const [from, to, pixels] = ["from", "to", "pixels"].map(name => Number(query.get(name)));
    const [first, last] = [Math.max(from, session.start), Math.min(to, session.end)];
    const channel = { name: "breathing", times: [], low: [], high: [] };
    const step = Math.max((to - from) / pixels, 1 / samplesPerSecond);
    for (let t = Math.ceil(first / step) * step; t < last; t += step) {
      const values = step > 1 / samplesPerSecond ? [0, 0.37, 0.71].map(share => session.breath(t + share * Math.min(step, STEP))) : [session.breath(t)];
      channel.times.push(t);
      channel.low.push(Math.min(...values));
      channel.high.push(Math.max(...values));
    }
    const stride = Math.max(1, Math.floor((last - first) / STEP / pixels));
    const instances = [];
    for (let i = Math.max(0, Math.floor(first / STEP)); i < session.instances && session.time(i) < last; i += stride) {
      if (session.time(i) < first) continue;
      instances.push({ index: i, time: session.time(i), p_detector: session.pDetector(i), p_positive: session.event(i) ? 0.9 : 0.02 });
    }
    const spacing = session.end / session.stamps;
    const stamps = [];
    for (let k = Math.max(0, Math.floor(first / spacing) - 2); k < session.stamps && stamps.length < 2 * pixels; k += 1) {
      const time = session.stamp(k);
      if (time > last + 60) break;
      if (time >= first) stamps.push({ id: `s${session.number}-${k}`, time, low: time - 4, high: time, annotator: "Ada" });
    }
    return { channels: [channel], instances, stamps };
  }

  const acceptable = above => {
    const made = decisions();
    const open = all.filter(({ id, kind }) => kind === "stamp" && !made.has(id));
    return { open, sure: open.filter(({ probability }) => probability > above) };
  };
  const errors = items => items.reduce((sum, { probability }) => sum + 1 - probability, 0);

  const posts = {
    decide: ({ item: id, action, instance }) => {
      const name = action === "add" ? `m${id.slice(1).split("-")[0]}-${instance}` : id;
      mock.log.push({ id: name, decisions: [[name, { action, instance }]] });
      mock.undone = [];
      bump();
      return { revision: mock.revision, seq: mock.log.length, next: nextOpen() };
    },
    undo: () => {
      const last = mock.log.pop();
      if (last) mock.undone.push(last);
      bump();
      return { revision: mock.revision, seq: mock.log.length, next: last?.id ?? null };
    },
    redo: () => {
      const last = mock.undone.pop();
      if (last) mock.log.push(last);
      bump();
      return { revision: mock.revision, seq: mock.log.length, next: nextOpen() };
    },
    accept: ({ above }) => {
      const { sure } = acceptable(above);
      mock.log.push({ id: null, decisions: sure.map(({ id }) => [id, { action: "accept", instance: item(id).candidates[0].instance }]) });
      bump();
      return { accepted: sure.length, expected_errors: errors(sure), spot_check: sure.slice(0, 3).map(({ id }) => id) };
    },
  };

  const gets = {
    state, queue, signal,
    acceptable: query => {
      const { open, sure } = acceptable(Number(query.get("above")));
      return { would_accept: sure.length, of: open.length, expected_errors: errors(sure) };
    },
    changes: async query => {
      if (Number(query.get("since")) === mock.revision) await new Promise(wake => {
        waiting.add(wake);
        setTimeout(wake, 5000).unref();
      });
      return { revision: mock.revision };
    },
  };

  async function answer(request) {
    const url = new URL(request.url, "http://localhost");
    const [, token, ...rest] = url.pathname.split("/");
    if (token !== "TOKEN") return null;
    if (rest[0] === "" || rest[0] === "assets") {
      const name = rest[1] ?? "index.html";
      return served.has(name) ? [served.get(name), KINDS[name.split(".").at(-1)]] : null;
    }
    mock.requests.push(url.pathname + url.search);
    if (request.method === "POST") {
      let body = "";
      for await (const part of request) body += part;
      return [JSON.stringify(posts[rest[1]](JSON.parse(body || "{}"))), "application/json"];
    }
    const found = rest[1] === "item" ? item(decodeURIComponent(rest[2])) : await gets[rest[1]]?.(url.searchParams);
    return found ? [JSON.stringify(found), "application/json"] : null;
  }

  const server = createServer(async (request, response) => {
    if (mock.down) return request.socket.destroy();
    if (delay) await new Promise(wake => setTimeout(wake, delay));
    const found = await answer(request);
    if (mock.down) return request.socket.destroy();
    response.writeHead(found ? 200 : 404, { "content-type": found?.[1] ?? "text/plain", "content-security-policy": POLICY, "cache-control": "no-store" });
    response.end(found?.[0] ?? "there is no such thing");
  });
  await new Promise(ready => server.listen(port, "127.0.0.1", ready));
  // A test that fails must still end.
  if (!port) server.unref();
  mock.address = `http://127.0.0.1:${server.address().port}/TOKEN/`;
  mock.decisions = decisions;
  mock.bump = bump;
  mock.item = item;
  mock.stop = () => {
    for (const wake of waiting) wake();
    server.closeAllConnections();
    server.close();
  };
  mock.setDown = down => {
    mock.down = down;
    if (down) {
      bump();
      server.closeAllConnections();
    }
  };
  return mock;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const mock = await startMock({ port: Number(process.argv[2] ?? 8000) });
  console.log(mock.address);
}
