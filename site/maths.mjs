// LaTeX to HTML with KaTeX, when the site is built: pages then need no script and no network to show mathematics.
// Reads a list of [latex, whether it stands alone] and writes the list of their HTML; a mistake ends the build.
import { readFileSync } from "node:fs";
import katex from "katex";

const formulas = JSON.parse(readFileSync(0, "utf8"));
const html = formulas.map(([latex, displayMode]) =>
  katex.renderToString(latex, { displayMode, throwOnError: true, strict: "error" }),
);
process.stdout.write(JSON.stringify(html));
