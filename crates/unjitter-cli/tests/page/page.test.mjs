// Drives the report in headless Chromium; `make page-test` runs it.
//
// The page is the made-up report of src/report/fixture.rs; numbers of sessions below refer to it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { address, box, colour, context, drawn, key, middle, open, settle, tooltip, troubles, view } from "./browser.mjs";

const HOSTILE = [3, 4, 5];
const EMPTY = 7;
const WITHOUT_STAMPS = 9;
const DAYS = 10;
const LASTING = 11;
const CLASSES = 12;

describe("the page itself", () => {
  test("every part is there, and nothing is asked of a network", async () => {
    const page = await open();
    for (const heading of ["12 sessions of simulated breathing", "One thing to be wary of", "Where every press belongs", "Learners compared"]) {
      assert.equal(await page.getByRole("heading", { name: heading, exact: true }).count(), 1, heading);
    }
    assert.equal(await page.locator("figure svg").count(), 2);
    assert.match(await page.locator("footer").innerText(), /unjitter \d+\.\d+\.\d+ with\s+unjitter report sessions\.csv/);
    for (const mark of ["signal", "p-positive", "p-detector", "stamp", "home", "whisker", "truth", "detected"]) {
      assert.ok((await drawn(page, mark)).length > 10, mark);
    }
  });

  test("hostile names are shown as they are and run nothing", async () => {
    const page = await open();
    const names = await page.locator("#session option").allTextContents();
    assert.equal(names[2], "3. <script>window.hacked = 1</script> (subject 3)");
    assert.equal(names[3], "4. \"><img src=x onerror=\"window.hacked = 2\"> (subject 4)");
    assert.equal(names[4], "5. </script><!-- <script> (subject 1)");
    for (const number of HOSTILE) {
      await page.selectOption("#session", String(number - 1));
      await settle(page);
    }
    assert.match(await page.locator("#announcement").textContent(), /<\/script><!-- <script>/);
    assert.match(await page.locator(".warnings").innerText(), /<b>could not<\/b>/);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("img").count(), 0);
  });

  test("the policy refuses scripts and requests that are not the page's own", async () => {
    const page = await open();
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.hacked = 3";
      document.body.append(script);
      document.body.append(Object.assign(new Image(), { src: "https://example.invalid/x.png" }));
    });
    await settle(page);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    const refused = troubles.splice(0).filter(text => /Content Security Policy/.test(text));
    assert.equal(refused.length, 2);
  });

  test("nothing is wider than a small phone", async () => {
    const page = await open("", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    for (let session = 0; session < 12; session += 1) {
      await page.selectOption("#session", String(session));
      await page.waitForTimeout(80);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 360, `${width} px in session ${session + 1}`);
    }
  });

  test("paper has no controls and is light", async () => {
    const page = await open("", { colorScheme: "dark" });
    assert.equal(await colour(page, "body", "backgroundColor"), "rgb(19, 21, 24)");
    await page.emulateMedia({ media: "print" });
    for (const id of ["theme", "zoom-in", "next-session", "keys", "next-stamp"]) {
      assert.equal(await page.locator(`#${id}`).isVisible(), false, id);
    }
    assert.equal(await page.locator("#lanes svg").first().isVisible(), true);
    assert.equal(await colour(page, "body", "backgroundColor"), "rgb(255, 255, 255)");
    assert.equal(await colour(page, ".p-positive", "stroke"), "rgb(0, 114, 178)");
  });

  test("without scripts the page says so and shows the rest", async () => {
    const page = await open("", { javaScriptEnabled: false });
    assert.match(await page.locator("main").innerText(), /timeline needs JavaScript/);
    assert.match(await page.locator("main").innerText(), /Learners compared/);
  });

  test("the theme follows the system, then the button, and figures follow the theme", async () => {
    const page = await open("", { colorScheme: "light" });
    const figure = () => colour(page, ".drawing [fill=\"#0072B2\"]", "fill");
    assert.equal(await figure(), "rgb(0, 114, 178)");
    await page.click("#theme");
    assert.equal(await figure(), "rgb(75, 163, 227)");
    assert.equal(await colour(page, ".drawing [stroke=\"#1A1A1A\"]", "stroke"), "rgb(233, 234, 236)");
    assert.equal(await colour(page, "body", "color"), "rgb(233, 234, 236)");
    await page.click("#theme");
    assert.equal(await figure(), "rgb(0, 114, 178)");
    await page.emulateMedia({ colorScheme: "dark" });
    assert.equal(await figure(), "rgb(0, 114, 178)", "the button outranks the system");
    const dark = await (await context.newPage());
    await dark.emulateMedia({ colorScheme: "dark" });
    await dark.goto(address);
    assert.equal(await colour(dark, ".drawing [fill=\"#0072B2\"]", "fill"), "rgb(75, 163, 227)");
  });
});

describe("zoom and pan", () => {
  test("the wheel zooms about the pointer", async () => {
    const page = await open("#s=1&t=300-500");
    const [x, y] = await middle(page);
    await page.mouse.move(x, y);
    const { width, x: left } = await box(page);
    const under = ({ from, span }) => from + (span * (x - left - 128)) / (width - 130);
    const start = await view(page);
    await page.mouse.wheel(0, -200);
    const closer = await view(page);
    assert.ok(closer.span < 0.7 * start.span, `${closer.span} after ${start.span}`);
    assert.ok(Math.abs(under(closer) - under(start)) < 0.5, "the time under the pointer stays");
    await page.mouse.wheel(0, 200);
    assert.ok(Math.abs((await view(page)).span - start.span) < 0.5);
  });

  test("the wheel scrolls the page when there is no more to zoom out", async () => {
    const page = await open("", { viewport: { width: 1200, height: 700 } });
    await page.click("#fit");
    const [x, y] = await middle(page);
    await page.mouse.move(x, y);
    const before = await page.evaluate(() => scrollY);
    await page.mouse.wheel(0, 120);
    await settle(page);
    assert.ok((await page.evaluate(() => scrollY)) > before);
  });

  test("a drag moves the range by as much as the pointer", async () => {
    const page = await open("#s=1&t=300-500");
    const [x, y] = await middle(page);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x - 100, y, { steps: 5 });
    await page.mouse.up();
    const { width } = await box(page);
    const now = await view(page);
    // Two edges of rounding in the address.
    assert.ok(Math.abs(now.from - 300 - (100 * 200) / (width - 130)) < 0.5, `${now.from}`);
    assert.ok(Math.abs(now.span - 200) < 0.05);
  });

  test("a double click and the buttons zoom, fit and reset", async () => {
    const page = await open();
    const home = await view(page);
    const [x, y] = await middle(page);
    await page.mouse.dblclick(x, y);
    assert.ok(Math.abs((await view(page)).span / home.span - 0.5) < 0.01);
    await page.click("#reset");
    assert.deepEqual(await view(page), home);
    await page.click("#zoom-in");
    assert.ok((await view(page)).span < home.span);
    await page.click("#fit");
    assert.ok((await view(page)).span > 1195);
    await page.click("#zoom-out");
    assert.ok((await view(page)).span < 1240, "never more than the session");
  });

  test("two fingers pinch", async () => {
    const page = await open("#s=1&t=300-500", { hasTouch: true });
    const [x, y] = await middle(page);
    const client = await context.newCDPSession(page);
    const touch = (type, ...points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([px, id]) => ({ x: px, y, id })) });
    await touch("touchStart", [x - 50, 0]);
    await touch("touchStart", [x - 50, 0], [x + 50, 1]);
    for (const apart of [70, 100, 150]) await touch("touchMove", [x - apart, 0], [x + apart, 1]);
    await touch("touchEnd");
    const { span } = await view(page);
    assert.ok(Math.abs(span - 200 / 3) < 2, `${span}`);
  });

  test("one finger moves the range", async () => {
    const page = await open("#s=1&t=300-500", { hasTouch: true });
    const [x, y] = await middle(page);
    const client = await context.newCDPSession(page);
    const touch = (type, ...points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(px => ({ x: px, y })) });
    await touch("touchStart", x);
    for (const by of [20, 60, 120]) await touch("touchMove", x + by);
    await touch("touchEnd");
    const now = await view(page);
    assert.ok(now.from < 290, `${now.from}`);
    assert.ok(Math.abs(now.span - 200) < 0.05);
  });

  test("the window of the overview can be dragged and widened", async () => {
    const page = await open("#s=1&t=300-500");
    const { x, y, width } = await box(page, "#overview");
    const at = time => x + 128 + ((time + 18) / 1236) * (width - 130);
    await page.mouse.move(at(400), y + 20);
    await page.mouse.down();
    await page.mouse.move(at(700), y + 20, { steps: 4 });
    await page.mouse.up();
    const moved = await view(page);
    assert.ok(Math.abs(moved.from - 600) < 5 && Math.abs(moved.span - 200) < 0.1, JSON.stringify(moved));
    await page.mouse.move(at(800), y + 20);
    await page.mouse.down();
    await page.mouse.move(at(1000), y + 20, { steps: 4 });
    await page.mouse.up();
    const wider = await view(page);
    assert.ok(Math.abs(wider.from - 600) < 5 && Math.abs(wider.to - 1000) < 5, JSON.stringify(wider));
  });

  test("the drawing changes with the range", async () => {
    const page = await open("#s=1&t=300-500");
    const before = await drawn(page, "signal");
    await key(page, "ArrowRight");
    await settle(page);
    assert.notEqual(await drawn(page, "signal"), before);
  });

  test("the number of elements does not grow with what is in view", async () => {
    const page = await open();
    await page.click("#fit");
    await settle(page);
    const elements = await page.locator("#lanes *").count();
    assert.ok(elements < 80, `${elements} elements`);
  });
});

describe("keys", () => {
  test("arrows move, plus and minus zoom, 0 and f reset and fit", async () => {
    const page = await open("#s=1&t=300-500");
    await key(page, "ArrowRight");
    assert.equal((await view(page)).from, 340);
    await key(page, "ArrowLeft", "ArrowLeft");
    assert.equal((await view(page)).from, 260);
    await key(page, "+");
    assert.equal((await view(page)).span, 120);
    await key(page, "-");
    assert.equal((await view(page)).span, 200);
    await key(page, "f");
    assert.ok((await view(page)).span > 1195);
    await key(page, "0");
    const home = await view(page);
    assert.deepEqual(home, await view(await open("#s=1")));
  });

  test("n and p walk through presses, move the range, show numbers and say them", async () => {
    const page = await open("#s=1&t=0-60");
    await key(page, "n");
    const first = await tooltip(page);
    assert.match(first, /^pressed at \d\d:\d\d:\d\d\.\d+\nbelongs to [\d:.]+ \(95 %: [\d:.]+ to [\d:.]+\)\n[\d.]+ m?s late\np of this instance 0\.\d\d; median [\d:.]+\np spurious (< )?0\.\d\d/);
    assert.match(await page.locator("#announcement").textContent(), /^pressed at .*; belongs to .*; p spurious/);
    await key(page, "n", "n", "]", "n", "n", "n");
    assert.notEqual(await tooltip(page), first);
    assert.ok((await view(page)).from > 60, "the range follows");
    await key(page, "p", "[", "p", "p", "p", "p");
    assert.equal((await tooltip(page)).split("\n")[0], first.split("\n")[0]);
    await key(page, "Escape");
    await settle(page);
    assert.equal(await page.locator("#tooltip").isVisible(), false);
  });

  test("the range is announced, and a focused timeline shows it", async () => {
    const page = await open("#s=2&t=300-500");
    await key(page, "ArrowRight");
    await settle(page);
    assert.equal(await page.locator("#announcement").textContent(), "showing 5:40 to 9:00");
    assert.equal(await colour(page, "#lanes", "outlineWidth"), "2px");
  });

  test("keys do nothing while the timeline has no focus", async () => {
    const page = await open("#s=1&t=300-500");
    await page.focus("#theme");
    await page.keyboard.press("f");
    await page.keyboard.press("j");
    assert.deepEqual(await view(page), { session: 1, from: 300, to: 500, span: 200 });
  });
});

describe("sessions", () => {
  test("the picker, its buttons and j and k change the session and the drawing", async () => {
    const page = await open("#s=1");
    const first = await drawn(page, "p-positive");
    await page.selectOption("#session", "1");
    assert.equal((await view(page)).session, 2);
    const second = await drawn(page, "p-positive");
    assert.notEqual(second, first);
    assert.match(await page.locator("#summary").innerText(), /^subject 2 · 0:00 to 20:00 · \d+ instances · \d+ presses/);
    await page.click("#previous-session");
    await settle(page);
    assert.equal(await drawn(page, "p-positive"), first);
    await key(page, "j");
    await settle(page);
    assert.equal(await drawn(page, "p-positive"), second);
    await key(page, "k");
    assert.equal((await view(page)).session, 1);
    assert.equal(await page.locator("#session").inputValue(), "0");
    assert.equal(await page.locator("#previous-session").isDisabled(), true);
  });

  test("a link brings back session and range", async () => {
    const page = await open("#s=6&t=100.5-200.25");
    assert.deepEqual(await view(page), { session: 6, from: 100.5, to: 200.25, span: 99.75 });
    const again = await open(new URL(page.url()).hash);
    assert.equal((await view(again)).span, 99.75);
    await again.evaluate(() => (location.hash = "#s=2&t=10-20"));
    await settle(again);
    assert.equal(await again.locator("#session").inputValue(), "1");
    assert.match(await again.locator("#lanes").textContent(), /0:10.*0:20/);
  });

  test("nonsense in a link is ignored", async () => {
    for (const hash of ["#s=999&t=5-1", "#s=-1&t=x", "#%00", "#t=1e999-2e999"]) {
      const page = await open(hash);
      const { span } = await view(page);
      assert.ok(span > 1, hash);
      await context.close();
    }
  });

  test("sessions with hardly anything in them are drawn, zoomed and walked through", async () => {
    const page = await open();
    const sound = async session =>
      assert.equal(/NaN|Infinity|undefined/.test(await page.locator("#timeline").innerHTML()), false, `session ${session}`);
    for (let session = 1; session <= 12; session += 1) {
      await page.selectOption("#session", String(session - 1));
      await settle(page);
      await sound(session);
      await key(page, "n", "+", "ArrowLeft", "f", "0", "p");
      const { x, y, width, height } = await box(page);
      for (const share of [0.9, 0.5, 0.2]) await page.mouse.move(x + width * share, y + height * share);
      await sound(session);
    }
    await page.selectOption("#session", String(EMPTY - 1));
    await settle(page);
    assert.match(await page.locator("#lanes").textContent(), /Nothing was recorded/);
    await page.selectOption("#session", String(WITHOUT_STAMPS - 1));
    assert.match(await page.locator("#summary").innerText(), /no presses/);
    assert.equal(await page.locator("#next-stamp").isDisabled(), true);
  });
});

describe("events that last", () => {
  /** Left end and width of each bar. */
  const bars = path => [...path.matchAll(/M(-?[\d.]+) -?[\d.]+h([\d.]+)/g)].map(([, x, width]) => [Number(x), Number(width)]);

  test("a run is a bar from its first to its last instance", async () => {
    const page = await open(`#s=${LASTING}&t=0-360`);
    const { span } = await view(page);
    const { width } = await box(page);
    const perSecond = (width - 130) / span;
    const truth = bars(await drawn(page, "truth"));
    const detected = bars(await drawn(page, "detected"));
    assert.deepEqual([truth.length, detected.length], [8, 8]);
    truth.forEach(([x, long], k) => {
      // Two roundings to a tenth of a pixel.
      assert.ok(Math.abs(long - (10 + (k % 3)) * perSecond) < 0.2, `${k}: ${long}`);
      assert.ok(Math.abs(detected[k][0] - x) < 0.2 && Math.abs(long - detected[k][1] - perSecond) < 0.3);
    });
    assert.equal(bars(await drawn(page, "missed")).length, 1);
    // One of seven presses has no end.
    assert.equal(bars(await drawn(page, "run")).length, 6);
    assert.match(await page.locator("#summary").innerText(), /8 detected · 1 probably missed · 8 true events/);
    // Far away bars stay bars, and do not swallow each other.
    await page.click("#fit");
    await settle(page);
    assert.equal(bars(await drawn(page, "truth")).length, 8);
  });

  test("a press tells its end", async () => {
    const page = await open(`#s=${LASTING}&t=0-360`);
    await key(page, "n");
    assert.match(await tooltip(page), /its end pressed at .*, belongs to .* \(95 %: .*\), .* (late|early)/);
    await key(page, "n", "n", "n", "n");
    assert.doesNotMatch(await tooltip(page), /its end/);
    assert.equal(await page.locator("[data-needs=ends]").first().isVisible(), true);
    await page.selectOption("#session", "0");
    await settle(page);
    assert.equal(await page.locator("[data-needs=ends]").first().isVisible(), false);
    assert.equal(await drawn(page, "run"), "");
  });
});

describe("classes", () => {
  const texts = page => page.locator("#lanes text").allTextContents();

  test("each has its own row, beside its name", async () => {
    const page = await open(`#s=${CLASSES}&t=0-120`);
    const shown = await texts(page);
    for (const name of ["cough", "detected: cough", "true: cough", "</script><b>s…"]) {
      assert.ok(shown.includes(name), `${name} of ${shown}`);
    }
    // Eight coughs on one height, seven sneezes on another.
    const heights = [...(await drawn(page, "detected")).matchAll(/M-?[\d.]+ (-?[\d.]+)l/g)].map(([, y]) => y);
    const [first, second] = new Set(heights);
    assert.equal(new Set(heights).size, 2);
    assert.deepEqual([first, second].map(y => heights.filter(own => own === y).length), [8, 7]);
    const narrow = await open(`#s=${CLASSES}`, { viewport: { width: 360, height: 740 } });
    assert.ok((await texts(narrow)).some(text => text.startsWith("detected · cough · ")));
  });

  test("presses say as what they are recorded, and what they probably are", async () => {
    const page = await open(`#s=${CLASSES}&t=0-30`);
    const shown = await texts(page);
    assert.ok(shown.includes("</script><b>s… → cough"), `${shown}`);
    await key(page, "n", "n", "n");
    assert.match(await tooltip(page), /recorded as <\/script><b>sneeze<\/b>; most probably cough, p 0\.93/);
    const { x, y, width } = await box(page);
    await page.keyboard.press("Escape");
    await page.mouse.move(x + 128 + ((width - 130) * 3) / 30, y + 60);
    assert.match(await tooltip(page), /cough: 0\.95; from features alone 0\.70/);
    assert.equal(await page.locator("#lanes b").count(), 0);
  });
});

describe("numbers on demand", () => {
  test("pointing at a bar shows the instance, at a curve the press", async () => {
    const page = await open("#s=1&t=600-660");
    const { x, y, width } = await box(page);
    const seen = new Set();
    let shown;
    for (const down of [140, 400]) {
      for (let across = 140; across < width; across += 8) {
        await page.mouse.move(x + across, y + down);
        await page.waitForTimeout(20);
        if (!(await page.locator("#tooltip").isVisible())) continue;
        shown = [x + across, y + down];
        seen.add((await page.locator("#tooltip").innerText()).slice(0, 8));
      }
    }
    assert.deepEqual([...seen].sort(), ["instance", "pressed "]);
    await page.mouse.move(...shown);
    await tooltip(page);
    await page.mouse.move(x + 10, y - 40);
    await settle(page);
    assert.equal(await page.locator("#tooltip").isVisible(), false);
  });

  test("days and times before zero are told apart", async () => {
    const page = await open(`#s=${DAYS}`);
    assert.match(await page.locator("#summary").innerText(), /^02-27 20:30:00 to 03-04 19:30:00 · 120 instances · 1 press ·/);
    await key(page, "f");
    await settle(page);
    assert.match(await page.locator("#lanes").textContent(), /02-28 00:00:00.*03-04 00:00:00/);
    await key(page, "n");
    assert.equal((await tooltip(page)).split("\n")[2], "1 h 0 min late");
    assert.match(await tooltip(page), /p spurious 0\.90: probably for nothing$/);
    assert.ok((await drawn(page, "arc-spurious")).length > 0 && (await drawn(page, "stamp")) === "");
    const again = await open("#s=10&t=-7200-3600");
    assert.deepEqual(await view(again), { session: 10, from: -7200, to: 3600, span: 10800 });
  });

  test("a tap shows the press", async () => {
    const page = await open("#s=1", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    await page.tap("#next-stamp");
    await box(page, ".halo-ring");
    const wanted = await tooltip(page);
    const place = await page.locator(".halo-ring").evaluate(node => {
      const { x, y, width, height } = node.getBoundingClientRect();
      return [x + width / 2, y + height - 8];
    });
    await key(page, "Escape");
    await settle(page);
    assert.equal(await page.locator("#tooltip").isVisible(), false);
    await page.touchscreen.tap(...place);
    assert.equal(await tooltip(page), wanted);
  });

  test("the legend lists what the session has, and no more", async () => {
    const page = await open("#s=1");
    const count = () => page.locator(".legend li:visible").count();
    assert.equal(await count(), 10);
    await page.selectOption("#session", "5");
    assert.equal(await count(), 8, "no signal, no truth");
    await page.selectOption("#session", String(EMPTY - 1));
    assert.equal(await count(), 0);
  });
});
