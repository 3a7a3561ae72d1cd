// Keys for the whole page: settling is all that it is for. Fields and open dialogs keep theirs.

const FIELDS = "input, select, textarea, dialog";

/** `keys` maps a key, "Shift+" before it where that matters, to what it does; `deciding` are those not to repeat. */
export function listenToKeys(keys, deciding) {
  document.addEventListener("keydown", event => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest?.(FIELDS)) return leaveField(event);
    // Enter presses the button that has the focus, except a candidate that is chosen already.
    if (event.key === "Enter" && event.target.closest?.("button, summary, a") && !event.target.closest('.chip[aria-pressed="true"]')) return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = (event.shiftKey && keys[`Shift+${name}`]) || keys[name];
    if (!action) return;
    event.preventDefault();
    // A key held down must not settle what nobody has seen.
    if (event.repeat && deciding.has(name)) return;
    action();
  });
}

function leaveField(event) {
  if (event.key !== "Escape" || event.target.closest("dialog")) return;
  event.target.blur();
}
