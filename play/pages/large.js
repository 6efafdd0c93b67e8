// Large boards, too large to settle: estimates that look like estimates, threats, and proofs with their pairs.

import {h} from "./app.js";

/** How these differ from what is certain: estimates are light and slanted, and what looks best has a dashed ring. */
const LOOKS = new CSSStyleSheet();
LOOKS.replaceSync(`
  .estimate .note, .key.estimate { color: var(--soft); font-style: italic; font-weight: 400; }
  .cell.promising { outline: 2px dashed var(--ink); outline-offset: -1px; }
  .cell.promising:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
  .key.promising { outline: 2px dashed var(--ink); margin-right: .25em; border-radius: 0; font-style: italic; font-weight: 400; }
  .cell.threat { background: var(--mark); }
  .cell.estimate.line::after, .cell.estimate.two::after { position: absolute; right: 2px; top: 0; font-size: .75rem; line-height: 1; }
  .cell.estimate.line::after { content: "!"; }
  .cell.estimate.two::after { content: ":"; }
  .cell.pair .note { font-weight: 400; }
  .facts { min-height: 9em; margin-top: .5rem; }
  .facts h2 { margin-top: .5rem; }
  .facts [aria-pressed=true] { box-shadow: inset 0 0 0 2px var(--ink); }
`);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, LOOKS];

/** More losing moves than these are not marked one by one. */
const FEW = 20;

/** Return an estimate in percent: never 0 or 100, which would be certain. */
export const percent = (estimate) => Math.min(99, Math.max(1, Math.round(100 * estimate)));

export const inChances = (estimate) => `about ${percent(estimate)}%, an estimate`;

/** Return how to speak of large boards, from how one speaks of games of lines. */
export const wordsFrom = (words) => ({
  verdict: (move) => move.estimate == null
    ? (move.outcome ? words.verdict(move) : {text: "", words: "not looked into", kind: "open"})
    : {text: `${percent(move.estimate)}%`, words: inChances(move.estimate), kind: "estimate"},
  sentence: (analysis) => analysis.over || analysis.plies != null ? words.sentence(analysis)
    : `${analysis.to_move} to move: ${analysis.outcome === "draw" ? "a draw with best play" : analysis.estimate == null
      ? "no forced win was found in time" : `about ${percent(analysis.estimate)}% of the points for ${analysis.to_move}, an estimate`}.`,
  legend: [["estimate", "n%", " about n% of the points, an estimate, "], ["promising", "n%", "looks best, "], ["win", "+n", " wins in n plies at most, "],
    ["loss", "\u2212n", " loses in n plies at most, "], ["open", "!", " completes a line, for either side, "], ["open", ":", " makes two threats."]],
});

/** Tell whether every move certainly leads to the same outcome. */
const ofNoMatter = ({moves, exact}) => moves.length > 0
  && (moves.every(({outcome}) => outcome === "loss") || (exact && moves.every(({outcome}) => outcome === "draw")));

/** Return the moves that look best where none is known to be, the best first. */
export function promising(analysis) {
  if (analysis.best.length || ofNoMatter(analysis)) return [];
  const rated = analysis.moves.filter(({estimate}) => estimate != null);
  return rated.length ? rated : analysis.moves.slice(0, analysis.depth == null ? 3 : 1);
}

/** Return the cells' notes: what is known of moves, and threats; or the pairs that stop a side, if they are to be seen. */
export function notes(game, analysis, words, stop) {
  const found = new Map();
  if (stop) {
    if (stop.first) found.set(game.names.indexOf(stop.first), {text: "1.", words: "to be taken first", kind: "pair"});
    stop.pairs.forEach((pair, number) => pair.forEach((name) => found.set(game.names.indexOf(name), {
      text: code(number), words: `pair ${code(number)}, with ${pair.filter((other) => other !== name)}`, kind: "pair"})));
    return found;
  }
  const first = promising(analysis)[0], few = analysis.moves.filter(({score}) => score < 0).length <= FEW;
  for (const move of ofNoMatter(analysis) ? [] : analysis.moves) {
    if (move.estimate == null && !(move.score > 0 || (move.score < 0 && few)) && move !== first) continue;
    const {text, words: said, kind} = words.verdict(move), looks = move === first;
    found.set(move.cell, {text: text || "\u00b7", kind: looks ? `${kind} promising` : kind, best: move.best,
      words: [said, looks && "looks best"].filter(Boolean).join(", ")});
  }
  for (const [, names, sign, kind, said] of threats(analysis)) {
    for (const name of names) {
      const cell = game.names.indexOf(name), had = found.get(cell);
      found.set(cell, had ? {...had, kind: `${had.kind} threat ${kind}`, words: `${had.words}, ${said}`}
        : {text: sign, words: said, kind: `threat ${kind} open`});
    }
  }
  return found;
}

/** Return the threats there are: whose they are, the cells, their sign, their kind and what is said of a cell. */
function threats({to_move: side, threats: found}) {
  const other = side === "X" ? "O" : "X", {completes = [], blocks = [], makes_two: two = [], stops_two: stops = []} = found ?? {};
  return [[side, two, ":", `two ${side}`, `${side} makes two threats at once`], [other, stops, ":", `two ${other}`, `${other} would make two threats at once`],
    [side, completes, "!", `line ${side}`, `${side} completes a line`], [other, blocks, "!", `line ${other}`, `${other} would complete a line`]]
    .filter(([, names]) => names.length);
}

/** Tell whether the search was still being loaded, so that asking again tells more. */
export const early = ({depth, outcome, over}) => depth == null && !outcome && !over;

/** Return what to call the main line. */
export const title = (analysis) => analysis?.estimate == null && analysis?.score ? "Main line" : "Expects";

/** Return what else is known of a position as elements; `play` makes moves, and `see` shows pairs, or none again. */
export function facts(analysis, play, see) {
  if (!analysis || analysis.over) return [];
  const {proof, depth, nodes} = analysis, best = promising(analysis);
  return [
    ofNoMatter(analysis) && h("p", {}, `Every move ${analysis.outcome === "draw" ? "draws" : "loses"}.`),
    best.length > 0 && h("p", {}, "Promising: ", best.map(({move, estimate}) => [h("button", {type: "button", class: "link", onclick: () => play([move]),
      "aria-label": estimate == null ? move : `${move}, ${inChances(estimate)}`}, estimate == null ? move : `${move} ~${percent(estimate)}%`), " "])),
    threats(analysis).map(([, names, , , said]) => h("p", {}, `${said} with ${names.slice(0, 12).join(", ")}${names.length > 12 ? " \u2026" : ""}.`)),
    h("h2", {}, "Why"),
    h("p", {}, proof ? proof.text : analysis.exact ? "The search has followed every way to go on as far as it matters."
      : analysis.outcome ? "The outcome is certain, because every reply was searched." : `Nothing is proved: ${analysis.estimate == null ? "no forced win was found in time" : "this is an estimate"}.`),
    (proof?.stops ?? []).filter(({pairs}) => pairs).filter((stop, number, all) => !number || `${stop.pairs}` !== `${all[0].pairs}`)
      .map((stop, number, all) => showing(stop, all.length > 1 ? `that stop ${stop.side} ` : "", see)),
    depth != null && !proof && h("p", {class: "small"}, `A live search, ${depth} plies deep, of ${nodes.toLocaleString("en")} positions.`),
  ];
}

/** Return a button that shows the pairs that stop a side on the board, and hides them again. */
function showing(stop, whom, see) {
  const button = h("button", {type: "button", "aria-pressed": "false", onclick: () => {
    const now = button.getAttribute("aria-pressed") === "false";
    for (const each of document.querySelectorAll(".facts [aria-pressed]")) each.setAttribute("aria-pressed", String(now && each === button));
    see(now ? stop : null);
  }}, `Show the pairs ${whom}on the board`);
  return button;
}

/** Return the letters that stand for a pair; x and o look like marks. */
function code(number) {
  const letters = "abcdefghijklmnpqrstuvwyz", last = letters[number % 24];
  return number < 24 ? last : letters[Math.floor(number / 24) - 1] + last;
}
