// The signal around the press, with the posterior of where it belongs over it, and what is under the pointer.

import { createColours, createPen } from "./paint.js";
import { lateness, percent, timesOf } from "./words.js";

const BARS = 40;
const CHANNELS = 4;

/** Lanes from the top; on a phone all of them and the buttons must fit the screen. */
function kindsOf(channels, narrow) {
  const height = (narrow ? [92, 60, 48, 40] : [140, 96, 72, 60])[Math.min(channels.length, CHANNELS) - 1];
  return [
    ...channels.slice(0, CHANNELS).map(({ name }, k) => ({ key: `signal-${k}`, label: name, height })),
    { key: "probability", label: "probability", height: narrow ? 44 : 72 },
    { key: "stamps", label: "belongs to", height: narrow ? 126 : 150 },
  ].map(lane => ({ ...lane, needs: () => true }));
}

/** How many frames were drawn, and the milliseconds that each of the last ones took: for measuring. */
export const frames = { count: 0, work: [] };

export function createStage({ view, model, tiles, host, canvas, tooltip, onOpen }) {
  const pen = createPen(canvas);
  let layout, scale, data;
  let channelNames = null;
  let carried = null;

  const bar = () => (layout.lanes.stamps.top + BARS);
  const home = () => bar() + 12;
  const pressed = () => layout.lanes.stamps.bottom - 14;

  function build() {
    const channels = view.session.whole?.channels ?? data?.channels ?? [];
    channelNames = channels.map(({ name }) => name).join("\n");
    const width = Math.max(280, host.clientWidth);
    layout = layOut(view.session, width, kindsOf(channels, width < NARROW));
    pen.resize(layout.width, layout.height);
  }

  function draw() {
    const { left, right, bottom } = layout;
    scale = createScale(view.from, view.to, left, right);
    data = tiles.range(view.index, view.from, view.to, view.session.whole);
    const names = (view.session.whole?.channels ?? data.channels).map(({ name }) => name).join("\n");
    if (names !== channelNames) build();
    pen.clear();
    drawTicks();
    drawLabels();
    pen.within(left, 0, right - left, bottom, () => {
      if (model.item?.session === view.index) drawBands();
      drawSignals();
      drawProbabilities();
      drawOthers();
      if (model.item?.session === view.index) drawItem();
    });
    drawTooltip();
  }

  function drawTicks() {
    const { left, right, bottom } = layout;
    const { offset } = view.clock;
    const count = (right - left) / (7 * view.clock.format(view.from, 0).length + 30);
    const { step, ticks } = niceTicks(view.from + offset, view.to + offset, count);
    const decimals = step >= 1 ? 0 : clamp(Math.ceil(-Math.log10(step) - 1e-9), 0, 9);
    let lines = "";
    for (const time of ticks) {
      const x = scale.x(time - offset);
      lines += `M${Math.round(x) + 0.5} 0V${bottom}`;
      const words = view.clock.format(time - offset, decimals);
      const half = 3.5 * words.length;
      pen.text(words, clamp(x, left + half, right - half), bottom + 15, colours.muted, "center");
    }
    pen.stroke(lines, colours.grid, 1, { alpha: 0.7 });
  }

  function drawLabels() {
    const { left, right, narrow, lanes } = layout;
    const room = narrow ? right : GUTTER - 24;
    for (const { key, label, top, bottom, labelY } of Object.values(lanes)) {
      const middle = key === "stamps" ? bar() - 4 : (top + bottom) / 2 + 4;
      const words = key === "stamps" && model.item?.kind === "missed" ? "event here?" : label;
      pen.text(words, 2, labelY ?? middle, colours.muted, "left", room);
      if (key === "stamps" && !narrow && model.item?.stamp !== null) pen.text("pressed at", 2, pressed() + 5, colours.muted);
      if (key !== "probability") continue;
      for (const [share, name] of [[0, "0"], [0.5, "½"], [1, "1"]]) {
        const line = Math.round(bottom - share * (bottom - top)) + 0.5;
        pen.stroke(`M${left} ${line}H${right}`, colours.grid);
        if (!narrow) pen.text(name, left - 8, line + 4, colours.muted, "right");
      }
    }
    pen.stroke(`M${left} ${bar() + 0.5}H${right}`, colours.grid);
  }

  /** Orange is for presses, purple for events that nobody pressed for. */
  const tone = () => (model.item.kind === "missed" ? colours.purple : colours.orange);

  /** The posterior over the signal: the surer a place, the stronger its column. */
  function drawBands() {
    const { stamps } = layout.lanes;
    const half = clamp(barWidth(data.instances.times, scale) / 2, 3, 9) + 1;
    for (const { time, p } of model.item.candidates) {
      if (p < 0.005) continue;
      const x = scale.x(time);
      pen.fill(`M${px(x - half)} 0h${px(2 * half)}V${stamps.top}h${px(-2 * half)}z`, tone(), 0.06 + 0.34 * p);
    }
  }

  function drawSignals() {
    data.channels.slice(0, CHANNELS).forEach((channel, k) => {
      const lane = layout.lanes[`signal-${k}`];
      // One height for the whole session, so that nothing jumps while moving.
      const { low, high } = view.session.whole?.channels[k] ?? channel;
      pen.within(layout.left, lane.top - 4, layout.right - layout.left, lane.bottom - lane.top + 8, () => {
        pen.stroke(signalPath({ ...channel, low, high }, scale, lane), colours.ink, 1.1, { alpha: 0.8, cap: "round" });
      });
    });
  }

  function drawProbabilities() {
    const { times, pDetector, pPositive } = data.instances;
    const lane = layout.lanes.probability;
    const width = barWidth(times, scale);
    pen.stroke(barsPath(times, pDetector, scale, lane), colours.sky, width, { alpha: 0.55 });
    pen.stroke(barsPath(times, pPositive, scale, lane), colours.blue, Math.max(1.5, 0.45 * width));
    pen.stroke(marksAt(times, scale, x => `M${px(x)} ${lane.bottom + 1}v4`), colours.muted, 1, { alpha: 0.6 });
  }

  const isCurrent = id => String(id) === String(model.item?.id);

  /** Presses around, faint: this one is the question. */
  function drawOthers() {
    const times = [];
    let whiskers = "";
    for (const { id, time, low, high } of data.stamps) {
      if (isCurrent(id) || high < scale.from || time < scale.from - 100 / scale.perSecond || Math.min(time, low) > scale.to) continue;
      times.push(time);
      if (data.stamps.length < 400) whiskers += arc(scale.x(time), pressed() - 6, scale.x((low + high) / 2), home()) + whisker(scale.x(low), scale.x(high), home());
    }
    pen.stroke(whiskers, colours.muted, 1, { alpha: 0.35 });
    pen.fill(marksAt(times, scale, x => triangle(x, pressed(), 5)), colours.orange, 0.45);
    const others = (model.item?.others ?? []).map(({ time }) => time).sort((a, b) => a - b);
    if (model.item?.session === view.index) pen.stroke(marksAt(others, scale, x => triangle(x, pressed(), 5)), colours.purple, 1.75);
  }

  function drawItem() {
    const { item, chosen } = model;
    const x = carried ? carried.x : item.stamp === null ? null : scale.x(item.stamp);
    const width = clamp(barWidth(data.instances.times, scale), 5, 11);
    let bars = "";
    let homes = "";
    const arcs = Array.from({ length: ARC_LEVELS }, () => "");
    for (const { time, p } of item.candidates) {
      if (p < 0.005) continue;
      const at = scale.x(time);
      bars += `M${px(at)} ${bar()}V${px(bar() - Math.max(2, p * (BARS - 6)))}`;
      homes += circle(at, home(), 3);
      if (x !== null && !carried) arcs[Math.min(ARC_LEVELS - 1, Math.floor(p * ARC_LEVELS))] += arc(x, pressed() - 8, at, home() + 4);
    }
    pen.stroke(bars, tone(), width);
    arcs.forEach((path, level) => pen.stroke(path, colours.orange, [0.75, 1, 1.5, 2.25][level], { alpha: [0.45, 0.6, 0.8, 1][level] }));
    pen.fill(homes, colours.card);
    pen.stroke(homes, colours.ink, 1.5);
    drawChosen(x, chosen);
    if (x !== null) drawPress(x, chosen);
  }

  function drawChosen(x, { instance, time }) {
    if (instance === null) return;
    const at = scale.x(time);
    const colour = model.item.kind === "missed" ? colours.purple : colours.blue;
    pen.stroke(`M${px(at)} 0V${home() - 8}`, colour, 1.25, { dash: [2, 3] });
    if (x !== null) pen.stroke(arc(x, pressed() - 8, at, home() + 6), colour, 7, { alpha: 0.22, cap: "round" });
    pen.stroke(circle(at, home(), 8), colour, 2.25);
    pen.fill(circle(at, home(), 4), colour);
  }

  function drawPress(x, { instance }) {
    const path = triangle(x, pressed() - 1, 8);
    if (instance === null) {
      pen.fill(path, colours.card);
      pen.stroke(path, colours.vermilion, 2);
    } else pen.fill(path, colours.orange);
  }

  function drawTooltip() {
    const mark = view.pointed;
    tooltip.hidden = !mark;
    if (!mark) return;
    const at = timesOf(view);
    const x = scale.x(mark.time);
    const lines = mark.kind === "stamp" ? stampLines(mark, at) : instanceLines(mark, at);
    pen.stroke(`M${px(x)} 0V${home()}`, colours.muted, 1, { dash: [2, 3] });
    const lane = mark.kind === "stamp" ? layout.lanes.stamps : layout.lanes.probability;
    placeTooltip(tooltip, lines, { left: x, right: x, top: lane.top, bottom: lane.bottom, width: host.clientWidth, narrow: layout.narrow });
  }

  function stampLines({ id, time, low, high, annotator }, at) {
    const whose = annotator ? ` by ${annotator}` : "";
    if (isCurrent(id)) return [`pressed at ${at(time)}${whose}`, "drag it to where it belongs"];
    return [`pressed at ${at(time)}${whose}`, `95 %: ${at(low)} to ${at(high)}`, id === null ? "another annotator" : "click to open"];
  }

  function instanceLines({ index, time, pDetector, pPositive }, at) {
    const lines = [`instance at ${at(time)}`, `p of an event ${probability(pPositive)}; from features alone ${probability(pDetector)}`];
    if (!model.item || model.item.session !== view.index) return lines;
    const { p } = model.place(index, time, pDetector);
    if (model.item.stamp !== null) lines.push(`${percent(p) || "hardly any chance"} that the press belongs here, ${lateness(model.item.stamp, time)}`);
    return lines;
  }

  const instanceNear = (x, reach) => {
    const { index, times, pDetector, pPositive } = data.instances;
    const k = nearest(times, scale.time(x));
    if (k < 0 || Math.abs(scale.x(times[k]) - x) > reach) return null;
    return { kind: "instance", index: index[k], time: times[k], pDetector: pDetector[k], pPositive: pPositive[k] };
  };

  function markAt(x, y, reach) {
    if (!data || x < layout.left || x > layout.right || y < 0 || y > layout.bottom) return null;
    if (y < home() + 24) return instanceNear(x, reach);
    const marks = data.stamps.map(stamp => ({ kind: "stamp", ...stamp }));
    if (model.item?.session === view.index && model.item.stamp !== null) marks.push({ kind: "stamp", id: model.item.id, time: model.item.stamp });
    let [found, least] = [null, reach];
    for (const mark of marks) {
      const distance = Math.abs(scale.x(mark.time) - x);
      // Of two in the same place the one in question.
      if (distance < least || (distance === least && isCurrent(mark.id))) [found, least] = [mark, distance];
    }
    return found;
  }

  /** The press in question can be carried to an instance. */
  function grab({ x, y }, reach) {
    const mine = model.item?.session === view.index && model.item.stamp !== null;
    if (!mine || y < pressed() - 26 || Math.abs(scale.x(model.item.stamp) - x) > reach + 4) return null;
    const choose = at => {
      const near = instanceNear(at, Infinity);
      if (near && near.index !== model.chosen.instance) model.choose(model.place(near.index, near.time, near.pDetector));
    };
    const before = model.chosen;
    const letGo = () => {
      carried = null;
      host.classList.remove("carrying");
      refresh();
    };
    return {
      move: here => {
        carried = here;
        host.classList.add("carrying");
        view.pointed = null;
        choose(here.x);
        refresh();
      },
      drop: here => {
        choose(here.x);
        letGo();
      },
      cancel: () => {
        if (carried) model.choose(before);
        letGo();
      },
    };
  }

  function tap(mark) {
    if (mark?.kind === "instance" && model.item?.session === view.index) model.choose(model.place(mark.index, mark.time, mark.pDetector));
    else if (mark?.kind === "stamp" && mark.id !== null && !isCurrent(mark.id)) onOpen(mark.id);
    refresh();
  }

  let waiting = 0;
  let stale = true;
  function refresh(rebuild = false) {
    stale ||= rebuild;
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      if (!view.session) return;
      const begin = performance.now();
      if (stale) build();
      stale = false;
      draw();
      frames.count += 1;
      frames.work[frames.count % 600] = performance.now() - begin;
      if (model.item && data.instances.times.length && !performance.getEntriesByName("question").length) performance.mark("question");
    });
  }

  const colours = createColours(() => refresh());
  view.onChange(change => refresh(change === "session"));
  model.onChange(() => refresh());
  new ResizeObserver(() => refresh(true)).observe(host);
  return {
    markAt, grab, tap, refresh,
    point: mark => {
      view.pointed = mark;
      refresh();
    },
    timeAt: x => scale.time(x),
    left: () => layout.left,
    width: () => layout.right - layout.left,
    secondsPerPixel: () => (view.to - view.from) / (layout.right - layout.left),
  };
}
