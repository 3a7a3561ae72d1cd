// How fast the page of review is with a million instances and ten million samples; `make page-test` runs it.
//
// The made-up server computes its answers at once, so these are the page's own times. The limits leave room for a
// shared machine without a graphics card: they are there to catch work that grows with the session.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { open, settle, until } from "./review-browser.mjs";
import { startMock } from "./review-mock.mjs";

let mock;
before(async () => (mock = await startMock({ sessions: [[1e6, 10000]], samplesPerSecond: 10 / 3 })));
after(() => mock.stop());

const middle = numbers => numbers.slice().sort((a, b) => a - b)[numbers.length >> 1];
const high = numbers => numbers.slice().sort((a, b) => a - b)[Math.floor(0.95 * numbers.length)];

test("the first item is drawn within a second", async t => {
  const page = await open(mock.address);
  await page.waitForFunction(() => performance.getEntriesByName("question").length);
  const [paint, drawn] = await page.evaluate(() => [
    performance.getEntriesByName("first-contentful-paint")[0].startTime,
    performance.getEntriesByName("question")[0].startTime,
  ]);
  t.diagnostic(`first paint ${paint.toFixed(0)} ms, first item drawn ${drawn.toFixed(0)} ms`);
  assert.ok(paint < 1000, `${paint} ms`);
  assert.ok(drawn < 1500, `${drawn} ms`);
});

/** Moves a pointer over the canvas for two seconds of frames; gives the times between frames and of the work in each. */
const pan = page => page.evaluate(async () => {
  const { frames } = await import(new URL("assets/stage.js", document.baseURI).href);
  const host = document.querySelector("#lanes");
  const box = host.getBoundingClientRect();
  host.setPointerCapture = () => {};
  const send = (type, x) => host.dispatchEvent(new PointerEvent(type, { pointerId: 1, pointerType: "mouse", button: 0, clientX: box.x + x, clientY: box.y + 60, bubbles: true }));
  const between = [];
  const before = frames.count;
  frames.work.length = 0;
  send("pointerdown", 500);
  let last = await new Promise(requestAnimationFrame);
  for (let k = 0; k < 120; k += 1) {
    send("pointermove", 500 + 300 * Math.sin(k / 12));
    const now = await new Promise(requestAnimationFrame);
    between.push(now - last);
    last = now;
  }
  send("pointerup", 500);
  return { between, work: frames.work.filter(Boolean), drawn: frames.count - before };
});

for (const [name, keys] of [["close", []], ["an hour", Array(9).fill("-")], ["the whole session", ["f", "+"]]]) {
  test(`moving keeps sixty frames a second: ${name}`, async t => {
    const page = await open(mock.address, "#item=s0-5000");
    await settle(page);
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForTimeout(800);
    const { between, work, drawn } = await pan(page);
    t.diagnostic(`${(1000 / middle(between)).toFixed(0)} frames a second; work per frame ${middle(work).toFixed(1)} ms, 95 % below ${high(work).toFixed(1)} ms`);
    assert.ok(drawn > 100, `${drawn} frames were drawn`);
    assert.ok(middle(work) < 12, `${middle(work)} ms`);
    assert.ok(middle(between) < 34, `${middle(between)} ms between frames`);
  });
}

test("the page asks for little, whatever is looked at", async t => {
  const page = await open(mock.address, "#item=s0-5000");
  await settle(page);
  mock.requests.length = 0;
  await page.keyboard.press("f");
  await page.waitForTimeout(500);
  for (let k = 0; k < 12; k += 1) await page.keyboard.press("+");
  await page.waitForTimeout(1000);
  const asked = mock.requests.filter(path => path.includes("/signal"));
  t.diagnostic(`${asked.length} ranges for thirteen zooms`);
  assert.ok(asked.length > 0 && asked.length < 60, String(asked.length));
  assert.ok(asked.every(path => Number(new URL(path, "http://x").searchParams.get("pixels")) <= 2048));
  await until(page, "queue-words", /^10.001 items$/);
});
