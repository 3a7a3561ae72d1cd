// The list of what is left, of any length: only the rows in sight exist, and only their pages are fetched.

import { get } from "./server.js";
import { decisionWords, percent } from "./words.js";

const ROW = 44;
const PAGE = 50;
const MARGIN = 4;

export function createQueue({ state, view, onOpen, isShown }) {
  const host = byId("queue");
  const spacer = document.createElement("div");
  spacer.className = "spacer";
  host.append(spacer);
  const queue = { order: "informative", search: "", total: 0, index: null };
  let pages = new Map();
  let generation = 0;
  let frame = 0;

  const rowAt = index => pages.get(Math.floor(index / PAGE))?.items?.[index % PAGE];

  async function load(page) {
    const at = generation;
    const known = pages.get(page);
    if (known && known.generation === at) return;
    pages.set(page, { items: known?.items ?? null, generation: at });
    try {
      const { total, items } = await get("queue", { order: queue.order, search: queue.search, from: page * PAGE, count: PAGE });
      if (at !== generation) return;
      pages.set(page, { items, generation: at });
      queue.total = total;
      byId("queue-words").textContent = total ? counted(total, "item") : queue.search ? "nothing matches" : "nothing left to settle";
      draw();
    } catch {
      pages.delete(page);
    }
  }

  /** Times of a row by the clock of its own session. */
  const clocks = new Map();
  function at({ session, time }) {
    if (!clocks.has(session)) clocks.set(session, createClock(view.sessionAt(session)));
    return clocks.get(session).format(time, 0);
  }

  function row(index) {
    const item = rowAt(index);
    const node = document.createElement("div");
    node.className = "row";
    node.id = `row-${index}`;
    node.setAttribute("role", "option");
    node.setAttribute("aria-setsize", queue.total);
    node.setAttribute("aria-posinset", index + 1);
    node.style.transform = `translateY(${index * ROW}px)`;
    node.setAttribute("aria-selected", String(Boolean(item && isShown(item.id))));
    if (!item) {
      node.textContent = "…";
      return node;
    }
    const words = [
      ["when", at(item)],
      ["name", state.sessions[item.session]?.name ?? ""],
      ["chance", item.decision ? decisionWords(item.decision) : percent(item.probability)],
    ];
    node.classList.toggle("done", Boolean(item.decision));
    node.classList.toggle("gap", item.kind === "missed");
    for (const [className, text] of words) node.append(Object.assign(document.createElement("span"), { className, textContent: text }));
    node.setAttribute("aria-label", `${item.kind === "missed" ? "probably missed event" : "press"} at ${words.map(([, text]) => text).join(", ")}`);
    node.addEventListener("click", () => open(index));
    return node;
  }

  function drawNow() {
    frame = 0;
    spacer.style.height = `${queue.total * ROW}px`;
    const first = Math.max(0, Math.floor(host.scrollTop / ROW) - MARGIN);
    const last = Math.min(queue.total, Math.ceil((host.scrollTop + host.clientHeight) / ROW) + MARGIN);
    const rows = [];
    for (let index = first; index < last; index += 1) {
      load(Math.floor(index / PAGE));
      rows.push(row(index));
    }
    if (!queue.total) load(0);
    spacer.replaceChildren(...rows);
    if (queue.index !== null && queue.index >= first && queue.index < last) host.setAttribute("aria-activedescendant", `row-${queue.index}`);
    else host.removeAttribute("aria-activedescendant");
  }
  const draw = () => (frame ||= requestAnimationFrame(drawNow));

  function reveal(index) {
    const [top, bottom] = [index * ROW, (index + 1) * ROW];
    if (top < host.scrollTop) host.scrollTop = top;
    else if (bottom > host.scrollTop + host.clientHeight) host.scrollTop = bottom - host.clientHeight;
  }

  async function open(index) {
    if (index < 0 || (index >= queue.total && index > 0)) return;
    await load(Math.floor(index / PAGE));
    const item = rowAt(index);
    if (!item) return;
    queue.index = index;
    reveal(index);
    draw();
    onOpen(item.id);
  }

  /** Everything again: after a change, or in another order. */
  queue.reload = ({ keep = true } = {}) => {
    generation += 1;
    if (!keep) {
      pages = new Map();
      queue.total = 0;
      queue.index = null;
      host.scrollTop = 0;
    }
    return load(Math.floor(host.scrollTop / ROW / PAGE)).then(draw);
  };

  /** Where the item stands in what is loaded, so that the next one can be reached from it. */
  queue.follow = id => {
    for (const [page, { items }] of pages) {
      const place = items?.findIndex(item => item.id === id) ?? -1;
      if (place < 0) continue;
      queue.index = page * PAGE + place;
      reveal(queue.index);
    }
    draw();
  };

  /** The first that nobody has decided. */
  queue.firstOpen = async () => {
    await load(0);
    const items = pages.get(0)?.items ?? [];
    return (items.find(({ decision }) => !decision) ?? items[0])?.id ?? null;
  };

  queue.step = direction => open(queue.index === null ? 0 : queue.index + direction);
  queue.after = () => rowAt((queue.index ?? -1) + 1);

  host.addEventListener("scroll", draw, { passive: true });
  host.addEventListener("keydown", event => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    open(clamp((queue.index ?? -1) + step, 0, Math.max(0, queue.total - 1)));
  });
  new ResizeObserver(draw).observe(host);
  queue.draw = draw;
  return queue;
}
