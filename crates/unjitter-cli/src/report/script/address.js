// The view in the address, so that it can be shared: #s=3&t=100-200, sessions counted from one.

function parseAddress(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const session = Number(fields.get("s"));
  const number = "(-?\\d+(?:\\.\\d+)?)";
  const range = new RegExp(`^${number}-${number}$`).exec(fields.get("t") ?? "");
  const [from, to] = range ? [Number(range[1]), Number(range[2])] : [NaN, NaN];
  return { index: Number.isInteger(session) && session > 0 ? session - 1 : null, range: from < to ? { from, to } : null };
}

function writeAddress(view) {
  const decimals = clamp(decimalsFor(view.to - view.from) + 1, 0, 9);
  return `#s=${view.index + 1}&t=${view.from.toFixed(decimals)}-${view.to.toFixed(decimals)}`;
}

function keepAddress(view) {
  let timer = 0;
  const follow = () => {
    const { index, range } = parseAddress(location.hash);
    view.open(index ?? view.index, range);
  };
  // Browsers refuse more than a few changes a second.
  view.onChange(() => {
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState(null, "", writeAddress(view)), 200);
  });
  window.addEventListener("hashchange", follow);
  follow();
}
