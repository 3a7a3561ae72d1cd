// SVG elements, and the shapes of marks as path data.

function element(name, attributes, parent) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent?.append(node);
  return node;
}

function label(text, attributes, parent) {
  const node = element("text", attributes, parent);
  node.textContent = text;
  return node;
}

/** Tenths of a pixel are enough, and keep paths short. */
const px = number => Math.round(number * 10) / 10;

const triangle = (x, y, r) => `M${px(x)} ${px(y - r)}l${r} ${px(1.8 * r)}h${-2 * r}z`;
const diamond = (x, y, r) => `M${px(x)} ${px(y - r)}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`;
const square = (x, y, r) => `M${px(x - r)} ${px(y - r)}h${2 * r}v${2 * r}h${-2 * r}z`;
const circle = (x, y, r) => `M${px(x - r)} ${px(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
const whisker = (low, high, y) => `M${px(low)} ${px(y)}H${px(high)}M${px(low)} ${px(y - 3)}v6M${px(high)} ${px(y - 3)}v6`;

/** Leaves and arrives vertically, so that a bundle of curves stays readable. */
function arc(fromX, fromY, toX, toY) {
  const middle = px((fromY + toY) / 2);
  return `M${px(fromX)} ${px(fromY)}C${px(fromX)} ${middle} ${px(toX)} ${middle} ${px(toX)} ${px(toY)}`;
}

/** Joins the shapes of marks at `times`, but at most one for each pixel. */
function marksAt(times, scale, shape) {
  let path = "";
  let taken = NaN;
  for (let k = lowerBound(times, scale.time(scale.left - 8)); k < times.length; k += 1) {
    const x = scale.x(times[k]);
    if (x > scale.right + 8) break;
    if (Math.round(x) === taken) continue;
    taken = Math.round(x);
    path += shape(x);
  }
  return path;
}
