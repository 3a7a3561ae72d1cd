// Marks in words, for the tooltip and for screen readers.

const probability = p => (Number.isNaN(p) ? "unknown" : p > 0 && p < 0.005 ? "< 0.01" : p.toFixed(2));

function stampInWords(stamp, view) {
  const decimals = exactDecimals(view.to - view.from);
  const at = time => view.clock.format(time, decimals);
  const lateness = ({ time, instance }) => {
    const delay = time - instance;
    return Math.abs(delay) < view.session.tick ? "on time" : `${duration(delay)} ${delay > 0 ? "late" : "early"}`;
  };
  const place = own => `${at(own.instance)} (95 %: ${at(own.low)} to ${at(own.high)})`;
  const lines = [
    `pressed at ${at(stamp.time)}`,
    `belongs to ${place(stamp)}`,
    lateness(stamp),
    `p of this instance ${probability(stamp.pInstance)}; median ${at(stamp.aligned)}`,
    `p spurious ${probability(stamp.pSpurious)}${stamp.spurious ? ": probably for nothing" : ""}`,
  ];
  if (stamp.end) {
    lines.push(`its end pressed at ${at(stamp.end.time)}, belongs to ${place(stamp.end)}, ${lateness(stamp.end)}`);
  }
  if (stamp.record) {
    const [recorded, likeliest] = [stamp.record.recorded, stamp.record.likeliest].map(k => view.session.classes[k]);
    lines.push(`recorded as ${recorded}; most probably ${likeliest}, p ${probability(stamp.record.p)}`);
  }
  return lines;
}

function instanceInWords(index, view) {
  const { times, pPositive, pDetector, pMissed, truth } = view.session;
  const lines = [
    `instance at ${view.clock.format(times[index], exactDecimals(view.to - view.from))}`,
    `p of an event ${probability(pPositive[index])}; from features alone ${probability(pDetector[index])}`,
    `p missed by the annotator ${probability(pMissed[index])}`,
  ];
  view.session.classes.forEach((name, k) => {
    const { pPositive: given, pDetector: alone } = view.session.byClass[k];
    if (given.length) lines.push(`${name}: ${probability(given[index])}; from features alone ${probability(alone[index])}`);
  });
  if (truth) lines.push(`by hand: ${truth.has(index) ? "event" : "no event"}`);
  return lines;
}

function counted(number, noun, plural = `${noun}s`) {
  const digits = number.toLocaleString("en").replaceAll(",", "\u202f");
  return `${number ? digits : "no"} ${number === 1 ? noun : plural}`;
}

function sessionInWords(view) {
  const { session, clock } = view;
  if (session.empty) return "nothing was recorded";
  const decimals = Math.max(0, decimalsFor(session.last - session.first || 1) - 2);
  const [first, last] = [session.first, session.last].map(time => clock.format(time, decimals));
  const words = [
    session.subject,
    first === last ? `at ${first}` : `${first} to ${last}`,
    counted(session.times.length, "instance"),
    counted(session.stamps.length, "press", "presses"),
    `${session.detected.begins.length} detected`,
    `${session.missed.begins.length} probably missed`,
  ];
  if (session.truth) words.push(counted(session.trueEvents.begins.length, "true event"));
  return words.filter(Boolean).join(" · ");
}

function rangeInWords(view) {
  const decimals = Math.max(0, decimalsFor(view.to - view.from) - 1);
  return `showing ${view.clock.format(view.from, decimals)} to ${view.clock.format(view.to, decimals)}`;
}

/** Puts the tooltip beside [left, right], or under `bottom` on narrow screens: the marks above and below matter. */
function placeTooltip(tooltip, lines, { left, right, top, bottom, width: available, narrow }) {
  tooltip.replaceChildren(...lines.map(line => {
    const row = document.createElement("div");
    row.textContent = line;
    return row;
  }));
  const { offsetWidth: width, offsetHeight: height } = tooltip;
  const room = Math.max(0, available - width);
  const beside = right + 18 <= room ? right + 18 : left - 18 - width;
  const under = narrow || beside < 0;
  tooltip.style.left = `${under ? clamp((left + right - width) / 2, 0, room) : beside}px`;
  tooltip.style.top = `${under ? bottom + 8 : Math.max(0, (top + bottom - height) / 2)}px`;
}
