// The graph of an exploration: who wins in each of its positions, and how many moves keep that.

import {h} from "./app.js";

/** Return the graph of positions, from the analyses that are known of them, as elements; one is looked at. */
export function graph({cells, kind}, known, at) {
  const wide = Math.max(12, Math.min(28, 320 / known.length));
  const points = [], bars = [], said = [], [first, second] = Object.keys(kind.marks);
  known.forEach((analysis, ply) => {
    if (!analysis || analysis.error) return;
    const x = ply * wide + wide / 2, value = valueOf(analysis, kind, first, cells);
    const open = !analysis.over && !analysis.outcome;
    if (open && analysis.estimate == null) return;
    if (open) {
      const share = analysis.to_move === first ? analysis.estimate : 1 - analysis.estimate;
      points.push([x, 34 - 28 * (2 * share - 1), "dot rough"]);
      said.push(`${ply}: about ${Math.round(100 * share)}% for ${first}, an estimate`);
      return;
    }
    const y = 34 - 28 * Math.sign(value) * (value ? 0.35 + 0.65 * Math.abs(value) / (cells + 1) : 0);
    points.push([x, y, "dot"]);
    const safe = analysis.moves.filter((move) => move.outcome === analysis.outcome).length;
    const share = analysis.moves.length ? safe / analysis.moves.length : 0;
    const winner = value > 0 ? first : second, by = kind.margin ? ` by ${Math.abs(value)}` : "";
    const known = analysis.exact && !analysis.over;
    said.push(`${ply}: ${value ? `${winner} wins${by}` : "draw"}${known ? `, ${safe} of ${analysis.moves.length} moves keep it` : ""}`);
    if (known) {
      bars.push(h("rect", {x: x - wide * 0.32, y: 74, width: wide * 0.64, height: 36, class: "all"}),
        h("rect", {x: x - wide * 0.32, y: 110 - 36 * share, width: wide * 0.64, height: 36 * share, class: "safe"}));
    }
  });
  const right = known.length * wide;
  return [
    h("svg", {viewBox: `-16 0 ${right + 18} 112`, role: "img", "aria-label": `After so many moves: ${said.join("; ")}.`},
      h("rect", {x: at * wide, y: 0, width: wide, height: 112, class: "here"}),
      h("path", {d: `M0 34H${right}`, class: "axis"}), bars,
      h("polyline", {points: points.map(([px, py]) => `${px},${py}`).join(" "), class: "value"}),
      points.map(([cx, cy, dot]) => h("circle", {cx, cy, r: 2.6, class: dot})),
      h("text", {x: -15, y: 10}, first), h("text", {x: -15, y: 38}, "="), h("text", {x: -15, y: 66}, second)),
    h("figcaption", {class: "small"}, `Above: who wins, and the higher or lower ${kind.farther ?? "the sooner"}. `
      + `Below: the share of moves that keep the outcome.${points.some(([, , dot]) => dot !== "dot") ? " Empty dots are estimates." : ""}`),
  ];
}

/** Return how well the side that began stands: by how soon it wins, or by how much. */
function valueOf(analysis, kind, first, cells) {
  if (kind.margin) return kind.margin(analysis);
  if (analysis.over) return analysis.winner ? (analysis.winner === first ? cells : -cells) : 0;
  return analysis.to_move === first ? analysis.score : -analysis.score;
}
