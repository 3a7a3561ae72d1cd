// What the page asks of the server. No answer is told apart from a refusal: only the first is worth a retry.

export class Gone extends Error {}

async function ask(path, options = {}) {
  let reply;
  try {
    reply = await fetch(`api/${path}`, { cache: "no-store", ...options });
  } catch (error) {
    throw new Gone("The server does not answer. Is unjitter review still running?", { cause: error });
  }
  const text = await reply.text();
  // Another server is at this port: it knows nothing of this page's address, and says nothing.
  if (reply.status >= 400 && !text) throw new Gone("This review has ended. Open the address that unjitter review prints now.");
  if (!reply.ok) throw new Error(refusal(text) || `the server refused (${reply.status})`);
  return JSON.parse(text);
}

/** The server's reason, as text or as {"error": text}. */
function refusal(text) {
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    return text;
  }
}

export const get = (path, fields = {}) => ask(Object.keys(fields).length ? `${path}?${new URLSearchParams(fields)}` : path);

export const post = (path, body = {}) =>
  ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

const rest = milliseconds => new Promise(wake => setTimeout(wake, milliseconds));

/** A tab in the background asks nothing: browsers allow a server only a few open requests. */
const untilVisible = () => new Promise(wake => {
  if (!document.hidden) return wake();
  document.addEventListener("visibilitychange", wake, { once: true });
});

/** Calls `onRevision` at each change until the page closes, `onGone` and `onBack` as the server goes and comes. */
export async function follow(revision, { onRevision, onGone, onBack }) {
  let gone = false;
  for (;;) {
    await untilVisible();
    try {
      const reply = await get("changes", { since: revision });
      if (gone) onBack();
      gone = false;
      if (reply.revision === revision) await rest(100);
      else onRevision(revision = reply.revision);
    } catch (error) {
      gone ||= error instanceof Gone;
      if (gone) onGone(error);
      await rest(1000);
    }
  }
}
