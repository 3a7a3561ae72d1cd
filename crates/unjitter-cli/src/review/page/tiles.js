// The signal by range. Time is cut into tiles of 2^level seconds, each fetched once with about two points a pixel, so
// that what is drawn never depends on how long a session is. Asked for on every frame: only what the latest frame
// wants is fetched, the rest is forgotten. Until a tile arrives, a coarser one stands in.

import { get } from "./server.js";

const PIXELS = 2048;
const AT_ONCE = 4;
const KEPT = 80;
const COARSER = 6;

export function createTiles(onArrival) {
  const tiles = new Map();
  let wanted = [];
  let ahead = [];
  let fetching = 0;
  let revision = 0;
  let clock = 0;

  const tile = (session, level, number) => {
    const key = `${session}/${level}/${number}`;
    const span = 2 ** level;
    if (!tiles.has(key)) tiles.set(key, { key, session, from: number * span, to: (number + 1) * span, data: null, revision: -1, busy: false, used: 0 });
    const found = tiles.get(key);
    found.used = clock += 1;
    return found;
  };

  function fetchWanted() {
    while (fetching < AT_ONCE) {
      const next = wanted.find(({ busy, revision: at }) => !busy && at !== revision);
      if (!next) return;
      fetchOne(next);
    }
  }

  async function fetchOne(next) {
    fetching += 1;
    next.busy = true;
    const at = revision;
    try {
      next.data = decode(await get("signal", { session: next.session, from: next.from, to: next.to, pixels: PIXELS }));
      next.revision = at;
      onArrival();
    } catch {
      // The page learns elsewhere that the server is gone; this tile is asked for again when it is drawn again.
      [wanted, ahead] = [wanted, ahead].map(list => list.filter(other => other !== next));
    }
    next.busy = false;
    fetching -= 1;
    fetchWanted();
  }

  function forgetOldest() {
    if (tiles.size <= KEPT) return;
    const oldest = [...tiles.values()].filter(({ busy }) => !busy).sort((a, b) => a.used - b.used);
    oldest.slice(0, tiles.size - KEPT).forEach(({ key }) => tiles.delete(key));
  }

  const levelOf = span => Math.ceil(Math.log2(span));

  function covering(session, level, from, to) {
    const span = 2 ** level;
    const found = [];
    for (let k = Math.floor(from / span); k * span < to; k += 1) found.push(tile(session, level, k));
    return found;
  }

  /** A tile with data that covers this one: itself, or a coarser one. */
  function standIn(session, level, { from, to }) {
    for (let up = 0; up <= COARSER; up += 1) {
      const span = 2 ** (level + up);
      const found = tiles.get(`${session}/${level + up}/${Math.floor((from + to) / 2 / span)}`);
      if (found?.data) return found;
    }
    return null;
  }

  let joined = { signature: "", data: NOTHING };

  /** All that is known of a range; also starts fetching what is not, and a little around it. */
  function range(session, from, to, whole) {
    const level = levelOf(to - from);
    const visible = covering(session, level, from, to);
    const around = covering(session, level, from - 2 ** level, to + 2 ** level);
    wanted = [...new Set([...visible, ...covering(session, level + 1, from, to), ...around, ...ahead])];
    fetchWanted();
    forgetOldest();
    const pieces = visible.map(part => ({ from: part.from, to: part.to, source: standIn(session, level, part)?.data ?? whole })).filter(({ source }) => source);
    const signature = pieces.map(piece => `${piece.from}:${piece.to}:${piece.source.number}`).join();
    if (signature !== joined.signature) joined = { signature, data: join(pieces) };
    return joined.data;
  }

  return {
    range,
    /** Gets a range before anybody looks at it, once nothing else is wanted. */
    prefetch: (session, from, to) => {
      ahead = covering(session, levelOf(to - from), from, to);
      wanted = wanted.concat(ahead);
      fetchWanted();
    },
    /** Probabilities and presses may have changed. What is there is drawn until its successor comes. */
    outdate: () => (revision += 1),
    whole: async (session, from, to) => decode(await get("signal", { session, from, to, pixels: 1024 })),
  };
}

const NOTHING = { number: 0, channels: [], instances: { index: [], times: [], pDetector: [], pPositive: [] }, stamps: [] };
let count = 0;

function decode({ channels, instances, stamps }) {
  return {
    number: (count += 1),
    channels: channels.map(decodeChannel),
    instances: {
      index: instances.map(({ index }) => index),
      times: Float64Array.from(instances, ({ time }) => time),
      pDetector: Float64Array.from(instances, ({ p_detector: p }) => p ?? 0),
      pPositive: Float64Array.from(instances, ({ p_positive: p }) => p ?? 0),
    },
    stamps: stamps.slice().sort((a, b) => a.time - b.time),
  };
}

/** The lowest and the highest of each piece of time one after the other, as the report's signals come. */
function decodeChannel({ name, times, low, high }) {
  const [moments, values, gaps] = [[], [], new Set()];
  const usual = typicalStep(times);
  let broken = false;
  for (let k = 0; k < times.length; k += 1) {
    if (!Number.isFinite(low[k]) || !Number.isFinite(high[k])) {
      broken = true;
      continue;
    }
    if (broken || (k > 0 && times[k] - times[k - 1] > 6 * usual)) gaps.add(moments.length);
    broken = false;
    moments.push(times[k]);
    values.push(low[k]);
    if (high[k] > low[k]) {
      moments.push(times[k]);
      values.push(high[k]);
    }
  }
  return { name, times: Float64Array.from(moments), values: Float64Array.from(values), gaps, ...usualEnvelope(low, high) };
}

function typicalStep(times) {
  const steps = times.slice(1).map((time, k) => time - times[k]).sort((a, b) => a - b);
  return steps[steps.length >> 1] ?? Infinity;
}

/** Heights that most pieces lie within: each piece of a long session may hold a spike. */
function usualEnvelope(low, high) {
  const sorted = list => list.filter(Number.isFinite).sort((a, b) => a - b);
  const [lows, highs] = [sorted(low), sorted(high)];
  if (!lows.length) return { low: 0, high: 1 };
  const bottom = lows[Math.floor(0.01 * lows.length)];
  const top = highs[Math.min(highs.length - 1, Math.floor(0.99 * highs.length))];
  const margin = 0.3 * (top - bottom);
  return { low: Math.max(lows[0], bottom - margin), high: Math.min(highs.at(-1), top + margin) };
}

/** Pieces side by side as one. */
function join(pieces) {
  if (!pieces.length) return NOTHING;
  const cut = (times, { from, to }) => [lowerBound(times, from), lowerBound(times, to)];
  const channels = pieces[0].source.channels.map((channel, k) => {
    const whole = { name: channel.name, low: channel.low, high: channel.high, times: [], values: [], gaps: new Set() };
    for (const piece of pieces) {
      const part = piece.source.channels[k];
      if (!part) continue;
      const [start, end] = cut(part.times, piece);
      const shift = whole.times.length - start;
      for (const gap of part.gaps) if (gap >= start && gap < end) whole.gaps.add(gap + shift);
      for (let n = start; n < end; n += 1) {
        whole.times.push(part.times[n]);
        whole.values.push(part.values[n]);
      }
    }
    return whole;
  });
  const instances = { index: [], times: [], pDetector: [], pPositive: [] };
  const stamps = new Map();
  for (const piece of pieces) {
    const { instances: part } = piece.source;
    const [start, end] = cut(part.times, piece);
    for (const field of Object.keys(instances)) for (let n = start; n < end; n += 1) instances[field].push(part[field][n]);
    // A press belongs to the range that its interval reaches, so it may come with several tiles.
    for (const stamp of piece.source.stamps) stamps.set(stamp.id, stamp);
  }
  return { number: -1, channels, instances, stamps: [...stamps.values()].sort((a, b) => a.time - b.time) };
}
