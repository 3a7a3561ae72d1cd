// The whole session in a strip, with the range in view as a window to drag.

const OVERVIEW_HEIGHT = 46;
const EDGE = 9;

function createOverview(view, host) {
  let scale, brush, shades;

  function build() {
    const width = Math.max(280, host.clientWidth);
    const left = width < NARROW ? 2 : GUTTER;
    const { from, to } = view.limits();
    const { session } = view;
    scale = createScale(from, to, left, width - 2);
    const svg = element("svg", { viewBox: `0 0 ${width} ${OVERVIEW_HEIGHT}` });
    if (left === GUTTER) label("whole session", { x: 2, y: OVERVIEW_HEIGHT / 2 + 4, class: "name" }, svg);
    element("rect", { class: "ground", x: left, y: 1, width: width - 2 - left, height: OVERVIEW_HEIGHT - 2, rx: 4 }, svg);
    const strip = { top: 5, bottom: 30 };
    element("path", { class: "p-positive", "stroke-width": 1.5, d: barsPath(session.times, session.pPositive, scale, strip) }, svg);
    element("path", { class: "press", d: marksAt(session.stampTimes, scale, x => `M${px(x)} 33v8`) }, svg);
    shades = [element("rect", { class: "shade" }, svg), element("rect", { class: "shade" }, svg)];
    brush = element("rect", { class: "brush", y: 1, height: OVERVIEW_HEIGHT - 2, rx: 4 }, svg);
    host.replaceChildren(svg);
    host.hidden = session.empty;
  }

  function draw() {
    const [from, to] = [scale.x(view.from), scale.x(view.to)];
    const place = (rect, x, width) => {
      rect.setAttribute("x", px(x));
      rect.setAttribute("width", px(Math.max(width, 0)));
    };
    // Never thinner than a finger can see.
    place(brush, Math.min(from, to - 3), Math.max(3, to - from));
    place(shades[0], scale.left, from - scale.left);
    place(shades[1], to, scale.right - to);
    shades.forEach(shade => {
      shade.setAttribute("y", 1);
      shade.setAttribute("height", OVERVIEW_HEIGHT - 2);
    });
  }

  const pointerTime = event => scale.time(event.clientX - host.getBoundingClientRect().left);

  /** What a press at a place does: move an edge, or move the window, which first comes to the place. */
  function grab(time) {
    const edge = EDGE / scale.perSecond;
    const roomy = view.to - view.from > 4 * edge;
    if (roomy && Math.abs(time - view.from) < edge) return now => view.show(Math.min(now, view.to), view.to);
    if (roomy && Math.abs(time - view.to) < edge) return now => view.show(view.from, Math.max(now, view.from));
    const half = (view.to - view.from) / 2;
    const inside = time >= view.from && time <= view.to;
    const offset = inside ? time - (view.from + half) : 0;
    return now => view.show(now - offset - half, now - offset + half);
  }

  let drag = null;
  host.addEventListener("pointerdown", event => {
    host.setPointerCapture(event.pointerId);
    drag = grab(pointerTime(event));
    drag(pointerTime(event));
  });
  host.addEventListener("pointermove", event => drag?.(pointerTime(event)));
  for (const end of ["pointerup", "pointercancel"]) host.addEventListener(end, () => (drag = null));

  const rebuild = () => {
    build();
    draw();
  };
  view.onChange(change => (change === "session" ? rebuild() : scale && draw()));
  new ResizeObserver(() => view.session && rebuild()).observe(host);
}
