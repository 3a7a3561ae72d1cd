// What is being looked at: a session, a range of its time, perhaps one of its presses.

/** In the first view a typical delay is about this many pixels wide, so that curves can be seen to lean. */
const FIRST_DELAY = 12;

/** A range of that length where most presses are; null where the whole session is no longer. */
function busiestRange({ stamps, first, last }) {
  const delays = stamps.map(stamp => Math.abs(stamp.time - stamp.instance)).sort((a, b) => a - b);
  const span = (clamp(innerWidth, 480, 1400) / FIRST_DELAY) * delays[delays.length >> 1];
  if (!(span > 0 && span < last - first)) return null;
  let [begin, best, most] = [0, 0, 0];
  stamps.forEach((stamp, end) => {
    while (stamp.time - stamps[begin].time > 0.9 * span) begin += 1;
    if (end - begin + 1 > most) [best, most] = [begin, end - begin + 1];
  });
  const middle = (stamps[best].time + stamps[best + most - 1].time) / 2;
  return { from: middle - span / 2, to: middle + span / 2 };
}

/** `sessionAt(index)` gives one of `count` sessions: at least first, last, start, tick and stamps. */
function createView(count, sessionAt) {
  const listeners = [];
  const view = { count, index: 0, session: null, from: 0, to: 1, selected: null, pointed: null };
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let animation = 0;

  const tell = change => listeners.forEach(listener => listener(change));

  /** The widest range: the session with a little air. */
  view.limits = () => {
    const { first, last } = view.session;
    const air = last > first ? 0.015 * (last - first) : 1;
    return { from: first - air, to: last + air };
  };

  view.home = () => busiestRange(view.session) ?? view.limits();

  view.show = (from, to) => {
    cancelAnimationFrame(animation);
    const limits = view.limits();
    const widest = limits.to - limits.from;
    const narrowest = Math.min(widest, Math.max(20 * view.session.tick, widest * 1e-5));
    const span = clamp(to - from, narrowest, widest);
    const middle = clamp((from + to) / 2, limits.from + span / 2, limits.to - span / 2);
    view.from = middle - span / 2;
    view.to = middle + span / 2;
    tell("range");
  };

  /** Like `show`, but gliding where people like motion. */
  view.glide = (from, to) => {
    if (calm.matches) return view.show(from, to);
    const [startFrom, startTo, begin] = [view.from, view.to, performance.now()];
    const step = now => {
      const t = clamp((now - begin) / 160, 0, 1);
      const eased = 1 - (1 - t) ** 3;
      view.show(startFrom + (from - startFrom) * eased, startTo + (to - startTo) * eased);
      if (t < 1) animation = requestAnimationFrame(step);
    };
    cancelAnimationFrame(animation);
    animation = requestAnimationFrame(step);
  };

  /** Makes the range `factor` times as long, with `anchor` staying where it is. */
  view.zoomed = (factor, anchor = (view.from + view.to) / 2) => {
    const limits = view.limits();
    const length = Math.min((view.to - view.from) * factor, limits.to - limits.from);
    const share = (anchor - view.from) / (view.to - view.from);
    return [anchor - share * length, anchor + (1 - share) * length];
  };

  view.pan = seconds => view.show(view.from + seconds, view.to + seconds);

  view.fits = () => {
    const limits = view.limits();
    return view.to - view.from >= 0.9999 * (limits.to - limits.from);
  };

  view.open = (index, range) => {
    view.index = clamp(index, 0, view.count - 1);
    view.session = sessionAt(view.index);
    view.clock = createClock(view.session);
    view.selected = null;
    view.pointed = null;
    const { from, to } = range ?? view.home();
    tell("session");
    view.show(from, to);
  };

  /** Selects a press (or none) and brings it into view. */
  view.select = index => {
    view.selected = index;
    const stamp = view.session.stamps[index];
    if (stamp) {
      const span = view.to - view.from;
      const [early, late] = [Math.min(stamp.time, stamp.low), Math.max(stamp.time, stamp.high)];
      const hidden = early < view.from + 0.05 * span || late > view.to - 0.05 * span;
      if (hidden) view.show((early + late - span) / 2, (early + late + span) / 2);
    }
    tell("selection");
  };

  /** Selects the next press in a direction; without a selection, the first one in view. */
  view.selectNext = direction => {
    const { stamps, stampTimes } = view.session;
    if (!stamps.length) return tell("selection");
    const first = direction > 0 ? lowerBound(stampTimes, view.from) : lowerBound(stampTimes, view.to) - 1;
    const next = view.selected === null ? first : view.selected + direction;
    view.select(clamp(next, 0, stamps.length - 1));
  };

  view.onChange = listener => listeners.push(listener);
  view.tell = tell;
  return view;
}
