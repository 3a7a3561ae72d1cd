// Opens the page in headless Chromium, and says where its view stands.

import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

assert.ok(process.env.UNJITTER_PAGE, "UNJITTER_PAGE must be the path of a page");
export const address = pathToFileURL(process.env.UNJITTER_PAGE).href;

let browser;
export let context;
export const troubles = [];

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // Nothing of Chromium's own goes out to the network either.
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
    ],
  });
});
after(() => browser.close());
afterEach(async () => {
  await context?.close();
  assert.deepEqual(troubles.splice(0), [], "errors or requests of the page");
});

/** A fresh page; errors, refused scripts and requests are kept for `afterEach`. */
export async function open(hash = "", options = {}) {
  context = await browser.newContext({ viewport: { width: 1200, height: 1400 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.on("console", message => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
  page.on("pageerror", error => troubles.push(error.message));
  page.on("request", request => request.url().split("#")[0] !== address && !request.url().startsWith("data:") && troubles.push(request.url()));
  await page.goto(address + hash);
  await settle(page);
  return page;
}

export async function tooltip(page) {
  await settle(page);
  assert.equal(await page.locator("#tooltip").isVisible(), true, "a tooltip is shown");
  return page.locator("#tooltip").innerText();
}

/** Until drawing, address and announcements have come to rest. */
export const settle = page => page.waitForTimeout(450);

export async function view(page) {
  await settle(page);
  const [, session, from, to] = /#s=(\d+)&t=(-?[\d.]+)-(-?[\d.]+)$/.exec(new URL(page.url()).hash);
  return { session: Number(session), from: Number(from), to: Number(to), span: to - from };
}

export const drawn = (page, mark) => page.locator(`#lanes path.${mark}`).first().getAttribute("d");
/** Found and read in one go: a node that is redrawn in between has no style any more. */
export const colour = (page, selector, property) =>
  page.evaluate(([found, name]) => getComputedStyle(document.querySelector(found))[name], [selector, property]);

export async function box(page, selector = "#lanes") {
  await page.locator(selector).scrollIntoViewIfNeeded();
  // A page that just scrolled keeps the wheel for a moment.
  await settle(page);
  return page.locator(selector).boundingBox();
}

/** A place over the timeline, in the window. */
export async function middle(page) {
  const { x, y, width } = await box(page);
  return [x + width * 0.55, y + 60];
}

export async function key(page, ...names) {
  await page.focus("#lanes");
  for (const name of names) await page.keyboard.press(name);
}
