// Opens the page of review in headless Chromium, and reads what it shows.

import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import { chromium } from "playwright-core";

let browser;
export let context;
/** Errors, refused scripts and requests to anywhere else; a test that wants some takes them out. */
export const troubles = [];

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
    ],
  });
});
after(() => browser.close());
afterEach(async () => {
  await context?.close();
  context = null;
  assert.deepEqual(troubles.splice(0), [], "errors or requests of the page");
});

/** A page at an address; a second call opens a second tab unless `options` ask for another kind of screen. */
export async function open(address, hash = "", options = null) {
  if (!context || options) {
    await context?.close();
    context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, reducedMotion: "reduce", ...options });
  }
  const page = await context.newPage();
  page.on("console", message => ["error", "warning"].includes(message.type()) && troubles.push(message.text()));
  page.on("pageerror", error => troubles.push(error.message));
  page.on("request", request => !request.url().startsWith(address) && troubles.push(request.url()));
  await page.goto(address + hash);
  await page.locator(".chip").first().waitFor();
  return page;
}

export const text = (page, id) => page.locator(`#${id}`).innerText();

/** Until the text of an element matches, or the test fails with what it is. */
export async function until(page, id, pattern, patience = 5000) {
  const end = Date.now() + patience;
  let now = "";
  while (Date.now() < end) {
    now = await page.locator(`#${id}`).textContent();
    if (pattern.test(now)) return now;
    await page.waitForTimeout(20);
  }
  assert.match(now, pattern);
  return now;
}

export const chips = page => page.locator(".chip").evaluateAll(nodes => nodes.map(node => ({
  when: node.querySelector(".when").textContent,
  late: node.querySelector(".late")?.textContent ?? "",
  chance: node.querySelector(".chance").textContent,
  chosen: node.getAttribute("aria-pressed") === "true",
})));
export const chosen = async page => (await chips(page)).find(chip => chip.chosen);
export const press = (page, ...keys) => keys.reduce((done, key) => done.then(() => page.keyboard.press(key)), Promise.resolve());

/** Waits for another item than the one of this address. */
export const item = page => new URL(page.url()).hash.match(/item=([^&]*)/)?.[1] ?? null;
export async function nextItem(page, before) {
  const end = Date.now() + 5000;
  while (Date.now() < end && item(page) === before) await page.waitForTimeout(20);
  assert.notEqual(item(page), before, "another item is shown");
  return item(page);
}
/** The place is written to the address once things have come to rest. */
export const settle = page => page.waitForTimeout(350);

/** How many pixels of the canvas, between two shares of its width and heights in pixels, are near a colour. */
export const painted = (page, colour, { from = 0, to = 1, top = 0, bottom = 1e4 } = {}) => page.evaluate(([wanted, left, right, high, low]) => {
  const canvas = document.querySelector("#canvas");
  const density = canvas.width / canvas.clientWidth;
  const [x, y] = [Math.round(left * canvas.width), Math.round(high * density)];
  const [width, height] = [Math.max(1, Math.round((right - left) * canvas.width)), Math.min(canvas.height, Math.round(low * density)) - y];
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(x, y, width, height);
  let count = 0;
  for (let k = 0; k < data.length; k += 4) {
    if (data[k + 3] > 200 && Math.abs(data[k] - wanted[0]) + Math.abs(data[k + 1] - wanted[1]) + Math.abs(data[k + 2] - wanted[2]) < 24) count += 1;
  }
  return count;
}, [colour, from, to, top, bottom]);

/** A place on the canvas in the window, by time. */
export async function placeOf(page, time) {
  await settle(page);
  const [, from, to] = /t=(-?[\d.]+)-(-?[\d.]+)/.exec(new URL(page.url()).hash);
  const box = await page.locator("#canvas").boundingBox();
  const left = box.width < 640 ? 2 : 128;
  return { x: box.x + left + ((time - from) / (to - from)) * (box.width - 2 - left), box };
}
