// What the presses taught so far, how much is left, and what to be wary of.

import { decisionWords } from "./words.js";

const interval = ([value, low, high]) => ({ value: signed(value), range: `${signed(low)} to ${signed(high)}` });
const signed = seconds => (seconds < 0 ? "−" : "") + duration(seconds);

function fact(name, value, explanation = "") {
  const group = document.createElement("div");
  const add = (tag, words, className = "") => group.append(Object.assign(document.createElement(tag), { textContent: words, className }));
  add("dt", name);
  add("dd", value, "value");
  if (explanation) add("dd", explanation);
  return group;
}

export function showProgress({ progress, reviewer }) {
  const { left, done, seconds_left: seconds } = progress;
  const time = seconds === null || !left ? "" : `, about ${seconds < 60 ? "a minute" : `${Math.round(seconds / 60)} min`}`;
  byId("progress-words").textContent = left ? `${counted(left, "item")} left${time} · ${done} done` : `All settled · ${done} done`;
  byId("progress").value = done + left ? done / (done + left) : 1;
  byId("reviewer").textContent = reviewer ? `as ${reviewer}` : "";
}

export function showFit({ fit }) {
  const facts = [];
  if (fit.delay) {
    const { value, range } = interval(fit.delay);
    facts.push(fact("typical delay", value, range));
  }
  if (fit.spread) {
    const { value, range } = interval(fit.spread);
    facts.push(fact("spread", value, range));
  }
  if (fit.expected_errors !== null && fit.expected_errors !== undefined) facts.push(fact("errors left", fit.expected_errors.toFixed(1), "expected"));
  if (fit.modes?.length > 1) {
    const words = fit.modes.map(({ delay, share }) => `${signed(delay)} (${Math.round(100 * share)} %)`);
    const kinds = fact("kinds of presses", String(fit.modes.length), words.join(", "));
    kinds.className = "wide";
    facts.push(kinds);
  }
  byId("fit-facts").replaceChildren(...facts);
  const words = byId("fit-words");
  const news = fit.running ? "Learning from your decisions…" : fit.changed ?? "";
  if (words.textContent !== news) words.textContent = news;
  words.classList.toggle("running", fit.running);
}

export function showFindings({ findings }) {
  byId("findings").hidden = !findings.length;
  byId("findings-heading").textContent = counted(findings.length, "finding");
  byId("finding-list").replaceChildren(...findings.map(({ severity, message }) => {
    const row = document.createElement("li");
    row.className = `finding ${severity === "error" || severity === "warning" ? severity : "note"}`;
    row.append(Object.assign(document.createElement("strong"), { textContent: severity }), ` ${message}`);
    return row;
  }));
}

export function showConflicts({ conflicts }, onOpen) {
  byId("conflicts").hidden = !conflicts.length;
  byId("conflicts-heading").textContent = `${counted(conflicts.length, "disagreement")} between reviewers`;
  byId("conflict-list").replaceChildren(...conflicts.map(({ item, by }) => {
    const row = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "control link";
    button.textContent = by.map(({ reviewer, action, instance }) => `${reviewer}: ${decisionWords({ action }, instance === null ? "" : `instance ${instance}`)}`).join(" · ");
    button.addEventListener("click", () => onOpen(item));
    row.append(button);
    return row;
  }));
}
