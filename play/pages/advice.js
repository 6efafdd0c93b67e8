// What the oracle says of a match: good moves while it lasts and, when it is over, how good those were that were made.

import {api, h, marksOf} from "./app.js";

/** Return good moves as notes on the board, and in words. */
export async function hint(match, game, signal) {
  const {best, moves} = await api(`/api/position?${new URLSearchParams({game: match.game, board: match.state})}`, {signal});
  const good = best.length ? best : [moves[0].move];
  return {
    notes: new Map(good.map((name) => [game.names.indexOf(name), {text: "\u2605", words: "a good move", kind: "hint"}])),
    words: !best.length && game.kind.look ? `Hint: ${good} looks promising, but who wins could not be settled in time.`
      : good.length === moves.length ? "Hint: all moves are equally good." : `Hint: ${good.slice(0, 6).join(", ")}.`,
  };
}

/** Review a match that has ended, and show that below it unless it goes on meanwhile. */
export async function review(view, moves) {
  const {version} = view.match;
  try {
    const found = await api(`${view.path}/review`, {signal: view.signal});
    if (version !== view.match.version) return;
    view.review = found;
    view.after.replaceChildren(...reviewed(found, view.match, moves.map(({move}) => move), (ply) => view.view(ply)));
    view.draw();
  } catch (error) {
    if (error.statusCode !== 409) throw error;
    view.after.replaceChildren(h("p", {class: "small"}, `No review: ${error.message}.`));
  }
}

/** Return a review as elements; `onpick` hears how many moves were made in the position that one wants to see. */
function reviewed(review, match, moves, onpick) {
  const point = review.moves.find(({number}) => number === review.turning_point);
  return [
    h("h2", {}, "Review"),
    ...match.sides.map((side) => {
      const own = review.moves.filter((move) => move.side === side);
      return h("p", {}, `${side}: ${own.filter((move) => move.grade === "best").length} of ${own.length} moves were best, `
        + `${own.filter((move) => move.changed).length} changed the outcome.`);
    }),
    point ? h("p", {class: "point"}, "The turning point was ",
      h("button", {type: "button", class: "link", onclick: () => onpick(point.number - 1)}, `${point.side}\u2019s ${point.move}`),
      `: it ${point.grade}. ${point.better.slice(0, 6).join(", ")} would have been better.`)
      : h("p", {}, "No move changed the outcome."),
    review.exact ? "" : h("p", {class: "small"}, "Not every position could be settled in time."),
    h("p", {}, h("a", {href: `/explore/${encodeURIComponent(match.game).replaceAll("%2C", ",")}/${marksOf(match.state)}?moves=${moves.join("+")}${
      match.board ? `&from=${match.board}` : ""}`}, "Explore this game")),
  ];
}
