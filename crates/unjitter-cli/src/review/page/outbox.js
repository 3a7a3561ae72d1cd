// Decisions on their way. One is saved when the server says so, not before; if it does not answer, they wait here.

import { Gone, post } from "./server.js";

/** By the address, which is another for each run of the server: what waits must never reach other data. */
const SHELF = `unjitter-review-unsaved${location.pathname}`;

export function createOutbox({ onSaved, onRefused, onWaiting, onGone }) {
  // Kept over a reload; a tab of its own each, so that two tabs never send the same one.
  const waiting = JSON.parse(sessionStorage.getItem(SHELF) ?? "[]");
  let sending = false;

  const keep = () => {
    sessionStorage.setItem(SHELF, JSON.stringify(waiting));
    onWaiting(waiting);
  };

  /** Sends what waits, oldest first: a later decision on the same press must win. */
  async function send() {
    if (sending) return;
    sending = true;
    while (waiting.length) {
      const first = waiting[0];
      try {
        const reply = await post("decide", first.decision);
        waiting.shift();
        keep();
        await onSaved(first, reply, waiting.length);
      } catch (error) {
        if (error instanceof Gone) {
          onGone(error);
          break;
        }
        waiting.shift();
        keep();
        onRefused(first, error.message);
      }
    }
    sending = false;
    keep();
  }

  return {
    send,
    /** `words` say what was decided, for people. */
    add: (decision, words) => {
      waiting.push({ decision, words });
      sessionStorage.setItem(SHELF, JSON.stringify(waiting));
      return send();
    },
    waiting: () => waiting.length,
  };
}
