// Keys, while the timeline or one of its buttons has the focus: a page-wide key would fight screen readers.

function listenToKeys(view, timeline, section) {
  const share = part => part * (view.to - view.from);
  const glide = seconds => view.glide(view.from + seconds, view.to + seconds);
  const range = ({ from, to }) => view.glide(from, to);
  const stamp = direction => {
    timeline.point(null);
    view.selectNext(direction);
  };
  const actions = {
    ArrowLeft: () => glide(-share(0.2)),
    ArrowRight: () => glide(share(0.2)),
    PageUp: () => glide(-share(0.9)),
    PageDown: () => glide(share(0.9)),
    Home: () => glide(view.limits().from - view.from),
    End: () => glide(view.limits().to - view.to),
    "+": () => view.glide(...view.zoomed(0.6)),
    "=": () => view.glide(...view.zoomed(0.6)),
    "-": () => view.glide(...view.zoomed(1 / 0.6)),
    0: () => range(view.home()),
    f: () => range(view.limits()),
    n: () => stamp(1),
    "]": () => stamp(1),
    p: () => stamp(-1),
    "[": () => stamp(-1),
    j: () => view.open(view.index + 1),
    k: () => view.open(view.index - 1),
    Escape: () => {
      timeline.point(null);
      view.select(null);
    },
  };
  section.addEventListener("keydown", event => {
    const typing = event.target.closest("select");
    const action = actions[event.key];
    if (typing || !action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  return actions;
}
