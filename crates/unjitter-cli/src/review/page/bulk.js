// All above a probability at once: first what that would cost, then a sample of it to look at.

import { get, post } from "./server.js";

export function createBulk({ onAccepted, onTrouble }) {
  const slider = byId("above");
  const button = byId("bulk");
  const words = byId("bulk-words");
  let timer = 0;
  let latest = 0;

  async function ask() {
    const number = (latest += 1);
    try {
      const reply = await get("acceptable", { above: slider.value });
      if (number !== latest) return;
      words.textContent = `accepts ${reply.would_accept} of ${reply.of}, expected errors ${reply.expected_errors.toFixed(1)}`;
      button.textContent = `Accept ${reply.would_accept}`;
      button.disabled = !reply.would_accept;
    } catch (error) {
      button.disabled = true;
      onTrouble(error);
    }
  }

  slider.addEventListener("input", () => {
    byId("above-words").textContent = Number(slider.value).toFixed(3);
    slider.setAttribute("aria-valuetext", `probability above ${Number(slider.value).toFixed(3)}`);
    clearTimeout(timer);
    timer = setTimeout(ask, 80);
  });

  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      onAccepted(await post("accept", { above: Number(slider.value) }));
    } catch (error) {
      onTrouble(error);
    }
    ask();
  });

  return { ask };
}
