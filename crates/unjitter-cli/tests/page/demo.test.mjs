// The report of `unjitter demo`, as a newcomer gets it; `make page-test` runs it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { drawn, key, middle, open, settle, tooltip, view } from "./browser.mjs";

test("the demo's report shows its sessions, figures and table", async () => {
  const page = await open();
  assert.equal(await page.locator("#session option").count(), 13);
  assert.equal(await page.locator("figure svg").count(), 9);
  // Six learners, two findings, ten intervals, the ten sessions that fit worst; each table with its head.
  assert.equal(await page.getByRole("row").count(), 7 + 3 + 11 + 11);
  for (const mark of ["signal", "p-positive", "stamp", "home", "truth", "detected"]) {
    assert.ok((await drawn(page, mark)).length > 10, mark);
  }
});

test("it zooms, switches sessions and walks from press to press", async () => {
  const page = await open();
  const before = await view(page);
  await page.mouse.move(...await middle(page));
  await page.mouse.wheel(0, -300);
  assert.ok((await view(page)).span < before.span);
  await key(page, "j");
  assert.equal((await view(page)).session, before.session + 1);
  await key(page, "n");
  assert.match(await tooltip(page), /press/i);
});

test("no heading is said twice", async () => {
  const page = await open();
  const headings = await page.locator("h2").allTextContents();
  assert.equal(new Set(headings).size, headings.length, headings.join());
  for (const card of await page.locator("figure").all()) {
    const heading = await card.locator("h2").textContent();
    const drawn = (await card.locator("svg text").allTextContents()).map(text => text.trim());
    assert.ok(!drawn.includes(heading), heading);
  }
});

test("letters in figures are ten pixels high on a phone", async () => {
  const page = await open("", { viewport: { width: 390, height: 844 } });
  const sizes = await page.locator("figure svg text").evaluateAll(texts => texts.map(text => {
    const svg = text.ownerSVGElement;
    return Number(text.getAttribute("font-size")) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  }));
  // The names of guides are drawn one smaller.
  assert.ok(Math.min(...sizes) > 9 && sizes.filter(size => size < 9.9).length <= 12, String(sizes.sort().slice(0, 20)));
});

test("it fits a phone", async () => {
  const page = await open("", { viewport: { width: 360, height: 740 } });
  await settle(page);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
});
