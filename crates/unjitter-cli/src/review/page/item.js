// The press in question and what is chosen for it: an instance, or nothing. Everything else follows this.

const SHOWN = 5;
const FAINT = 0.005;

export function createItem() {
  const listeners = [];
  const tell = change => listeners.forEach(listener => listener(change));
  const model = { item: null, chosen: null };

  /** What may be chosen, most probable first; `instance` is null for "pressed for nothing". */
  model.options = () => model.item?.options ?? [];

  model.show = item => {
    model.item = item ? prepare(item) : null;
    model.chosen = item ? first(model.item) : null;
    tell("item");
  };

  /** The same item, known better. What is chosen stays chosen: somebody may be about to press Enter. */
  model.renew = item => {
    const { instance, time, pDetector } = model.chosen;
    model.item = prepare(item);
    model.chosen = instance === null ? model.options().find(option => option.instance === null) : model.place(instance, time, pDetector);
    tell("item");
  };

  model.choose = place => {
    model.chosen = place;
    tell("choice");
  };

  /** By probability; round and round. */
  model.step = direction => {
    const options = model.options();
    if (!options.length) return;
    const here = options.findIndex(({ instance }) => instance === model.chosen.instance);
    const next = here < 0 ? 0 : (here + direction + options.length) % options.length;
    model.choose(options[next]);
  };

  /** By time, from what is chosen or, if that is nothing, from the press. */
  model.neighbour = direction => {
    if (!model.item) return;
    const { places, stamp } = model.item;
    const time = model.chosen.instance === null ? stamp : model.chosen.time;
    const beyond = places.filter(place => (place.time - time) * direction > 0);
    const next = direction > 0 ? beyond[0] : beyond.at(-1);
    if (next) model.choose(next);
  };

  /** The instance as a place for this press, with its probability if it is a candidate. */
  model.place = (instance, time, pDetector) =>
    model.item.places.find(place => place.instance === instance) ?? { instance, time, p: null, pDetector };

  /** What Enter sends: the best instance is accepted or was missed, another is a move, nothing is a rejection. */
  model.action = () => {
    const { kind, candidates } = model.item;
    const { instance } = model.chosen;
    if (instance === null) return "reject";
    if (instance !== candidates[0]?.instance) return "move";
    return kind === "missed" ? "missed" : "accept";
  };

  model.onChange = listener => listeners.push(listener);
  return model;
}

/** Adds `places`: candidates and neighbours by time; and `options`: candidates and nothing by probability. */
function prepare(item) {
  const detector = new Map(item.neighbours.map(({ instance, p_detector: p }) => [instance, p]));
  const candidates = item.candidates.map(({ instance, time, p }) => ({ instance, time, p, pDetector: detector.get(instance) ?? null }));
  const known = new Set(candidates.map(({ instance }) => instance));
  const others = item.neighbours.filter(({ instance }) => !known.has(instance));
  const places = [...candidates, ...others.map(({ instance, time, p_detector: p }) => ({ instance, time, p: null, pDetector: p }))];
  const likely = candidates.filter(({ p }, k) => k === 0 || (k < SHOWN && p >= FAINT));
  const nothing = { instance: null, time: null, p: item.p_spurious };
  const options = [...likely, nothing].sort((a, b) => (b.p ?? 0) - (a.p ?? 0));
  return { ...item, candidates, places: places.sort((a, b) => a.time - b.time), options };
}

/** What was decided before, else the most probable. */
function first({ decision, options, places }) {
  if (decision?.action === "reject") return options.find(({ instance }) => instance === null);
  const decided = Number.isInteger(decision?.instance) && places.find(({ instance }) => instance === decision.instance);
  return decided || options[0];
}
