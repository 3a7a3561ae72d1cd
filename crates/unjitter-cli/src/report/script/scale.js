// Seconds to pixels, and where ticks go.

/** A linear map of [from, to] seconds onto [left, right] pixels, and its inverse. */
function createScale(from, to, left, right) {
  const perSecond = (right - left) / (to - from);
  return {
    from, to, left, right, perSecond,
    x: time => left + (time - from) * perSecond,
    time: x => from + (x - left) / perSecond,
  };
}

/** Steps that read well on a clock, then 1, 2, 5 times a power of ten of days or of seconds. */
const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

function niceStep(rough) {
  if (rough > 0.5 && rough <= 86400) return CLOCK_STEPS.find(step => step >= rough);
  const unit = rough > 86400 ? 86400 : 1;
  const power = 10 ** Math.floor(Math.log10(rough / unit));
  return unit * power * [1, 2, 5, 10].find(factor => factor * power * unit >= rough * 0.999999);
}

/** Multiples of a nice step within [from, to], about `count` of them. */
function niceTicks(from, to, count) {
  const step = niceStep((to - from) / Math.max(count, 1));
  const ticks = [];
  for (let k = Math.ceil(from / step); k * step <= to && ticks.length < 1000; k += 1) ticks.push(k * step);
  return { step, ticks };
}

/** Index of the first element that is not less than `value`, in ascending numbers. */
function lowerBound(numbers, value) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the element nearest to `value`, or -1 if there is none. */
function nearest(numbers, value) {
  const after = lowerBound(numbers, value);
  if (after === 0) return numbers.length ? 0 : -1;
  if (after === numbers.length) return after - 1;
  return value - numbers[after - 1] <= numbers[after] - value ? after - 1 : after;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
