// The place in the address, so that a reload or a mailed link comes back to it: #item=12&order=time&t=100-200

export function parsePlace(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const range = /^(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)$/.exec(fields.get("t") ?? "");
  const [from, to] = range ? [Number(range[1]), Number(range[2])] : [NaN, NaN];
  return { item: fields.get("item"), order: fields.get("order"), search: fields.get("search") ?? "", range: from < to ? { from, to } : null };
}

export function writePlace({ item, order, search, from, to }) {
  const decimals = clamp(decimalsFor(to - from) + 1, 0, 9);
  const fields = new URLSearchParams(item === null ? {} : { item });
  fields.set("order", order);
  if (search) fields.set("search", search);
  fields.set("t", `${from.toFixed(decimals)}-${to.toFixed(decimals)}`);
  return `#${fields}`;
}
