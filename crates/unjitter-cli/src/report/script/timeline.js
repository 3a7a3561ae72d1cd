// Draws the lanes for the range in view, and says what is under the pointer.

function createTimeline(view, host, tooltip) {
  let layout, scale, frame, marks, ticks, focus, classes;

  /** The parts that change with the session or the width only. */
  function build() {
    layout = layOut(view.session, Math.max(280, host.clientWidth));
    const { width, height, left, right, bottom } = layout;
    frame = element("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    ticks = element("g", { class: "ticks" }, frame);
    const fixed = element("g", { class: "labels" }, frame);
    const clip = { x: left, y: 0, width: right - left, height: bottom, viewBox: `${left} 0 ${right - left} ${bottom}` };
    const plot = element("svg", clip, frame);
    marks = new Map();
    focus = element("g", { class: "focus" }, plot);
    const add = name => marks.set(name, element("path", { class: name }, plot));
    ["signal", "p-detector", "p-positive", "instances", "detected", "missed", "truth"].forEach(add);
    ["pressed-run", "run", "end-arc", "end-home", "end-stamp"].forEach(add);
    ["whisker", "arc-spurious", "arc arc-0", "arc arc-1", "arc arc-2", "arc arc-3", "home", "stamp-spurious", "stamp"].forEach(add);
    classes = element("g", { class: "labels" }, frame);
    for (const lane of Object.values(layout.lanes)) labelLane(lane, fixed);
    if (view.session.empty) {
      label("Nothing was recorded in this session.", { x: width / 2, y: 40, "text-anchor": "middle" }, fixed);
    }
    host.replaceChildren(frame);
  }

  function labelLane(lane, parent) {
    const { key, label: text, top, bottom, labelY } = lane;
    const { session } = view;
    const names = rowsOf(session, lane) > 1 ? session.classes : [];
    if (key === "stamps" && !layout.narrow) label("pressed at", { x: 2, y: bottom - 9 }, parent);
    // Narrow screens have no room beside rows: their names are in their order above.
    if (layout.narrow) label([text, ...names].join(" · "), { x: 2, y: labelY }, parent);
    else if (!names.length) label(text, { x: 2, y: key === "stamps" ? top + 14 : (top + bottom) / 2 + 4 }, parent);
    for (let k = 0; k < rowsOf(session, lane); k += 1) {
      const row = rowOf(lane, session, k);
      if (names.length && !layout.narrow) label(rowLabel(lane, names[k]), { x: 2, y: (row.top + row.bottom) / 2 + 4 }, parent);
      if (key === "probability") rules(barsRow(lane, k), parent);
    }
  }

  /** The part of the lane of probabilities that has the bars of a class; bars of several do not touch. */
  function barsRow(lane, k) {
    const row = rowOf(lane, view.session, k);
    return several(view.session) ? { top: row.top + 16, bottom: row.bottom } : row;
  }

  function rules({ top, bottom }, parent) {
    const { left, right, narrow } = layout;
    for (const [share, name] of [[0, "0"], [0.5, "½"], [1, "1"]]) {
      const line = bottom - share * (bottom - top);
      element("path", { class: "rule", d: `M${left} ${line}H${right}` }, parent);
      if (!narrow) label(name, { x: left - 8, y: line + 4, "text-anchor": "end", class: "tick" }, parent);
    }
  }

  function drawTicks() {
    const { left, right, bottom } = layout;
    const offset = view.clock.offset;
    // A character is about 7 pixels wide.
    const count = (right - left) / (7 * view.clock.format(view.from, 0).length + 30);
    const { step, ticks: times } = niceTicks(view.from + offset, view.to + offset, count);
    const decimals = step >= 1 ? 0 : clamp(Math.ceil(-Math.log10(step) - 1e-9), 0, 9);
    ticks.replaceChildren();
    for (const time of times) {
      const x = px(scale.x(time - offset));
      element("path", { d: `M${x} 0V${bottom}` }, ticks);
      const text = view.clock.format(time - offset, decimals);
      const half = 3.5 * text.length;
      label(text, { x: clamp(x, left + half, right - half), y: bottom + 15, "text-anchor": "middle" }, ticks);
    }
  }

  function draw() {
    const { session } = view;
    const { lanes, left, right } = layout;
    scale = createScale(view.from, view.to, left, right);
    const set = (name, path) => marks.get(name).setAttribute("d", path);
    const row = (name, events, shape) => {
      const lane = lanes[name];
      if (lane) set(name, eventsPath(events, scale, lane, session, shape));
    };
    if (!session.empty) drawTicks();
    if (lanes.signal) set("signal", signalPath(session.signal, scale, lanes.signal));
    if (lanes.probability) drawProbabilities(session, lanes.probability, set);
    row("detected", session.detected, diamond);
    row("missed", session.missed, circle);
    row("truth", session.trueEvents, square);
    if (lanes.stamps) drawStamps(session, lanes.stamps, set);
    drawFocus();
  }

  function drawProbabilities(session, lane, set) {
    const { times } = session;
    const all = several(session) ? session.byClass : [session];
    const bars = of => all.map((own, k) => barsPath(times, of(own), scale, barsRow(lane, k))).join("");
    const width = barWidth(times, scale);
    marks.get("p-detector").setAttribute("stroke-width", px(width));
    marks.get("p-positive").setAttribute("stroke-width", px(Math.max(1.5, 0.45 * width)));
    set("p-detector", bars(own => own.pDetector));
    set("p-positive", bars(own => own.pPositive));
    set("instances", marksAt(times, scale, x => `M${px(x)} ${lane.bottom + 1}v4`));
  }

  function drawStamps(session, lane, set) {
    const { stamps, stampTimes } = session;
    const paths = { ...stampPaths(stamps, scale, lane), ...lastingPaths(stamps, scale, lane) };
    for (const [name, path] of Object.entries(paths)) set(name, path);
    classes.replaceChildren();
    for (const { text, x } of classLabels(session, scale)) {
      label(text, { x: px(x), y: lane.bottom + 10, "text-anchor": "middle" }, classes);
    }
    const inView = lowerBound(stampTimes, scale.to) - lowerBound(stampTimes, scale.from);
    frame.classList.toggle("dense", inView > (scale.right - scale.left) / 6);
  }

  /** The mark within reach of a point, as { kind, index }, or null. */
  function markAt(x, y, reach) {
    const { stamps: lane } = layout.lanes;
    if (lane && y >= lane.top - 2) return stampAt(x, y, reach);
    const { times } = view.session;
    const index = nearest(times, scale.time(x));
    const near = index >= 0 && y > 0 && Math.abs(scale.x(times[index]) - x) <= reach;
    return near && times[index] >= scale.from && times[index] <= scale.to ? { kind: "instance", index } : null;
  }

  function stampAt(x, y, reach) {
    const lane = layout.lanes.stamps;
    const share = clamp((lane.bottom - 14 - y) / (lane.bottom - lane.top - 24), 0, 1);
    let found = null;
    let least = reach;
    view.session.stamps.forEach((stamp, index) => {
      // Along the curve: a smooth step from the press to its instance.
      const along = share * share * (3 - 2 * share);
      const distance = Math.abs(scale.x(stamp.time + (stamp.instance - stamp.time) * along) - x);
      if (distance < least) [found, least] = [{ kind: "stamp", index }, distance];
    });
    return found;
  }

  /** What the tooltip is about: what is pointed at, else what is selected. */
  const subject = () => view.pointed ?? (view.selected === null ? null : { kind: "stamp", index: view.selected });

  function drawFocus() {
    focus.replaceChildren();
    const about = subject();
    tooltip.hidden = !about;
    if (!about) return;
    if (about.kind === "stamp") focusStamp(view.session.stamps[about.index]);
    else focusInstance(about.index);
  }

  function focusStamp(stamp) {
    const { top, bottom } = layout.lanes.stamps;
    const [pressed, home] = [scale.x(stamp.time), scale.x(stamp.instance)];
    element("path", { class: "guide", d: `M${px(home)} 0V${top + 10}` }, focus);
    element("path", { class: "halo", d: arc(pressed, bottom - 20, home, top + 10) }, focus);
    element("path", { class: "halo-ring", d: circle(home, top + 10, 7) + circle(pressed, bottom - 13, 9) }, focus);
    place(stampInWords(stamp, view), Math.min(pressed, home), Math.max(pressed, home), top, bottom);
  }

  function focusInstance(index) {
    const x = scale.x(view.session.times[index]);
    const { top, bottom } = layout.lanes.probability;
    element("path", { class: "guide", d: `M${px(x)} 0V${layout.bottom}` }, focus);
    place(instanceInWords(index, view), x, x, top, bottom);
  }

  const place = (lines, left, right, top, bottom) =>
    placeTooltip(tooltip, lines, { left, right, top, bottom, width: host.clientWidth, narrow: layout.narrow });

  let waiting = 0;
  let stale = true;
  function refresh(rebuild) {
    stale ||= rebuild;
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      if (stale) build();
      stale = false;
      draw();
    });
  }

  view.onChange(change => refresh(change === "session"));
  new ResizeObserver(() => refresh(true)).observe(host);
  return {
    markAt,
    point: mark => {
      view.pointed = mark;
      refresh(false);
    },
    tap: (mark, pointerType) => {
      view.pointed = pointerType === "mouse" || mark?.kind !== "stamp" ? mark : null;
      view.select(mark?.kind === "stamp" ? mark.index : null);
    },
    timeAt: x => scale.time(x),
    left: () => layout.left,
    width: () => layout.right - layout.left,
    secondsPerPixel: () => (view.to - view.from) / (layout.right - layout.left),
  };
}
