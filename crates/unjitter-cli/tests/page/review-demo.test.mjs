// A real review of the demo's data with `unjitter review`; `make page-test` runs it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { chips, chosen, item, nextItem, open, press, settle, text, troubles, until } from "./review-browser.mjs";
import { startReview, trueTimes } from "./review-server.mjs";

let review;
before(async () => (review = await startReview(undefined, "--reviewer", "Ada")));
after(() => review.stop());

const saved = page => until(page, "saved", /^Saved\. /);
const last = () => review.lines().at(-1).what;
const done = async page => Number((await text(page, "progress-words")).match(/(\d+) done/)[1]);

test("accept, move, reject, add, skip, undo and redo reach the log", async () => {
  const page = await open(review.address);
  await settle(page);
  const first = item(page);
  const places = (await chips(page)).map(({ when }) => when);
  const best = 1 + places.findIndex(when => when !== "for nothing");
  await press(page, String(best), "Enter");
  await saved(page);
  assert.equal(last().decide[0].item, first);
  assert.equal(last().decide[0].action, "accept");

  const second = await nextItem(page, first);
  const others = (await chips(page)).map(({ when }) => when).map((when, k) => [when, k + 1]).filter(([when]) => when !== "for nothing");
  await press(page, String(others[1][1]));
  assert.equal((await chosen(page)).when, others[1][0]);
  await press(page, "Enter");
  await until(page, "saved", /moved to/);
  assert.deepEqual([last().decide[0].item, last().decide[0].action], [second, "move"]);

  const third = await nextItem(page, second);
  await press(page, "x");
  await until(page, "saved", /rejected/);
  assert.deepEqual([last().decide[0].item, last().decide[0].action, last().decide[0].instance], [third, "reject", null]);

  const fourth = await nextItem(page, third);
  await press(page, "1", "Shift+ArrowRight", "Shift+ArrowRight", "m");
  await until(page, "saved", /event added at/);
  const [added] = last().decide;
  assert.equal(added.action, "add");
  assert.match(added.item, new RegExp(`^m\\d+-${added.instance}$`));
  await settle(page);
  assert.equal(item(page), fourth);

  await press(page, "s");
  await until(page, "saved", /skipped/);
  const fifth = await nextItem(page, fourth);
  const before = review.lines().length;
  await press(page, "u");
  await until(page, "saved", /^Undone/);
  await nextItem(page, fifth);
  assert.ok("undo" in last(), JSON.stringify(last()));
  await press(page, "r");
  await until(page, "saved", /^Done again/);
  assert.ok("redo" in last(), JSON.stringify(last()));
  assert.equal(review.lines().length, before + 2);
});

test("search, order and reload", async () => {
  const page = await open(review.address);
  await press(page, "/");
  await page.keyboard.type("session-03");
  await until(page, "queue-words", /^\d\d items$/);
  await press(page, "Enter");
  await until(page, "details", /^session-03/);
  await page.selectOption("#order", "time");
  await settle(page);
  await press(page, "+");
  await settle(page);
  const { hash } = new URL(page.url());
  await page.reload();
  await page.locator(".chip").first().waitFor();
  await settle(page);
  assert.equal(new URL(page.url()).hash, hash);
  assert.match(await text(page, "details"), /^session-03/);
});

test("two tabs see the same", async () => {
  const first = await open(review.address);
  const second = await open(review.address);
  const before = await done(second);
  await first.bringToFront();
  await press(first, "x");
  await saved(first);
  await second.bringToFront();
  await until(second, "progress-words", new RegExp(`${before + 1} done`));
});

test("the slider accepts the sure ones, and U takes all of them back", async () => {
  const page = await open(review.address);
  await page.locator("#above").fill("0.99");
  await until(page, "above-words", /0\.990/);
  await page.waitForTimeout(400);
  const [, count] = /accepts (\d+) of/.exec(await text(page, "bulk-words"));
  const before = await done(page);
  await page.locator("#bulk").click();
  await until(page, "saved", new RegExp(`^Saved\\. ${count} items accepted`));
  assert.equal(last().decide.length, Number(count));
  await until(page, "details", /spot check/);
  await until(page, "progress-words", new RegExp(`${before + Number(count)} done`));
  await page.locator("#question").focus();
  await press(page, "u");
  await until(page, "saved", /^Undone/);
  await until(page, "progress-words", new RegExp(`${before} done`));
});

test("the server goes and comes back: what was decided is still there", async () => {
  const page = await open(review.address);
  await settle(page);
  const { port } = new URL(review.address);
  const [before, here] = [await done(page), item(page)];
  await review.stop();
  await press(page, "Enter");
  await until(page, "trouble-words", /does not answer/);
  await until(page, "unsaved", /./);
  assert.equal(await text(page, "saved"), "Not saved yet");
  assert.equal(review.lines().some(({ what }) => what.decide?.[0].item === here), false);
  troubles.splice(0);
  review = await startReview(review.log, "--reviewer", "Ada", "--port", port);
  troubles.splice(0);
  const again = await open(review.address);
  assert.equal(await done(again), before);
  await page.close();
  await settle(again);
  troubles.splice(0);
});

/**
 * Somebody who knows an event when seeing one settles fifty presses, and sees of the page only its words: is the
 * chosen place an event? Enter. Otherwise the next candidate; none left: X.
 */
test("fifty presses are settled with few keys and no waiting", async t => {
  await review.stop();
  review = await startReview(undefined, "--reviewer", "Grace");
  const truth = trueTimes();
  const page = await open(review.address);
  await settle(page);
  const seconds = words => words.replace(/ s$/, "").split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
  const isEvent = (session, when) => (truth.get(session) ?? []).some(time => Math.abs(time - seconds(when)) < 0.06);
  let [keys, corrections, correctionKeys] = [0, 0, 0];
  const waits = [];
  for (let k = 0; k < 50; k += 1) {
    const [session] = (await text(page, "details")).split(" · ");
    const places = await chips(page);
    const right = places.findIndex(({ when }) => /\d/.test(when) && isEvent(session, when));
    const used = right < 0 ? ["x"] : [...Array(right).fill("ArrowRight"), "Enter"];
    const question = await text(page, "question") + session;
    const begin = performance.now();
    await press(page, ...used);
    await page.waitForFunction(old => document.querySelector("#question").textContent + document.querySelector("#details").textContent.split(" · ")[0] !== old, question, { polling: "raf" });
    waits.push(performance.now() - begin);
    keys += used.length;
    if (right !== 0) {
      corrections += 1;
      correctionKeys += used.length;
    }
  }
  waits.sort((a, b) => a - b);
  t.diagnostic(`50 presses: ${(keys / 50).toFixed(2)} keys each; ${corrections} were corrected with ${(correctionKeys / corrections).toFixed(2)} keys each`);
  t.diagnostic(`from first key to next press: median ${(waits[25] / 1000).toFixed(2)} s, longest ${(waits[49] / 1000).toFixed(2)} s`);
  // 1.35 s to think and 0.28 s a key: Card, Moran and Newell's keystroke-level model.
  t.diagnostic(`with 1.35 s to think and 0.28 s a key: ${(1.35 + (0.28 * correctionKeys) / corrections + waits[25] / 1000).toFixed(1)} s per correction`);
  await until(page, "progress-words", /50 done/);
  const names = review.lines()[0].what.begin.sessions.map(({ name }) => name);
  const settled = review.lines().flatMap(({ what }) => what.decide ?? []);
  assert.equal(settled.length, 50);
  for (const { item: id, action, time } of settled.filter(({ action }) => action !== "reject")) {
    const events = truth.get(names[Number(/\d+/.exec(id)[0])]);
    assert.ok(events.some(event => Math.abs(event - time) < 1e-6), `${id} was ${action} to no event`);
  }
  assert.ok(keys / 50 < 3, `${keys} keys`);
  assert.ok(waits[25] < 1000, `${waits[25]} ms`);
});
