// Puts the page together: the item in question, what is decided about it, and what comes next.

import { createBulk } from "./bulk.js";
import { createCandidates } from "./candidates.js";
import { createItem } from "./item.js";
import { listenToKeys } from "./keys.js";
import { showConflicts, showFindings, showFit, showProgress } from "./learned.js";
import { createOutbox } from "./outbox.js";
import { parsePlace, writePlace } from "./place.js";
import { createQueue } from "./queue.js";
import { Gone, follow, get, post } from "./server.js";
import { createStage } from "./stage.js";
import { createTiles } from "./tiles.js";
import { decisionWords, placeWords, subject, timesOf } from "./words.js";

/** What the server says, and `note`: what the page adds to the words on one item. */
const state = { sessions: [], revision: 0, note: null };
/** Items to look at before the queue goes on: a sample of what was accepted at once. */
let spotChecks = [];
let deciding = false;

connectTheme();
Object.assign(state, await firstState());

const sessions = state.sessions.map(({ name, start, end, zero, instances }) => ({
  name, start: zero, first: start, last: end, empty: false, whole: null, stamps: [],
  // Zoom in no further than a few instances.
  tick: (0.05 * (end - start)) / Math.max(instances, 1),
  times: [], pPositive: [], stampTimes: [],
}));
const view = createView(sessions.length, index => sessions[index]);
view.sessionAt = index => sessions[index];

const model = createItem();
const tiles = createTiles(() => stage.refresh());
const stage = createStage({
  view, model, tiles, host: byId("lanes"), canvas: byId("canvas"), tooltip: byId("tooltip"), onOpen: id => open(id),
});
const queue = createQueue({ state, view, onOpen: id => open(id), isShown: id => model.item && String(id) === String(model.item.id) });
const bulk = createBulk({ onAccepted, onTrouble });
const outbox = createOutbox({ onSaved, onRefused, onWaiting, onGone });
createOverview(view, byId("overview"));
createCandidates(model, view, state);
listenToPointers(view, stage, byId("lanes"));

/** The state, however long the server takes to come. */
async function firstState() {
  for (;;) {
    try {
      return await get("state");
    } catch (error) {
      showTrouble(error.message);
      await new Promise(wake => setTimeout(wake, 1000));
    }
  }
}

function showTrouble(words) {
  byId("trouble").hidden = !words;
  byId("trouble-words").textContent = words ?? "";
}

function onTrouble(error) {
  if (error instanceof Gone) onGone(error);
  else say(`Not done: ${error.message}`, "refused");
}

function onGone({ message }) {
  showTrouble(outbox.waiting() ? `${message} These decisions are not saved:` : message);
}

function onWaiting(waiting) {
  byId("unsaved").replaceChildren(...waiting.map(({ words }) => Object.assign(document.createElement("li"), { textContent: words })));
}

function say(words, kind = "done") {
  const saved = byId("saved");
  saved.textContent = words;
  saved.className = kind;
}

/** Fetches what the strip below shows of a session, once. */
async function loadWhole(index) {
  const session = sessions[index];
  if (session.whole || session.loading) return;
  session.loading = true;
  try {
    const whole = await tiles.whole(index, session.first, session.last);
    Object.assign(session, { whole, times: whole.instances.times, pPositive: whole.instances.pPositive, stampTimes: Float64Array.from(whole.stamps, ({ time }) => time) });
    if (view.index === index) view.tell("session");
  } catch (error) {
    onTrouble(error);
  }
  session.loading = false;
}

let opening = 0;
/** Shows an item; `range` where a reload comes back to one. */
async function open(id, range = null) {
  const number = (opening += 1);
  try {
    const item = await get(`item/${encodeURIComponent(id)}`);
    if (number !== opening) return;
    view.open(item.session, range ?? rangeOf(item));
    model.show(item);
    queue.follow(item.id);
    prefetchNext();
    loadWhole(item.session);
  } catch (error) {
    if (error instanceof Gone) return onGone(error);
    say(`Item ${id}: ${error.message}`, "refused");
    if (!model.item) showEnd();
  }
}

const rangeOf = ({ from, to }) => ({ from, to });

function prefetchNext() {
  const next = queue.after();
  if (!next || !model.item) return;
  const half = (model.item.to - model.item.from) / 2;
  tiles.prefetch(next.session, next.time - half, next.time + half);
}

function showEnd() {
  model.show(null);
  byId("question").textContent = "Nothing left to settle";
  byId("details").textContent = "Every item is decided or skipped.";
  if (!view.session && sessions.length) {
    view.open(0, null);
    loadWhole(0);
  }
}

async function openNext(id) {
  if (spotChecks.length) {
    const [check, ...others] = spotChecks;
    spotChecks = others;
    state.note = { item: String(check), words: `spot check, ${others.length ? `${others.length} more` : "the last"}` };
    return open(check);
  }
  if (id !== null && id !== undefined) return open(id);
  const first = await queue.firstOpen();
  return first === null || String(first) === String(model.item?.id) ? showEnd() : open(first);
}

async function decide(action, place = model.chosen) {
  if (!model.item || deciding) return;
  deciding = true;
  const { item } = model;
  const at = timesOf(view);
  const instance = action === "reject" || action === "skip" ? null : place.instance;
  const where = instance === null ? "" : placeWords(place, item, at);
  say("Saving…", "saving");
  await outbox.add({ item: item.id, action, instance }, `${subject(item, at)}: ${decisionWords({ action }, where)}`);
  deciding = false;
  if (outbox.waiting()) say("Not saved yet", "refused");
}

/** Ends when the next item is there: until then keys would settle what is no longer in question. */
async function onSaved({ decision, words }, reply, left) {
  state.revision = reply.revision;
  say(`Saved. ${words}`);
  showTrouble(null);
  // An event added beside the press leaves the press in question.
  if (decision.action !== "add" && !left) await openNext(reply.next);
}

function onRefused({ words }, reason) {
  say(`Not saved: ${words}. ${reason}`, "refused");
}

async function backAndForth(path, done) {
  if (deciding) return;
  deciding = true;
  try {
    const reply = await post(path);
    state.revision = reply.revision;
    say(done);
    if (reply.next !== null) await open(reply.next);
  } catch (error) {
    onTrouble(error);
  }
  deciding = false;
}

/** After a click, so that Enter accepts what is in question and does not press the same button again. */
const leaveButton = () => byId("question").focus({ preventScroll: true });

function onAccepted({ accepted, expected_errors: errors, spot_check: checks }) {
  spotChecks = checks.slice();
  say(`Saved. ${counted(accepted, "item")} accepted, expected errors ${errors.toFixed(1)}. ${checks.length ? `Now look at ${checks.length} of them.` : ""}`);
  leaveButton();
  openNext(null);
}

async function refreshState() {
  try {
    Object.assign(state, await get("state"));
    showProgress(state);
    showFit(state);
    showFindings(state);
    showConflicts(state, id => open(id));
    showTrouble(null);
  } catch (error) {
    onTrouble(error);
  }
}

async function onRevision() {
  tiles.outdate();
  queue.reload();
  bulk.ask();
  const learned = state.fit.revision;
  await refreshState();
  if (state.fit.revision !== learned) await refreshItem();
  stage.refresh();
}

/** Something new was learned: the same item with its new probabilities, and what was chosen still chosen. */
async function refreshItem() {
  if (!model.item || deciding) return;
  try {
    const item = await get(`item/${encodeURIComponent(model.item.id)}`);
    if (!deciding && String(item.id) === String(model.item?.id)) model.renew(item);
  } catch (error) {
    onTrouble(error);
  }
}

function keepPlace() {
  let timer = 0;
  const write = () => {
    clearTimeout(timer);
    // Browsers refuse more than a few changes a second.
    timer = setTimeout(() => {
      if (!view.session) return;
      const place = { item: model.item?.id ?? null, order: queue.order, search: queue.search, from: view.from, to: view.to };
      history.replaceState(null, "", writePlace(place));
    }, 200);
  };
  view.onChange(write);
  model.onChange(write);
  window.addEventListener("hashchange", () => {
    const { item, range } = parsePlace(location.hash);
    if (item !== null) open(item, range);
  });
}

/** Keeps what is chosen in sight. */
model.onChange(change => {
  const time = model.chosen?.time;
  if (change !== "choice" || time === null || time === undefined || byId("lanes").classList.contains("carrying")) return;
  const air = 0.06 * (view.to - view.from);
  if (time < view.from + air) view.glide(time - 4 * air, time - 4 * air + (view.to - view.from));
  else if (time > view.to - air) view.glide(time + 4 * air - (view.to - view.from), time + 4 * air);
});

function connectFields() {
  const order = byId("order");
  const search = byId("search");
  order.value = queue.order;
  search.value = queue.search;
  order.addEventListener("change", async () => {
    queue.order = order.value;
    await queue.reload({ keep: false });
    openNext(null);
  });
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      queue.search = search.value.trim();
      queue.reload({ keep: false });
    }, 120);
  });
  search.addEventListener("keydown", async event => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    clearTimeout(timer);
    queue.search = search.value.trim();
    await queue.reload({ keep: false });
    if (queue.total) queue.step(0);
    search.blur();
  });
}

function connectActions() {
  const help = byId("help");
  const toRange = ({ from, to }) => view.glide(from, to);
  const actions = {
    accept: () => model.item && decide(model.action()),
    reject: () => decide("reject"),
    add: () => model.chosen?.instance !== null && decide(model.item?.kind === "missed" ? "missed" : "add"),
    skip: () => decide("skip"),
    undo: () => backAndForth("undo", "Undone"),
    redo: () => backAndForth("redo", "Done again"),
    "zoom-in": () => view.glide(...view.zoomed(0.6)),
    "zoom-out": () => view.glide(...view.zoomed(1 / 0.6)),
    fit: () => toRange(view.limits()),
    centre: () => model.item && (view.index === model.item.session ? toRange(model.item) : view.open(model.item.session, rangeOf(model.item))),
    "help-button": () => help.showModal(),
    "help-close": () => help.close(),
    retry: () => outbox.send().then(refreshState),
  };
  for (const [id, action] of Object.entries(actions)) {
    byId(id).addEventListener("click", event => {
      action();
      if (event.detail && id !== "help-button") leaveButton();
    });
  }
  const candidate = number => () => model.options()[number] && model.choose(model.options()[number]);
  const keys = {
    Enter: actions.accept, x: actions.reject, m: actions.add, s: actions.skip, u: actions.undo, r: actions.redo,
    ArrowRight: () => model.step(1), ArrowLeft: () => model.step(-1),
    "Shift+ArrowRight": () => model.neighbour(1), "Shift+ArrowLeft": () => model.neighbour(-1),
    n: () => queue.step(1), p: () => queue.step(-1),
    "/": () => byId("search").focus(), "?": actions["help-button"],
    "+": actions["zoom-in"], "=": actions["zoom-in"], "-": actions["zoom-out"], f: actions.fit, 0: actions.centre,
    Escape: () => stage.point(null),
  };
  for (let number = 1; number <= 9; number += 1) keys[number] = candidate(number - 1);
  listenToKeys(keys, new Set(["Enter", "x", "m", "s", "u", "r"]));
}

async function begin() {
  const place = parsePlace(location.hash);
  if ([...byId("order").options].some(({ value }) => value === place.order)) queue.order = place.order;
  queue.search = place.search;
  showTrouble(null);
  connectFields();
  connectActions();
  keepPlace();
  showProgress(state);
  showFit(state);
  showFindings(state);
  showConflicts(state, id => open(id));
  bulk.ask();
  const listed = queue.reload();
  if (place.item !== null) await open(place.item, place.range);
  await listed;
  if (!model.item) await openNext(null);
  outbox.send();
  follow(state.revision, {
    onRevision,
    onGone,
    onBack: async () => {
      await outbox.send();
      await onRevision();
    },
  });
}

begin();
