// What is special to Infinity Grid Duel: its marks, how a move changes the board, and its words.

import {h, marksOf} from "./app.js";

export const look = "duel";

export const setup = "duel_setup";

export const marks = {
  R: "M3.6 7.6V2.4h1.7a1.5 1.5 0 0 1 0 3H3.6m1.8 0L6.8 7.6",
  G: "M6.9 3.2A2.7 2.7 0 1 0 7.4 5.3H5.4",
};

const CALLED = {search: "the machine", oracle: "the oracle", priority: "captures first", mcts: "random games", random: "random moves"};

/** Return what to call a player. */
export function called(player) {
  const [name, level] = player.split(":");
  return (CALLED[name] ?? name) + (level ? `, level ${level}` : "");
}

/** Return the cells next to a cell: above, below and beside it. */
function beside({rows, columns}, cell) {
  const column = cell % columns;
  return [cell - columns, cell + columns, ...(column ? [cell - 1] : []), ...(column < columns - 1 ? [cell + 1] : [])]
    .filter((each) => each >= 0 && each < rows * columns);
}

/** Return the cells that turn when a side fills a cell. */
export const turned = (game, all, cell, side) => beside(game, cell).filter((each) => all[each] !== "." && all[each] !== side);

/** Return why an empty cell cannot be filled. */
export const refusal = (name, side) => `${name} is not next to a tile of ${side}: pick a marked cell.`;

/** Return the sign that a side is to move, which is short, so that its score stands beside it. */
export const turn = () => h("span", {role: "img", "aria-label": "to move"}, " \u25c2");

/** Return how many tiles a side has. */
export function score(board, side) {
  const count = board.split(side).length - 1;
  return `${count} tile${count === 1 ? "" : "s"}`;
}

/** Return what there is to say of a move, besides who made it and its name. */
export function told({move, time}, captured, game) {
  const cell = game.names.indexOf(move), {columns} = game, at = new Date(time);
  return [`row ${Math.floor(cell / columns) + 1}, column ${cell % columns + 1}`, captured ? `captured ${captured}` : "",
    time ? h("time", {datetime: time}, at.toLocaleTimeString([], {hourCycle: "h23"})) : ""].map((each) => [" ", h("span", {}, each)]);
}

/** Return how many more tiles Red has at the end, from an analysis: as it is, or with best play. */
export function margin({over, board, score: best, to_move: side}) {
  const ahead = (mark) => marksOf(board).split(mark).length;
  return over ? ahead("R") - ahead("G") : side === "R" ? best : -best;
}

export const farther = "the larger the margin";

/** Return what a move leads to: `+6`, `=`, `-2`, `?`; the same in words; and its kind for the style sheet. */
export function verdict({outcome, score: by}) {
  if (!outcome) return {text: "?", words: "not settled", kind: "open"};
  if (!by) return {text: "=", words: "draws", kind: "draw"};
  return by > 0 ? {text: `+${by}`, words: `wins by ${by}`, kind: "win"} : {text: `\u2212${-by}`, words: `loses by ${-by}`, kind: "loss"};
}

/** Return a position's verdict as a sentence. */
export function sentence(analysis) {
  const by = margin(analysis), winner = by > 0 ? "R" : "G", {over, outcome, bound} = analysis;
  const now = over ? "" : `${analysis.to_move} to move: `;
  if (!over && !outcome) return `${now}who wins could not be settled in time.`;
  if (!by) return over ? "The game is a draw." : `${now}a draw with best play.`;
  return over ? `${winner} has won by ${Math.abs(by)}.` : `${now}${winner} wins by ${bound ? "at least " : ""}${Math.abs(by)}.`;
}

export const legend = [["win", "+n", " wins by n tiles, "], ["draw", "=", " draws, "], ["loss", "\u2212n", " loses by n tiles."]];
