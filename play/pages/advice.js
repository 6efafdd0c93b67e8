// What the oracle says of a match: good moves while it lasts and, when it is over, how good those were that were made.

import {api, h, marksOf, part} from "./app.js";

const MISTAKE = "looks like a mistake";

/** The grades of large boards that are worth a word beside a move; match.js says nothing of the best ones. */
const TOLD = new Set(["best", MISTAKE]);

/** Return good moves as notes on the board, and in words. */
export async function hint(match, game, signal) {
  const {best, moves, estimate, outcome, score} = await api(`/api/position?${new URLSearchParams({game: match.game, board: match.state})}`, {signal});
  if (estimate != null || (score < 0 && !best.length)) return roughHint(moves, game);
  const good = best.length ? best : [moves[0].move];
  return {
    notes: new Map(good.map((name) => [game.names.indexOf(name), {text: "\u2605", words: "a good move", kind: "hint"}])),
    words: !best.length && game.kind.look ? `Hint: ${good} looks promising${outcome ? "" : ", but who wins could not be settled in time"}.`
      : good.length === moves.length ? "Hint: all moves are equally good." : `Hint: ${good.slice(0, 6).join(", ")}.`,
  };
}

/** Return the moves that look best on a board that is not settled. */
async function roughHint(moves, game) {
  const {inChances, percent} = await part("large"), first = moves[0];
  const rated = moves.filter(({estimate}) => estimate != null).slice(0, 3);
  return {
    notes: new Map(rated.map((move) => [move.cell, {text: `${percent(move.estimate)}%`, words: inChances(move.estimate),
      kind: move === first ? "estimate promising" : "estimate"}])),
    words: rated.length ? `Hint: ${first.move} looks best: ${inChances(first.estimate)}.` : `Hint: every move loses; ${first.move} is as good as any.`,
  };
}

/** Review a match that has ended, and show that below it unless it goes on meanwhile. */
export async function review(view, moves) {
  const {version} = view.match;
  try {
    const found = await api(`${view.path}/review`, {signal: view.signal});
    if (version !== view.match.version) return;
    view.review = rough(found) ? {...found, moves: found.moves.map((move) => move.changed || TOLD.has(move.grade) ? move : {...move, grade: "best"})} : found;
    view.after.replaceChildren(...reviewed(found, view.match, moves.map(({move}) => move), (ply) => view.view(ply)));
    view.draw();
  } catch (error) {
    if (error.statusCode !== 409) throw error;
    view.after.replaceChildren(h("p", {class: "small"}, `No review: ${error.message}.`));
  }
}

/** Tell whether moves were graded by estimates, on a board too large to settle. */
const rough = ({moves}) => moves.some((move) => move.estimate_before != null || move.estimate_after != null);

/** Return what a review by estimates says of a side's moves, as elements. */
function roughly(side, own, onpick) {
  const wrong = own.filter(({grade}) => grade === MISTAKE);
  return [
    h("p", {}, `${side}: ${wrong.length} of ${own.length} moves ${wrong.length === 1 ? "looks like a mistake" : "look like mistakes"}, `
      + `${own.filter((move) => move.changed).length} certainly changed the outcome.`),
    wrong.length ? h("ul", {}, wrong.map(({number, move, outcome, better}) => h("li", {},
      h("button", {type: "button", class: "link", onclick: () => onpick(number - 1)}, move), ` ${outcome}. ${better.join(", ")} looks better.`))) : "",
  ];
}

/** Return a review as elements; `onpick` hears how many moves were made in the position that one wants to see. */
function reviewed(review, match, moves, onpick) {
  const point = review.moves.find(({number}) => number === review.turning_point);
  return [
    h("h2", {}, "Review"),
    ...match.sides.flatMap((side) => {
      const own = review.moves.filter((move) => move.side === side);
      if (rough(review)) return roughly(side, own, onpick);
      return h("p", {}, `${side}: ${own.filter((move) => move.grade === "best").length} of ${own.length} moves were best, `
        + `${own.filter((move) => move.changed).length} changed the outcome.`);
    }),
    point ? h("p", {class: "point"}, "The turning point was ",
      h("button", {type: "button", class: "link", onclick: () => onpick(point.number - 1)}, `${point.side}\u2019s ${point.move}`),
      `: it ${point.grade}.${point.better.length ? ` ${point.better.slice(0, 6).join(", ")} would have been better.` : ""}`)
      : h("p", {}, rough(review) ? "No move is known to have changed the outcome." : "No move changed the outcome."),
    review.exact ? "" : h("p", {class: "small"}, rough(review) ? "Percentages are estimates; a win, a draw or a loss is certain."
      : "Not every position could be settled in time."),
    h("p", {}, h("a", {href: `/explore/${encodeURIComponent(match.game).replaceAll("%2C", ",")}/${marksOf(match.state)}?moves=${moves.join("+")}${
      match.board ? `&from=${match.board}` : ""}`}, "Explore this game")),
  ];
}
