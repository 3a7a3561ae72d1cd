// Events in rows, one for each class: a mark where an event is an instance, a bar where it is a run of them. Runs that
// were pressed at both ends, and the classes of presses.

/** Height of half a bar of the rows. */
const HALF_BAR = 5;
/** Room beside a row, in characters: fewer beside the scale of probabilities. */
const CHARACTERS = 18;
const FEWER = 14;

/** The part of a lane that belongs to a class. */
function rowOf(lane, session, k) {
  const height = (lane.bottom - lane.top) / rowsOf(session, lane);
  return { top: lane.top + k * height, bottom: lane.top + (k + 1) * height };
}

/** What stands beside a row; names are cut to the room that there is. */
function rowLabel(lane, name) {
  return lane.row ? cut(`${lane.row}: ${name}`, CHARACTERS) : cut(name, FEWER);
}

const cut = (text, room) => (text.length > room ? `${text.slice(0, room - 1)}…` : text);

/** One path for all events of a lane. */
function eventsPath(events, scale, lane, session, shape) {
  let path = "";
  const rows = rowsOf(session, lane);
  for (let k = 0; k < rows; k += 1) {
    const { top, bottom } = rowOf(lane, session, k);
    const own = rows > 1 ? events.byClass[k] : events;
    const y = (top + bottom) / 2;
    path += own.lasts ? barsAt(own, scale, y) : marksAt(own.begins, scale, x => shape(x, y, 4.5));
  }
  return path;
}

/** Bars of runs in order of time; those with less than half a pixel between them become one. */
function barsAt({ begins, ends }, scale, y) {
  let path = "";
  let [from, to] = [NaN, NaN];
  const flush = () => {
    // A run of one instance is seen too.
    const width = Math.max(2, to - from);
    if (!Number.isNaN(from)) path += `M${px(from)} ${px(y - HALF_BAR)}h${px(width)}v${2 * HALF_BAR}h${px(-width)}z`;
  };
  for (let k = 0; k < begins.length; k += 1) {
    if (ends[k] < scale.from || begins[k] > scale.to) continue;
    const left = Math.max(scale.x(begins[k]), scale.left - 8);
    const right = Math.min(scale.x(ends[k]), scale.right + 8);
    if (left <= to + 0.5) {
      to = Math.max(to, right);
      continue;
    }
    flush();
    [from, to] = [left, right];
  }
  flush();
  return path;
}

/** Presses with an end: a thin line between both as pressed, a bar between where they belong. */
function lastingPaths(stamps, scale, { top, bottom }) {
  const [home, pressed] = [top + 10, bottom - 14];
  const paths = { "pressed-run": "", run: "", "end-stamp": "", "end-arc": "", "end-home": "" };
  for (const { time, aligned, end, spurious } of stamps) {
    if (!end) continue;
    const times = [time, aligned, end.time, end.aligned];
    if (Math.max(...times) < scale.from || Math.min(...times) > scale.to) continue;
    const [from, to] = [scale.x(time), scale.x(end.time)];
    paths["pressed-run"] += `M${px(from)} ${pressed + 9}H${px(to)}`;
    paths["end-stamp"] += square(to, pressed + 2, 4);
    if (spurious && end.spurious) continue;
    paths["end-arc"] += arc(to, pressed - 4, scale.x(end.instance), home);
    paths["end-home"] += whisker(scale.x(end.low), scale.x(end.high), home) + circle(scale.x(end.instance), home, 2.5);
    const [begin, width] = [scale.x(aligned), Math.max(2, scale.x(end.aligned) - scale.x(aligned))];
    paths.run += `M${px(begin)} ${home - HALF_BAR}h${px(width)}v${2 * HALF_BAR}h${px(-width)}z`;
  }
  return paths;
}

/** The classes of presses in view that have room for them: as recorded, and what the event more probably is. */
function classLabels(session, scale) {
  const labels = [];
  let taken = scale.left;
  for (const { time, record } of session.stamps) {
    if (!record || time < scale.from || time > scale.to) continue;
    const [recorded, likeliest] = [record.recorded, record.likeliest].map(k => cut(session.classes[k], FEWER));
    const text = recorded === likeliest ? recorded : `${recorded} → ${likeliest}`;
    // A character is about 6 pixels wide.
    const half = 3 * text.length;
    const x = scale.x(time);
    if (x - half < taken || x + half > scale.right) continue;
    taken = x + half + 6;
    labels.push({ text, x });
  }
  return labels;
}
