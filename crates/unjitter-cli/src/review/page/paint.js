// The report's marks on a canvas: the same path data and colours, painted instead of put into the document, because a
// canvas keeps up with a finger however much is in view.

const NAMES = ["ink", "muted", "grid", "blue", "orange", "vermilion", "green", "purple", "sky", "card", "hover"];

/** Colours of the theme, read again when it changes. */
export function createColours(onChange) {
  const colours = {};
  const read = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of NAMES) colours[name] = style.getPropertyValue(`--${name}`).trim();
    onChange();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", read);
  new MutationObserver(read).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  read();
  return colours;
}

/** A pen on a canvas that fits its host and the pixels of the screen. */
export function createPen(canvas) {
  const context = canvas.getContext("2d");
  const pen = { context, width: 0, height: 0 };

  pen.resize = (width, height) => {
    const density = Math.min(window.devicePixelRatio || 1, 2);
    const [across, down] = [Math.round(width * density), Math.round(height * density)];
    if (canvas.width !== across || canvas.height !== down) {
      canvas.width = across;
      canvas.height = down;
      canvas.style.height = `${height}px`;
    }
    context.setTransform(density, 0, 0, density, 0, 0);
    Object.assign(pen, { width, height });
  };

  pen.clear = () => context.clearRect(0, 0, pen.width, pen.height);

  pen.stroke = (path, colour, width = 1, { alpha = 1, dash = [], cap = "butt" } = {}) => {
    if (!path) return;
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.lineCap = cap;
    context.setLineDash(dash);
    context.stroke(new Path2D(path));
    context.globalAlpha = 1;
  };

  pen.fill = (path, colour, alpha = 1) => {
    if (!path) return;
    context.globalAlpha = alpha;
    context.fillStyle = colour;
    context.fill(new Path2D(path));
    context.globalAlpha = 1;
  };

  pen.text = (words, x, y, colour, align = "left", room = Infinity) => {
    context.font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
    context.fillStyle = colour;
    context.textAlign = align;
    context.fillText(shortened(words, room), x, y);
  };

  function shortened(words, room) {
    if (room === Infinity || context.measureText(words).width <= room) return words;
    let kept = words;
    while (kept && context.measureText(`${kept}…`).width > room) kept = kept.slice(0, -1);
    return `${kept}…`;
  }

  pen.within = (left, top, width, height, draw) => {
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    draw();
    context.restore();
  };
  return pen;
}
