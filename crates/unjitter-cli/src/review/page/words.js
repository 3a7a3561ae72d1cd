// The press in question in words, for headings, chips and screen readers.

/** Writes times as exactly as the range in view calls for. */
export const timesOf = view => {
  const decimals = exactDecimals(view.to - view.from);
  return time => view.clock.format(time, decimals);
};

export function lateness(stamp, time) {
  if (stamp === null || time === null) return "";
  const delay = stamp - time;
  return Math.abs(delay) < 0.0005 ? "on time" : `${duration(delay)} ${delay > 0 ? "late" : "early"}`;
}

export const nothingWords = kind => (kind === "missed" ? "no event" : "for nothing");

export function question({ kind, stamp, candidates }, at) {
  return kind === "missed" ? `Missed event at ${at(candidates[0]?.time ?? stamp ?? 0)}?` : `Pressed at ${at(stamp)}`;
}

export function placeWords(place, { kind, stamp }, at) {
  if (place.instance === null) return nothingWords(kind);
  return at(place.time) + (stamp === null ? "" : `, ${lateness(stamp, place.time)}`);
}

export const percent = p => (p === null || p === undefined ? "" : p > 0 && p < 0.005 ? "< 1 %" : p > 0.995 && p < 1 ? "> 99 %" : `${Math.round(100 * p)} %`);

/** The same where it is not a question. */
export const subject = (item, at) => question(item, at).replace("Missed event", "Event").replace("?", "");

/** What the big button does. */
export function verb(action, { kind }, chosen, at) {
  if (action === "reject") return kind === "missed" ? "No event" : "Pressed for nothing";
  if (action === "missed") return `Event at ${at(chosen.time)}`;
  return action === "accept" ? `Accept ${at(chosen.time)}` : `Move to ${at(chosen.time)}`;
}

const DONE = { accept: "accepted", move: "moved to", reject: "rejected", missed: "missed event at", add: "event added at", skip: "skipped" };

/** What was decided; `where` is empty where there is no room for it. */
export const decisionWords = ({ action }, where = "") => {
  const words = DONE[action] ?? action;
  return where ? `${words} ${where}` : words.replace(/ (to|at)$/, "");
};

export function choiceWords(model, at) {
  const { item, chosen } = model;
  const options = model.options();
  const rank = options.findIndex(({ instance }) => instance === chosen.instance);
  const order = rank < 0 ? "neighbour" : `candidate ${rank + 1} of ${options.length}`;
  const chance = chosen.p === null || chosen.p === undefined ? "" : `, probability ${percent(chosen.p)}`;
  const features = chosen.pDetector === null || chosen.pDetector === undefined ? "" : `, from features alone ${percent(chosen.pDetector)}`;
  return `${order}: ${placeWords(chosen, item, at)}${chance}${features}`;
}
