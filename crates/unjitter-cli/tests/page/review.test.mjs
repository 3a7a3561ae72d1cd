// Drives the page of review in headless Chromium against a made-up server; `make page-test` runs it.

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";

import { chips, chosen, item, nextItem, open, painted, placeOf, press, settle, text, troubles, until } from "./review-browser.mjs";
import { startMock } from "./review-mock.mjs";

const ORANGE = [230, 159, 0];
const BLUE = [0, 114, 178];
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/** A press with several likely places. */
const DOUBTFUL = "#item=s1-19";

let mock;
beforeEach(async () => (mock = await startMock()));
afterEach(() => mock.stop());

const last = () => mock.log.at(-1)?.decisions[0];
const saved = page => until(page, "saved", /^Saved\. /);

describe("what is asked", () => {
  test("the least sure press comes first, with its places by probability", async () => {
    const page = await open(mock.address);
    await settle(page);
    const { candidates, p_spurious: nothing, stamp } = mock.item(item(page));
    assert.match(await text(page, "question"), /^Pressed at \d+:\d\d\.\d$/);
    const shown = await chips(page);
    const chances = shown.map(({ chance }) => parseFloat(chance.replace(/[<>]/, "")));
    assert.deepEqual(chances, chances.slice().sort((a, b) => b - a));
    const expected = [...candidates.filter(({ p }) => p >= 0.005).map(({ p }) => p), nothing].sort((a, b) => b - a);
    assert.deepEqual(chances, expected.map(p => Math.max(1, Math.round(100 * p))));
    assert.equal(shown.filter(chip => chip.chosen).length, 1);
    const best = shown.find(({ when }) => when !== "for nothing");
    const delay = stamp - candidates[0].time;
    assert.ok(Math.abs(parseFloat(best.late) - Math.abs(delay)) <= 0.051, best.late);
    assert.match(best.late, delay > 0 ? /late$/ : /early$/);
  });

  test("names from files are text, and nothing is refused by the policy", async () => {
    const page = await open(mock.address, DOUBTFUL);
    assert.match(await text(page, "details"), /<b>p2<\/b> evening/);
    assert.match(await text(page, "details"), /Grace \d+:\d\d/);
    assert.equal(await page.getByRole("link", { name: "video.mp4" }).getAttribute("href"), "https://example.invalid/19.mp4");
    await page.locator("#findings summary").click();
    assert.match(await text(page, "finding-list"), /<i>differ<\/i>/);
    assert.equal(await page.locator("#queue b, #details b, #finding-list i").count(), 0);
  });

  test("a link that leads to no web page is words", async () => {
    const page = await open(mock.address, "#item=s0-1");
    assert.match(await text(page, "details"), /video\.mp4 at/);
    assert.equal(await page.locator("#details a").count(), 0);
  });

  test("the posterior is drawn where the candidates are", async () => {
    const page = await open(mock.address, DOUBTFUL);
    const found = mock.item("s1-19");
    const best = await placeOf(page, found.candidates[0].time);
    await page.waitForTimeout(200);
    const share = time => (best.x - best.box.x + ((time - found.candidates[0].time) / 60) * (best.box.width - 130)) / best.box.width;
    const around = (time, colour) => painted(page, colour, { from: share(time) - 0.006, to: share(time) + 0.006, top: 240, bottom: 285 });
    const [first, second] = found.candidates;
    assert.ok(await around(first.time, ORANGE) > await around(second.time, ORANGE), "the bar of the best is the highest");
    assert.ok(await around(second.time, ORANGE) > 0);
    assert.equal(await around(found.neighbours[0].time, ORANGE), 0, "no bar where it hardly belongs");
  });

  test("progress, what was learned and the last change are told", async () => {
    const page = await open(mock.address);
    assert.match(await text(page, "progress-words"), /^63 items left, about 4 min · 0 done$/);
    assert.match(await text(page, "fit-facts"), /typical delay\s+2 s\s+1\.6 s to 2\.4 s/);
    await press(page, "s");
    await until(page, "fit-words", /delay 2\.1 s → 2\.0 s/);
    assert.match(await text(page, "progress-words"), /^62 items left, about 4 min · 1 done$/);
  });
});

describe("deciding with keys", () => {
  test("Enter accepts the best place, and the next item comes", async () => {
    const page = await open(mock.address, "#item=s0-3");
    await settle(page);
    const best = mock.item("s0-3").candidates[0].instance;
    await press(page, "Enter");
    await saved(page);
    assert.deepEqual(last(), ["s0-3", { action: "accept", instance: best }]);
    await nextItem(page, "s0-3");
  });

  test("arrows walk by probability, and Enter then moves", async () => {
    const page = await open(mock.address, "#item=s0-3");
    const before = await chips(page);
    await press(page, "ArrowRight");
    assert.equal((await chosen(page)).when, before[1].when);
    await press(page, "ArrowLeft", "ArrowLeft");
    assert.equal((await chosen(page)).when, before.at(-1).when);
    await press(page, "2");
    assert.equal((await chosen(page)).when, before[1].when);
    assert.match(await text(page, "accept-words"), before[1].when === "for nothing" ? /^Pressed for nothing/ : /^Move to/);
    assert.match(await page.locator("#choice-words").textContent(), /^candidate 2 of/);
    const { candidates } = mock.item("s0-3");
    await press(page, before[1].when === "for nothing" ? "3" : "2", "Enter");
    await saved(page);
    assert.deepEqual(last(), ["s0-3", { action: "move", instance: candidates[1].instance }]);
  });

  test("Shift and arrows walk by time", async () => {
    const page = await open(mock.address, "#item=s0-3");
    const { candidates, neighbours } = mock.item("s0-3");
    const here = neighbours.findIndex(({ instance }) => instance === candidates[0].instance);
    await press(page, "Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft", "Enter");
    await saved(page);
    assert.deepEqual(last(), ["s0-3", { action: "move", instance: neighbours[here - 3].instance }]);
  });

  test("X rejects, S skips, U takes back and R does again", async () => {
    const page = await open(mock.address, "#item=s0-3");
    await settle(page);
    await press(page, "x");
    await saved(page);
    assert.deepEqual(last(), ["s0-3", { action: "reject", instance: null }]);
    const second = await nextItem(page, "s0-3");
    await press(page, "s");
    await until(page, "saved", /skipped$/);
    assert.deepEqual(last(), [second, { action: "skip", instance: null }]);
    await nextItem(page, second);
    await press(page, "u");
    await until(page, "saved", /^Undone/);
    assert.equal(mock.log.length, 1);
    while (item(page) !== second) await page.waitForTimeout(20);
    await press(page, "r");
    await until(page, "saved", /^Done again/);
    assert.equal(mock.log.length, 2);
  });

  test("M adds an event where it was missed, and the press stays in question", async () => {
    const page = await open(mock.address, "#item=s0-3");
    const { candidates, neighbours } = mock.item("s0-3");
    const here = neighbours.findIndex(({ instance }) => instance === candidates[0].instance);
    await press(page, "Shift+ArrowRight", "m");
    await until(page, "saved", /event added at/);
    const { instance } = neighbours[here + 1];
    assert.deepEqual(last(), [`m0-${instance}`, { action: "add", instance }]);
    await settle(page);
    assert.equal(item(page), "s0-3");
  });

  test("a missed event is confirmed with Enter and refused with X", async () => {
    const page = await open(mock.address, "#item=m0-47");
    assert.match(await text(page, "question"), /^Missed event at .*\?$/);
    await press(page, "Enter");
    await until(page, "saved", /missed event at/);
    assert.deepEqual(last(), ["m0-47", { action: "missed", instance: 47 }]);
    await nextItem(page, "m0-47");
    // Until the next item has come keys settle nothing.
    await settle(page);
    await press(page, "u");
    await until(page, "saved", /^Undone/);
    await until(page, "question", /^Missed event/);
    await press(page, "x");
    await saved(page);
    assert.deepEqual(last(), ["m0-47", { action: "reject", instance: null }]);
    await nextItem(page, "m0-47");
    // Until the next item has come keys settle nothing.
    await settle(page);
    await press(page, "u");
    await until(page, "question", /^Missed event/);
    await press(page, "Shift+ArrowRight", "Enter");
    await until(page, "saved", /moved to/);
    assert.deepEqual(last(), ["m0-47", { action: "move", instance: 48 }]);
  });

  test("a key held down settles one item only", async () => {
    const page = await open(mock.address, "#item=s0-3");
    for (let k = 0; k < 8; k += 1) {
      await page.keyboard.down("Enter");
      await page.waitForTimeout(30);
    }
    await page.keyboard.up("Enter");
    await saved(page);
    assert.equal(mock.log.length, 1);
  });

  test("help opens with ?, keeps the keys, and closes with Escape", async () => {
    const page = await open(mock.address);
    await press(page, "?");
    assert.equal(await page.locator("#help").isVisible(), true);
    await press(page, "x", "Escape");
    assert.equal(await page.locator("#help").isVisible(), false);
    await settle(page);
    assert.equal(mock.log.length, 0);
  });
});

describe("what counts as saved", () => {
  test("nothing is called saved before the server says so", async () => {
    mock.stop();
    mock = await startMock({ delay: 500 });
    const page = await open(mock.address, "#item=s0-3");
    await press(page, "Enter");
    await page.waitForTimeout(150);
    assert.equal(await text(page, "saved"), "Saving…");
    assert.equal(mock.log.length, 0);
    await saved(page);
    assert.equal(mock.log.length, 1);
  });

  test("with the server gone a decision is listed, kept over a reload of the tab, and sent when it is back", async () => {
    const page = await open(mock.address, "#item=s0-3");
    await page.waitForTimeout(300);
    mock.setDown(true);
    await press(page, "Enter");
    await until(page, "trouble-words", /does not answer.*not saved:/);
    assert.match(await text(page, "unsaved"), /^Pressed at .*: accepted/);
    assert.equal(await text(page, "saved"), "Not saved yet");
    assert.equal(mock.log.length, 0);
    const kept = await page.evaluate(() => JSON.parse(sessionStorage.getItem("unjitter-review-unsaved/TOKEN/")));
    assert.equal(kept.length, 1);
    mock.setDown(false);
    await saved(page);
    assert.equal(last()[0], "s0-3");
    await page.waitForTimeout(100);
    assert.equal(await page.locator("#trouble").isVisible(), false);
    assert.equal(await text(page, "unsaved"), "");
    assert.ok(troubles.splice(0).every(words => /net::ERR/.test(words)));
  });

  test("keys wait for the next item: a second one never settles the first again", async () => {
    mock.stop();
    mock = await startMock({ delay: 300 });
    const page = await open(mock.address, "#item=s0-3");
    await page.waitForTimeout(1500);
    await press(page, "Enter");
    await saved(page);
    await press(page, "x", "x");
    await nextItem(page, "s0-3");
    assert.deepEqual(mock.log.map(({ decisions: [[, { action }]] }) => action), ["accept"]);
  });

  test("another server at the same port gets nothing, and what is unsaved stays listed", async () => {
    const page = await open(mock.address, "#item=s0-3");
    await page.route("**/api/**", route => route.fulfill({ status: 404, body: "" }));
    await press(page, "Enter");
    await until(page, "trouble-words", /^This review has ended.*not saved:$/);
    assert.match(await text(page, "unsaved"), /accepted/);
    troubles.splice(0);
  });

  test("what was chosen stays chosen when something new is learned", async () => {
    const page = await open(mock.address, "#item=s0-3");
    await press(page, "ArrowRight");
    const before = await chosen(page);
    mock.tilt = 3;
    mock.fits += 1;
    mock.bump();
    await page.waitForFunction(old => document.querySelector('.chip[aria-pressed="true"] .chance').textContent !== old, before.chance);
    assert.equal((await chosen(page)).when, before.when);
    await settle(page);
    assert.equal(item(page), "s0-3");
  });

  test("a refusal is told with its reason", async () => {
    const page = await open(mock.address, "#item=s0-3");
    await page.route("**/api/decide", route => route.fulfill({ status: 409, contentType: "application/json", body: '{"error":"the data have changed"}' }));
    await press(page, "Enter");
    await until(page, "saved", /^Not saved: .*the data have changed$/);
    assert.equal(await page.locator("#trouble").isVisible(), false);
    troubles.splice(0);
  });
});

describe("mouse and touch", () => {
  test("the press is dragged to the instance where it belongs", async () => {
    const page = await open(mock.address, "#item=s0-3");
    const { stamp, neighbours } = mock.item("s0-3");
    const target = neighbours[7];
    const [{ x, box }, { x: goal }] = [await placeOf(page, stamp), await placeOf(page, target.time)];
    const y = box.y + box.height - 45;
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move((x + goal) / 2, y - 20, { steps: 4 });
    await page.mouse.move(goal + 3, y - 60, { steps: 4 });
    await page.mouse.up();
    await press(page, "Enter");
    await saved(page);
    assert.deepEqual(last(), ["s0-3", { action: "move", instance: target.instance }]);
  });

  test("dragging beside the press moves the view, and 0 comes back", async () => {
    const page = await open(mock.address, "#item=s0-3");
    await settle(page);
    const before = new URL(page.url()).hash;
    const box = await page.locator("#canvas").boundingBox();
    await page.mouse.move(box.x + 500, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 400, box.y + 60, { steps: 5 });
    await page.mouse.up();
    await settle(page);
    assert.notEqual(new URL(page.url()).hash, before);
    await press(page, "0");
    await settle(page);
    assert.equal(new URL(page.url()).hash, before);
  });

  test("a candidate is tapped and accepted with a finger", async () => {
    const page = await open(mock.address, "#item=s0-3", PHONE);
    const second = (await chips(page)).findIndex(({ when }, k) => k > 0 && when !== "for nothing");
    await page.locator(".chip").nth(second).tap();
    assert.equal((await chips(page))[second].chosen, true);
    await page.locator("#accept").tap();
    await saved(page);
    assert.equal(last()[1].action, "move");
  });

  test("after a click on a button Enter accepts, and does not press it again", async () => {
    const page = await open(mock.address, "#item=s0-3");
    await settle(page);
    await page.locator("#skip").click();
    await until(page, "saved", /skipped$/);
    const second = await nextItem(page, "s0-3");
    await press(page, "Enter");
    await nextItem(page, second);
    assert.notEqual(last()[1].action, "skip");
    assert.equal(last()[0], second);
  });

  test("another press is opened by a click on it", async () => {
    const page = await open(mock.address, "#item=s0-3");
    const { stamp } = mock.item("s0-4");
    const { x, box } = await placeOf(page, Math.min(stamp, mock.item("s0-3").to - 1));
    const { x: exact } = await placeOf(page, stamp);
    if (exact > box.x + box.width) await press(page, "-", "-");
    const { x: there } = await placeOf(page, stamp);
    await page.mouse.click(there, box.y + box.height - 40);
    await nextItem(page, "s0-3");
    assert.equal(item(page), "s0-4");
    assert.ok(x);
  });
});

describe("the list", () => {
  test("another order begins with its own first", async () => {
    const page = await open(mock.address);
    await page.selectOption("#order", "session");
    await until(page, "details", /^p1 morning/);
    await settle(page);
    assert.equal(item(page), "s0-0");
    assert.match(page.url(), /order=session/);
  });

  test("/ searches a session, Enter opens its first, N and P walk", async () => {
    const page = await open(mock.address);
    await press(page, "/");
    await page.keyboard.type("xs");
    await until(page, "queue-words", /^nothing matches$/);
    assert.equal(mock.log.length, 0, "letters typed in the field decide nothing");
    await press(page, "Backspace", "Backspace");
    await page.keyboard.type("night");
    await until(page, "queue-words", /^21 items$/);
    await press(page, "Enter");
    await until(page, "details", /^p3 night/);
    assert.match(await text(page, "question"), /09:/, "times of the day where they are known");
    await settle(page);
    const first = item(page);
    await press(page, "n");
    const second = await nextItem(page, first);
    await press(page, "p");
    await nextItem(page, second);
    assert.equal(item(page), first);
  });

  test("of ten thousand items only those in sight exist", async () => {
    mock.stop();
    mock = await startMock({ sessions: [[130000, 10000]] });
    const page = await open(mock.address);
    await until(page, "queue-words", /^10.001 items$/);
    assert.ok(await page.locator(".row").count() < 25);
    await page.locator("#queue").focus();
    await press(page, "End");
    await page.locator('.row[aria-posinset="10001"][aria-selected="true"]').waitFor();
    assert.ok(await page.locator(".row").count() < 25);
    assert.equal(await page.locator("#queue").getAttribute("aria-activedescendant"), "row-10000");
    assert.ok(mock.requests.filter(path => path.includes("/queue")).length < 12);
  });

  test("what is decided is marked", async () => {
    const page = await open(mock.address, "#order=time");
    await press(page, "x");
    await page.locator(".row.done").first().waitFor();
    assert.match(await page.locator(".row.done").first().innerText(), /rejected/);
  });
});

describe("the sure ones at once", () => {
  test("the slider says what it would cost, and a sample is then looked at", async () => {
    const page = await open(mock.address);
    await until(page, "bulk-words", /^accepts \d+ of 60, expected errors \d+\.\d$/);
    const before = Number((await text(page, "bulk-words")).match(/\d+/)[0]);
    await page.locator("#above").focus();
    await page.locator("#above").fill("0.9");
    await until(page, "above-words", /^0\.900$/);
    const all = mock.item("s0-0") && await until(page, "bulk-words", new RegExp(`^accepts (?!${before} )\\d+ of 60`));
    const count = Number(all.match(/\d+/)[0]);
    assert.ok(count > before);
    await page.locator("#bulk").click();
    await until(page, "saved", new RegExp(`^Saved\\. ${count} items accepted, expected errors [\\d.]+\\. Now look at 3 of them\\.`));
    assert.equal(await page.evaluate(() => document.activeElement.id), "question", "Enter must not accept all again");
    const checks = mock.log[0].decisions.slice(0, 3).map(([id]) => id);
    for (const [k, check] of checks.entries()) {
      await until(page, "details", k < 2 ? new RegExp(`spot check, ${2 - k} more$`) : /spot check, the last$/);
      await settle(page);
      assert.equal(item(page), check);
      mock.fits += 1;
      mock.bump();
      await page.waitForTimeout(200);
      assert.match(await text(page, "details"), /spot check/, "also when something new is learned");
      await press(page, "Enter");
      await saved(page);
    }
    await nextItem(page, checks[2]);
    assert.doesNotMatch(await text(page, "details"), /spot check/);
  });
});

describe("places and people", () => {
  test("a reload comes back to the item and the range", async () => {
    const page = await open(mock.address, "#item=s2-7&order=time");
    await press(page, "+", "+");
    await settle(page);
    const before = new URL(page.url()).hash;
    await page.reload();
    await page.locator(".chip").first().waitFor();
    await settle(page);
    assert.equal(new URL(page.url()).hash, before);
    assert.match(before, /item=s2-7&order=time/);
    assert.equal(await page.locator("#order").inputValue(), "time");
  });

  test("a second tab hears of what the first decides", async () => {
    const first = await open(mock.address, "#item=s0-3");
    const second = await open(mock.address, "#item=s0-5");
    await first.bringToFront();
    await press(first, "Enter");
    await saved(first);
    await second.bringToFront();
    await until(second, "progress-words", /^62 items left.* 1 done$/);
    await settle(second);
    assert.equal(item(second), "s0-5", "its own place stays");
  });

  test("a disagreement is listed and opens its item", async () => {
    const page = await open(mock.address);
    assert.equal(await page.locator("#conflicts").isVisible(), false);
    mock.conflicts = [{ item: "s1-4", by: [{ reviewer: "Ada", action: "accept", instance: 52 }, { reviewer: "<b>Bo</b>", action: "reject", instance: null }] }];
    mock.bump();
    await page.locator("#conflicts summary").click();
    assert.match(await text(page, "conflict-list"), /Ada: accepted instance 52 · <b>Bo<\/b>: rejected/);
    await page.locator("#conflict-list button").click();
    while (item(page) !== "s1-4") await page.waitForTimeout(20);
  });
});

describe("for everybody", () => {
  test("every control has a name and a place in the order of Tab", async () => {
    const page = await open(mock.address, "#item=s0-3");
    const unnamed = await page.locator("button, select, input, [role=listbox], [role=application]").evaluateAll(nodes => nodes
      .filter(node => node.checkVisibility() && !(node.ariaLabel || node.getAttribute("aria-labelledby") || node.labels?.length || node.textContent.trim()))
      .map(node => node.outerHTML));
    assert.deepEqual(unnamed, []);
    const seen = new Set();
    for (let k = 0; k < 40; k += 1) {
      await press(page, "Tab");
      const [id, outline] = await page.evaluate(() => {
        const node = document.activeElement;
        return [node === document.body ? "" : node.id || node.className, getComputedStyle(node).outlineStyle];
      });
      if (id) assert.notEqual(outline, "none", `focus of ${id} can be seen`);
      seen.add(id);
    }
    for (const id of ["help-button", "theme", "lanes", "accept", "reject", "add", "skip", "undo", "redo", "order", "search", "queue", "above", "bulk"]) assert.ok(seen.has(id), id);
  });

  test("screen readers hear what is saved and what is chosen", async () => {
    const page = await open(mock.address, "#item=s0-3");
    for (const id of ["saved", "choice-words"]) assert.equal(await page.locator(`#${id}`).getAttribute("aria-live"), "polite");
    await press(page, "ArrowRight");
    assert.match(await page.locator("#choice-words").textContent(), /^candidate 2 of \d: .*probability/);
    await press(page, "Enter");
    await saved(page);
    await until(page, "choice-words", /^(Pressed|Missed event) at .*candidate 1 of/);
  });

  test("the list says what its rows are", async () => {
    const page = await open(mock.address);
    await page.getByRole("option", { name: /^press at 11:59, <b>p2<\/b> evening, 56 %$/ }).waitFor();
    await page.getByRole("option", { name: /^probably missed event at 09:02:21, p3 night, 70 %$/ }).waitFor();
  });

  test("a phone has everything needed to decide on one screen, in reach of a thumb", async () => {
    const page = await open(mock.address, DOUBTFUL, PHONE);
    await settle(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 390));
    const small = await page.locator("button, select, input, .row, summary").evaluateAll(nodes => nodes
      .filter(node => node.checkVisibility()).map(node => [node.id || node.className, node.getBoundingClientRect()])
      .filter(([, box]) => box.height < 44 || box.width < 44).map(([name]) => name));
    assert.deepEqual(small, []);
    for (const id of ["question", "canvas", "accept", "reject", "skip", "undo"]) {
      const box = await page.locator(`#${id}`).boundingBox();
      assert.ok(box.y >= 0 && box.y + Math.min(box.height, 300) <= 844, id);
    }
    const [chip, actions] = [await page.locator(".chip").first().boundingBox(), await page.locator(".actions").boundingBox()];
    assert.ok(chip.y + chip.height <= actions.y, "the buttons do not cover the candidates");
    await press(page, "ArrowLeft");
    const far = await page.locator('.chip[aria-pressed="true"]').boundingBox();
    assert.ok(far.x >= 0 && far.x + far.width <= 390, "what is chosen can be seen");
  });

  test("the canvas follows the theme", async () => {
    const page = await open(mock.address, "#item=s0-3", { colorScheme: "dark" });
    await page.waitForTimeout(400);
    assert.equal(await painted(page, BLUE), 0);
    assert.ok(await painted(page, [75, 163, 227]) > 50);
    await page.locator("#theme").click();
    await page.waitForTimeout(200);
    assert.ok(await painted(page, BLUE) > 50);
  });

  test("nothing moves by itself for those who asked for that", async () => {
    const page = await open(mock.address);
    assert.equal(await page.locator("#fit-words").evaluate(node => {
      node.classList.add("running");
      return getComputedStyle(node).animationName;
    }), "none");
  });
});
