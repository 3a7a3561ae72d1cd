// Wheel, drag, pinch, double click and tap on the timeline.
//
// A timeline may let marks be carried: `grab(place, reach)` then gives { move, drop, cancel }, or null to move the view.

/** The page keeps the wheel while it is scrolling, so that it does not get stuck on the timeline. */
const SCROLL_REST = 350;
const TAP_REACH = 22;
const POINT_REACH = 14;

function listenToPointers(view, timeline, host) {
  const pointers = new Map();
  let lastScroll = -Infinity;
  let moved = 0;
  let pinch = null;
  let carried = null;

  const place = event => {
    const box = host.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const reach = event => (event.pointerType === "mouse" ? POINT_REACH : TAP_REACH);

  window.addEventListener("scroll", () => (lastScroll = performance.now()), { passive: true });

  host.addEventListener("wheel", event => {
    const lines = event.deltaMode === 1 ? 16 : 1;
    const [across, down] = [event.deltaX * lines, event.deltaY * lines];
    const sideways = event.shiftKey || Math.abs(across) > Math.abs(down);
    const passes = !event.ctrlKey && performance.now() - lastScroll < SCROLL_REST;
    if (passes || (!sideways && !event.ctrlKey && down > 0 && view.fits())) return;
    event.preventDefault();
    if (sideways) return view.pan((across || down) * timeline.secondsPerPixel());
    const speed = event.ctrlKey ? 0.01 : 0.0022;
    view.show(...view.zoomed(Math.exp(clamp(down, -200, 200) * speed), timeline.timeAt(place(event).x)));
  }, { passive: false });

  host.addEventListener("dblclick", event => {
    view.glide(...view.zoomed(event.shiftKey ? 2 : 0.5, timeline.timeAt(place(event).x)));
  });

  host.addEventListener("pointerdown", event => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    host.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    carried?.cancel();
    carried = pointers.size === 1 ? timeline.grab?.(place(event), reach(event)) : null;
    if (pointers.size === 1) moved = 0;
    pinch = pointers.size === 2 ? startPinch() : null;
  });

  host.addEventListener("pointermove", event => {
    const before = pointers.get(event.pointerId);
    const here = place(event);
    if (!before) return event.pointerType === "mouse" && timeline.point(timeline.markAt(here.x, here.y, POINT_REACH));
    pointers.set(event.pointerId, here);
    moved += Math.abs(here.x - before.x) + Math.abs(here.y - before.y);
    if (pinch) pinchNow();
    else if (carried && moved > 4) carried.move(here);
    else if (pointers.size === 1 && moved > 4) {
      host.classList.add("dragging");
      timeline.point(null);
      view.pan((before.x - here.x) * timeline.secondsPerPixel());
    }
  });

  /** Remembers the times under both fingers; they stay under them. */
  function startPinch() {
    moved = Infinity;
    return [...pointers.values()].map(({ x }) => timeline.timeAt(x));
  }

  function pinchNow() {
    const [a, b] = [...pointers.values()].map(({ x }) => x);
    // Fingers that meet or swap would ask for an endless or a mirrored range.
    const crossed = Math.abs(b - a) < 12 || (b - a) * (pinch[1] - pinch[0]) <= 0;
    if (crossed) return;
    const perPixel = (pinch[1] - pinch[0]) / (b - a);
    const from = pinch[0] - (a - timeline.left()) * perPixel;
    view.show(from, from + perPixel * timeline.width());
  }

  function end(event) {
    const here = pointers.get(event.pointerId);
    pointers.delete(event.pointerId);
    pinch = null;
    host.classList.remove("dragging");
    const dropped = event.type === "pointerup" && here;
    if (dropped && moved > 4) carried?.drop(here);
    else carried?.cancel();
    carried = null;
    if (dropped && moved <= 4) timeline.tap(timeline.markAt(here.x, here.y, reach(event)), event.pointerType);
  }
  for (const name of ["pointerup", "pointercancel"]) host.addEventListener(name, end);
  host.addEventListener("pointerleave", event => event.pointerType === "mouse" && timeline.point(null));
}
