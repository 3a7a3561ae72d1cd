// The lanes of a session: which there are, where they lie, and what is drawn in each.

/**
 * Heights in pixels; `needs` says when a lane would be empty. Curves end right under the true events. Lanes with `rows` have one
 * for each class, of this height, if there are several; what follows `row` is its name.
 */
const LANES = [
  { key: "signal", label: "signal", height: 92, needs: session => session.signal },
  { key: "probability", label: "probability", height: 86, rows: 66, needs: session => session.times.length },
  { key: "detected", label: "detected", row: "detected", height: 26, rows: 22, needs: session => session.detected.begins.length },
  { key: "missed", label: "probably missed", row: "missed", height: 26, rows: 22, needs: session => session.missed.begins.length },
  { key: "truth", label: "true events", row: "true", height: 26, rows: 22, merged: session => !session.trueEvents.byClass, needs: session => session.trueEvents.begins.length },
  { key: "stamps", label: "presses belong to", height: 118, needs: session => session.stamps.length },
];
/** Where classes of presses stand, under them. */
const CLASS_LABELS = 14;
const LANE_GAP = 10;
const GUTTER = 128;
const NARROW = 640;

const several = session => session.classes?.length > 1;

/** How many rows a lane has: one for each class if there are several, unless its events are not told apart. */
function rowsOf(session, lane) {
  return several(session) && lane.rows && !lane.merged?.(session) ? session.classes.length : 1;
}

/** Where everything lies for a given width. On narrow screens a label stands over its lane, not beside it. */
function layOut(session, width, kinds = LANES) {
  const narrow = width < NARROW;
  const head = narrow ? 15 : 0;
  const lanes = {};
  let y = 8;
  for (const lane of kinds.filter(lane => lane.needs(session))) {
    const rows = rowsOf(session, lane);
    const height = rows > 1 ? rows * lane.rows : lane.height;
    lanes[lane.key] = { ...lane, top: y + head, bottom: y + head + height, labelY: narrow ? y + 10 : null };
    y += head + height + LANE_GAP + (lane.key === "stamps" && several(session) ? CLASS_LABELS : 0);
  }
  if (!Object.keys(lanes).length) y += 60;
  return { lanes, narrow, width, left: narrow ? 2 : GUTTER, right: width - 2, bottom: y, height: y + 22 };
}

/** The recording as a line; of the points within one pixel only the lowest and the highest. */
function signalPath({ times, values, gaps, low, high }, scale, { top, bottom }) {
  const range = high > low ? high - low : 1;
  const y = value => bottom - 3 - ((value - low) / range) * (bottom - top - 6);
  const start = Math.max(0, lowerBound(times, scale.from) - 1);
  const end = Math.min(times.length, lowerBound(times, scale.to) + 1);
  const thin = end - start > 3 * (scale.right - scale.left);
  let path = "";
  let k = start;
  while (k < end) {
    let [lowest, highest] = [k, k];
    const column = Math.floor(scale.x(times[k]));
    let next = k + 1;
    while (thin && next < end && !gaps.has(next) && Math.floor(scale.x(times[next])) === column) {
      if (values[next] < values[lowest]) lowest = next;
      if (values[next] > values[highest]) highest = next;
      next += 1;
    }
    let command = path === "" || gaps.has(k) ? "M" : "L";
    for (const point of new Set([Math.min(lowest, highest), Math.max(lowest, highest)])) {
      path += `${command}${px(scale.x(times[point]))} ${px(y(values[point]))}`;
      command = "L";
    }
    // A lone point between gaps: a line of no length, which round caps make a dot.
    if (next === k + 1 && gaps.has(next) && (k === 0 || gaps.has(k))) path += "h0";
    k = next;
  }
  return path;
}

/** Bars of probabilities; of the instances within one pixel only the highest. */
function barsPath(times, heights, scale, { top, bottom }) {
  let path = "";
  let [column, highest] = [NaN, 0];
  const flush = () => {
    if (highest > 0.002) path += `M${column} ${bottom}V${px(bottom - highest * (bottom - top))}`;
  };
  for (let k = lowerBound(times, scale.time(scale.left - 6)); k < times.length; k += 1) {
    const x = scale.x(times[k]);
    if (x > scale.right + 6) break;
    const here = scale.perSecond > 1e7 ? px(x) : Math.round(x * 2) / 2;
    if (here !== column) {
      flush();
      [column, highest] = [here, 0];
    }
    if (heights[k] > highest) highest = heights[k];
  }
  flush();
  return path;
}

/** Bars as wide as the room between instances allows. */
function barWidth(times, scale) {
  const first = lowerBound(times, scale.from);
  const count = lowerBound(times, scale.to) - first;
  return clamp((0.62 * (scale.right - scale.left)) / Math.max(count, 1), 1.5, 11);
}

const ARC_LEVELS = 4;

/** Paths of the press lane by class name: one for each kind of mark. */
function stampPaths(stamps, scale, lane) {
  const home = lane.top + 10;
  const pressed = lane.bottom - 14;
  const paths = { whisker: "", "arc-spurious": "", home: "", stamp: "", "stamp-spurious": "" };
  for (let level = 0; level < ARC_LEVELS; level += 1) paths[`arc arc-${level}`] = "";
  for (const stamp of stamps) {
    const [early, late] = [Math.min(stamp.time, stamp.low, stamp.instance), Math.max(stamp.time, stamp.high, stamp.instance)];
    if (late < scale.from || early > scale.to) continue;
    const curve = arc(scale.x(stamp.time), pressed - 6, scale.x(stamp.instance), home);
    if (stamp.spurious) {
      paths["arc-spurious"] += curve;
      paths["stamp-spurious"] += triangle(scale.x(stamp.time), pressed, 5);
    } else {
      const sureness = Number.isNaN(stamp.pInstance) ? 0 : stamp.pInstance;
      paths[`arc arc-${Math.min(ARC_LEVELS - 1, Math.floor(sureness * ARC_LEVELS))}`] += curve;
      paths.stamp += triangle(scale.x(stamp.time), pressed, 5);
    }
    paths.whisker += whisker(scale.x(stamp.low), scale.x(stamp.high), home);
    paths.home += circle(scale.x(stamp.instance), home, 3);
  }
  return paths;
}
