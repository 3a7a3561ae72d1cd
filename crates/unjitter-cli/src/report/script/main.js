// Puts the page together.

connectTheme();
const rawSessions = JSON.parse(byId("sessions").textContent);
if (rawSessions.length) {
  const decoded = new Map();
  const view = createView(rawSessions.length, index => {
    if (!decoded.has(index)) decoded.set(index, decodeSession(rawSessions[index]));
    return decoded.get(index);
  });
  const lanes = byId("lanes");
  const timeline = createTimeline(view, lanes, byId("tooltip"));
  createOverview(view, byId("overview"));
  createPicker(view, rawSessions);
  announceChanges(view);
  listenToPointers(view, timeline, lanes);
  connectButtons(listenToKeys(view, timeline, byId("timeline")));
  keepAddress(view);
}
