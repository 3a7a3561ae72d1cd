// Candidates as chips, the question above them, and the buttons below.

import { choiceWords, decisionWords, lateness, nothingWords, percent, question, timesOf, verb } from "./words.js";

function text(tag, className, words) {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = words;
  return node;
}

export function createCandidates(model, view, state) {
  const host = byId("candidates");
  let shown = [];

  function chip(place, item, at) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = `chip${place.instance === null ? " nothing" : ""}`;
    button.append(text("span", "when", place.instance === null ? nothingWords(item.kind) : at(place.time)));
    const late = place.instance === null ? "" : lateness(item.stamp, place.time);
    if (late) button.append(text("span", "late", late));
    button.append(text("span", "chance", percent(place.p) || "other"));
    const bar = text("span", "bar", "");
    bar.style.setProperty("--p", place.p ?? 0);
    button.append(bar);
    button.addEventListener("click", () => model.choose(place));
    return button;
  }

  function build() {
    const { item } = model;
    if (!item) return host.replaceChildren();
    const at = timesOf(view);
    const focused = host.contains(document.activeElement);
    shown = model.options().map(place => ({ place, button: chip(place, item, at) }));
    host.replaceChildren(...shown.map(({ button }) => button));
    byId("question").textContent = question(item, at);
    showDetails(item);
    choice();
    byId("choice-words").textContent = `${question(item, at)}. ${choiceWords(model, at)}`;
    if (focused) host.querySelector('[aria-pressed="true"]')?.focus();
  }

  function showDetails(item) {
    const session = state.sessions[item.session];
    const parts = [session?.name];
    if (item.decision) parts.push(`${decisionWords(item.decision)} before`);
    for (const { annotator, time } of item.others.slice(0, 3)) parts.push(`${annotator} ${timesOf(view)(time)}`);
    byId("details").replaceChildren(parts.filter(Boolean).join(" · "));
    if (item.link) byId("details").append(" · ", elsewhere(item.link));
    if (state.note?.item === String(item.id)) byId("details").append(` · ${state.note.words}`);
  }

  /** Where else this time can be looked at: a link, if it leads to the web, else words. */
  function elsewhere({ label, seconds, href }) {
    if (!/^https?:\/\//.test(href ?? "")) return `${label} at ${duration(seconds)}`;
    return Object.assign(document.createElement("a"), { href, textContent: label, target: "_blank", rel: "noopener noreferrer" });
  }

  function choice() {
    const { item, chosen } = model;
    const at = timesOf(view);
    const listed = shown.some(({ place }) => place.instance === chosen.instance);
    host.querySelector(".elsewhere")?.remove();
    if (!listed) {
      const extra = chip(chosen, item, at);
      extra.classList.add("elsewhere");
      extra.setAttribute("aria-pressed", "true");
      host.append(extra);
    }
    for (const { place, button } of shown) button.setAttribute("aria-pressed", String(place.instance === chosen.instance));
    reveal(host.querySelector('[aria-pressed="true"]'));
    byId("accept-words").textContent = verb(model.action(), item, chosen, at);
    byId("reject-words").textContent = item.kind === "missed" ? "No event" : "For nothing";
    byId("add").disabled = chosen.instance === null;
    byId("choice-words").textContent = choiceWords(model, at);
  }

  /** Sideways only: the page itself stays where it is. */
  function reveal(button) {
    const [left, right] = [button.offsetLeft - host.offsetLeft, button.offsetLeft - host.offsetLeft + button.offsetWidth];
    if (left < host.scrollLeft + 24) host.scrollLeft = left - 24;
    else if (right > host.scrollLeft + host.clientWidth - 24) host.scrollLeft = right - host.clientWidth + 24;
  }

  model.onChange(change => {
    for (const id of ["accept", "reject", "add", "skip"]) byId(id).disabled = !model.item;
    if (change === "item") build();
    else if (model.item) choice();
  });
}
