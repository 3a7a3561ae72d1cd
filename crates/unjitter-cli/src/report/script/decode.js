// Sessions out of the compact form that they travel in.

const fromTenThousandths = share => (share < 0 ? NaN : share / 1e4);

function running(steps) {
  let sum = 0;
  return steps.map(step => (sum += step));
}

function decodeSession(raw) {
  const time = ticks => raw.origin + ticks / raw.ticks_per_second;
  const times = steps => Float64Array.from(running(steps), time);
  const probabilities = list => Float64Array.from(list, fromTenThousandths);
  const session = {
    name: raw.name,
    subject: raw.subject,
    start: raw.start,
    tick: 1 / raw.ticks_per_second,
    times: times(raw.times),
    pDetector: probabilities(raw.p_detector),
    pPositive: probabilities(raw.p_positive),
    pMissed: probabilities(raw.p_missed),
    truth: raw.truth ? new Set(raw.truth) : null,
    stamps: raw.stamps.map(fields => decodeStamp(fields, time)).sort((a, b) => a.time - b.time),
    detected: times(raw.detected).sort(),
    missed: times(raw.missed).sort(),
    signal: raw.signal ? decodeSignal(raw.signal, times) : null,
  };
  session.trueTimes = session.truth ? session.times.filter((_, k) => session.truth.has(k)) : new Float64Array();
  session.stampTimes = Float64Array.from(session.stamps, stamp => stamp.time);
  return Object.assign(session, extent(session));
}

function decodeStamp([pressed, aligned, low, high, instance, pInstance, pSpurious], time) {
  return {
    time: time(pressed),
    aligned: time(aligned),
    low: time(low),
    high: time(high),
    instance: time(instance),
    pInstance: fromTenThousandths(pInstance),
    pSpurious: fromTenThousandths(pSpurious),
    spurious: pSpurious > 5000,
  };
}

function decodeSignal(raw, times) {
  const values = Float64Array.from(running(raw.values));
  return { times: times(raw.times), values, gaps: new Set(raw.gaps), ...usualRange(values) };
}

/** Heights that nearly all values lie within: one spike must not flatten the rest. */
function usualRange(values) {
  const sorted = values.slice().sort();
  const quantile = level => sorted[Math.round(level * (sorted.length - 1))];
  const [low, high] = [quantile(0.01), quantile(0.99)];
  const margin = 0.3 * (high - low);
  return { low: Math.max(sorted[0], low - margin), high: Math.min(sorted.at(-1), high + margin) };
}

/** First and last time of anything; `empty` if there is nothing. */
function extent(session) {
  let first = Infinity;
  let last = -Infinity;
  const reach = time => {
    first = Math.min(first, time);
    last = Math.max(last, time);
  };
  for (const list of [session.times, session.detected, session.missed, session.signal?.times ?? []]) list.forEach(reach);
  for (const { time, low, high, instance } of session.stamps) [time, low, high, instance].forEach(reach);
  return first <= last ? { first, last, empty: false } : { first: 0, last: 1, empty: true };
}
