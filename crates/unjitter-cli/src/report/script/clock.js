// Times for people: of the day where the recording knows it, elapsed otherwise.

/** Decimals that show a five-hundredth of `span`. */
const decimalsFor = span => clamp(Math.ceil(-Math.log10(span / 500)), 0, 9);

/** For exact numbers while `span` is in view: tenths of a second at least, but not when looking at days. */
const exactDecimals = span => Math.max(span < 36000 ? 1 : 0, decimalsFor(span));

const twoDigits = number => String(number).padStart(2, "0");

/** `seconds` split into days, hours, minutes and seconds, rounded first so that no 60 can appear. */
function split(seconds, decimals) {
  const ticks = Math.round(Math.abs(seconds) * 10 ** decimals);
  const whole = Math.floor(ticks / 10 ** decimals);
  const fraction = decimals ? "." + String(ticks % 10 ** decimals).padStart(decimals, "0") : "";
  return {
    sign: seconds < 0 && ticks > 0 ? "−" : "",
    whole, fraction,
    hours: Math.floor(whole / 3600),
    minutes: Math.floor(whole / 60) % 60,
    seconds: whole % 60,
  };
}

function timeOfDay(seconds, decimals) {
  const day = 86400;
  const { hours, minutes, seconds: rest, fraction } = split(((seconds % day) + day) % day, decimals);
  return `${twoDigits(hours % 24)}:${twoDigits(minutes)}:${twoDigits(rest)}${fraction}`;
}

/** The style depends on the longest time of the session, so that all its times look alike. */
function elapsed(seconds, decimals, longest) {
  const parts = split(seconds, decimals);
  const { sign, whole, fraction, hours, minutes } = parts;
  if (longest < 60 || longest >= 1e6) return `${sign}${whole}${fraction} s`;
  if (longest < 3600) return `${sign}${Math.floor(whole / 60)}:${twoDigits(parts.seconds)}${fraction}`;
  return `${sign}${hours}:${twoDigits(minutes)}:${twoDigits(parts.seconds)}${fraction}`;
}

/** Time zero by the clock on the wall there, as if it were Greenwich's; NaN if `start` is no calendar time. */
function secondsOfStart(start) {
  const parts = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)/.exec(start ?? "");
  return parts ? Date.parse(`${parts[1]}T${parts[2]}Z`) / 1000 : NaN;
}

const monthAndDay = seconds => new Date(seconds * 1000).toISOString().slice(5, 10);

/** Gives `format(time, decimals)` for the times of one session, and what to add to them to get round clock times. */
function createClock(session) {
  const start = secondsOfStart(session.start);
  if (Number.isNaN(start)) {
    const longest = Math.max(Math.abs(session.first), Math.abs(session.last));
    return { format: (time, decimals) => elapsed(time, decimals, longest), offset: 0 };
  }
  const days = session.last - session.first > 86400;
  const format = (time, decimals) => (days ? monthAndDay(start + time) + " " : "") + timeOfDay(start + time, decimals);
  return { format, offset: start % 86400 };
}

/** A length of time: "2.2 s", "350 ms", "3 min 20 s", "2 h 5 min". */
function duration(seconds) {
  const length = Math.abs(seconds);
  if (length === 0) return "0 s";
  if (length < 1e-3) return `${Number((length * 1e6).toPrecision(3))} µs`;
  if (length < 1) return `${Number((length * 1e3).toPrecision(3))} ms`;
  if (length < 60) return `${Number(length.toPrecision(length < 10 ? 2 : 3))} s`;
  const { hours, minutes, seconds: rest, whole } = split(length, 0);
  if (whole >= 86400 * 3) return `${Math.round(whole / 86400)} days`;
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${rest} s`;
}
