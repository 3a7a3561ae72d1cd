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
  const events = list => decodeEvents(list, raw, times);
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
    stamps: raw.stamps.map((_, k) => decodeStamp(raw, k, time)).sort((a, b) => a.time - b.time),
    classes: raw.classes ?? [],
    byClass: (raw.by_class ?? []).map(own => ({ pDetector: probabilities(own.p_detector), pPositive: probabilities(own.p_positive) })),
    detected: events(raw.detected),
    missed: events(raw.missed),
    signal: raw.signal ? decodeSignal(raw.signal, times) : null,
  };
  const positive = () => session.times.filter((_, k) => session.truth?.has(k));
  session.trueEvents = raw.true_events ? events(raw.true_events) : { begins: positive(), ends: positive(), lasts: false };
  session.stampTimes = Float64Array.from(session.stamps, stamp => stamp.time);
  return Object.assign(session, extent(session));
}

/** Begins and ends, in order of begins; all of them, and those of each class if there are several. */
function decodeEvents({ begins: steps, lengths, classes }, raw, times) {
  const begins = times(steps);
  const ends = lengths ? begins.map((begin, k) => begin + lengths[k] / raw.ticks_per_second) : begins;
  const of = own => ({ begins: begins.filter(own), ends: ends.filter(own), lasts: Boolean(lengths) });
  const byClass = (raw.classes ?? []).map((_, number) => of((_, k) => classes?.[k] === number));
  return { ...of(() => true), byClass };
}

/** An end has the fields of a press that it needs. */
function decodeEnd([pressed, aligned, low, high, instance, pSpurious], time) {
  const [at, spurious] = [{ time: time(pressed), aligned: time(aligned), low: time(low), high: time(high) }, pSpurious > 5000];
  return { ...at, instance: time(instance), pSpurious: fromTenThousandths(pSpurious), spurious };
}

function decodeStamp(raw, k, time) {
  const [pressed, aligned, low, high, instance, pInstance, pSpurious] = raw.stamps[k];
  const record = raw.records?.[k];
  return {
    end: raw.ends?.[k].length ? decodeEnd(raw.ends[k], time) : null,
    record: record?.length ? { recorded: record[0], likeliest: record[1], p: fromTenThousandths(record[2]) } : null,
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
  const events = [session.detected, session.missed, session.trueEvents].flatMap(({ begins, ends }) => [begins, ends]);
  for (const list of [session.times, ...events, session.signal?.times ?? []]) list.forEach(reach);
  for (const stamp of session.stamps) {
    for (const { time, low, high, instance } of [stamp, stamp.end ?? stamp]) [time, low, high, instance].forEach(reach);
  }
  return first <= last ? { first, last, empty: false } : { first: 0, last: 1, empty: true };
}
