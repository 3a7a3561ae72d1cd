// Buttons, the session picker, the legend, announcements, and the theme.

const byId = id => document.getElementById(id);

function createPicker(view, rawSessions) {
  const select = byId("session");
  select.replaceChildren(...rawSessions.map(({ name, subject }, index) => {
    const option = document.createElement("option");
    option.value = index;
    option.textContent = `${index + 1}. ${name}${subject ? ` (${subject})` : ""}`;
    return option;
  }));
  select.addEventListener("change", () => view.open(Number(select.value)));
  byId("previous-session").addEventListener("click", () => view.open(view.index - 1));
  byId("next-session").addEventListener("click", () => view.open(view.index + 1));
  view.onChange(change => {
    if (change !== "session") return;
    select.value = view.index;
    byId("previous-session").disabled = view.index === 0;
    byId("next-session").disabled = view.index === view.count - 1;
    for (const id of ["previous-stamp", "next-stamp"]) byId(id).disabled = !view.session.stamps.length;
    byId("summary").textContent = sessionInWords(view);
    showLegend(view.session);
  });
}

/** Only what this session has. */
function showLegend(session) {
  const has = {
    signal: session.signal,
    times: session.times.length,
    detected: session.detected.begins.length,
    missed: session.missed.begins.length,
    truth: session.trueEvents.begins.length,
    ends: session.stamps.some(stamp => stamp.end),
    records: session.stamps.some(stamp => stamp.record),
    stamps: session.stamps.length,
    spurious: session.stamps.some(stamp => stamp.spurious),
  };
  for (const item of document.querySelectorAll(".legend li")) item.hidden = !has[item.dataset.needs];
}

/** Buttons do what keys do. */
function connectButtons(actions) {
  const keys = { "zoom-in": "+", "zoom-out": "-", fit: "f", reset: "0", "next-stamp": "n", "previous-stamp": "p" };
  for (const [id, key] of Object.entries(keys)) byId(id).addEventListener("click", actions[key]);
}

/** Tells screen readers what changed, once things have come to rest. */
function announceChanges(view) {
  const region = byId("announcement");
  let timer = 0;
  const words = change => {
    if (change === "session") return `session ${view.session.name}: ${sessionInWords(view)}`;
    if (change === "range") return rangeInWords(view);
    if (!view.session.stamps.length) return "no presses in this session";
    return view.selected === null ? "nothing selected" : stampInWords(view.session.stamps[view.selected], view).join("; ");
  };
  let pending = null;
  view.onChange(change => {
    // A session or a press also moves the range; the news is the session or the press.
    if (change !== "range" || pending === null) pending = change;
    clearTimeout(timer);
    timer = setTimeout(() => {
      region.textContent = words(pending);
      pending = null;
    }, 300);
  });
}

function connectTheme() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  byId("theme").addEventListener("click", () => {
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
}
