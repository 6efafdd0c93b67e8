// Wide boards, of which a part is seen: arrow keys beyond its edge, buttons and the name of a cell move it.

import {Board, LINES, h, letters} from "./app.js";

export const {marks, called} = LINES;
export const look = "part";
export const setup = "wide";

/** Return how many rows and columns are seen: fewer on a phone. */
const most = () => matchMedia("(max-width: 30rem)").matches ? 9 : 15;

const LOOKS = new CSSStyleSheet();
LOOKS.replaceSync(`
  .part.board { --label: 2.25rem; }
  .moving { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; margin-top: .75rem; }
  .moving button { min-width: 2.75rem; justify-content: center; }
  .moving input { width: 8rem; }
  .seen { margin: .5rem 0 0; min-height: 3em; }
`);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, LOOKS];

export const names = {X: "X, and begin", O: "O"};
export const begins = "X begins: pick a cell.";
export const rules = "A part of the board is seen. Arrow keys go beyond its edge.";
export const machines = {
  oracle: {label: "The machine, which only glances", player: "oracle", levels: ["0 (random)", "1", "2", "3", "4 (best)"]},
  rules: {label: "Win, block, or any cell"},
  random: {label: "Random moves"},
};

/** Return the board of a match. */
export const boardOf = (view) => new Part(view.game, {onpick: (name) => view.play(name), onrefuse: (name) => view.act("refuse", name)});

/** Draw a match after some of its moves. */
export function draw({board, match, viewed, myTurn}, moves) {
  const now = viewed === null;
  board.show({start: match.board, moves, open: now && myTurn && !match.outcome, ending: now ? match.ending : []});
}

/** The part of a wide board that is seen: a board of its own, whose cells have other names when it moves. */
export class Part {
  constructor(game, {onpick, onrefuse = () => {}}) {
    this.game = game;
    const rows = Math.min(most(), game.rows), columns = Math.min(most(), game.columns);
    this.step = Math.floor(most() / 2);
    const squares = Array.from({length: rows * columns}, (_, square) => square);
    this.seen = {name: game.name, rows, columns, cells: rows * columns, squares, names: [], kind: game.kind};
    this.inside = new Board(this.seen, {
      onpick: (cell) => onpick(this.seen.names[cell]), onrefuse: (cell) => onrefuse(this.seen.names[cell]),
      label: `Part of the board of ${game.name}`,
    });
    this.grid = this.inside.element.firstChild;
    this.grid.setAttribute("aria-rowcount", game.rows);
    this.grid.setAttribute("aria-colcount", game.columns);
    this.grid.addEventListener("keydown", (event) => this.#beyond(event), true);
    this.caption = h("p", {class: "small seen", role: "status"});
    this.element = h("div", {}, this.inside.element, this.#controls(), this.caption);
    this.shown = {moves: []};
    this.#move(Math.floor((game.rows - rows) / 2), Math.floor((game.columns - columns) / 2));
  }

  /** Show the stones of a board to start from and of moves; a last move that is new is brought into sight. */
  show(what) {
    const last = what.moves.at(-1)?.move, had = this.shown.moves.at(-1)?.move, focused = this.grid.contains(document.activeElement);
    this.stones = stonesOf(this.game, what);
    this.shown = what;
    if (last && last !== had && !this.seen.names.includes(last)) {
      this.#center(last);
      if (focused) this.inside.focus(this.seen.names.indexOf(last));
    }
    this.#draw();
  }

  /** Return the buttons that move the part, and the field that names a cell to see. */
  #controls() {
    const step = (sign, name, down, right) => h("button", {type: "button", "aria-label": name, title: name,
      onclick: () => this.#move(this.top + down * this.step, this.left + right * this.step)}, sign);
    const field = h("input", {type: "text", size: "8", autocomplete: "off"});
    return h("form", {class: "moving", "aria-label": "Part of the board", onsubmit: (event) => {
      event.preventDefault();
      this.#center(field.value.trim().toLowerCase());
    }}, step("\u2190", "Move left", 0, -1), step("\u2191", "Move up", -1, 0), step("\u2193", "Move down", 1, 0), step("\u2192", "Move right", 0, 1),
    h("button", {type: "button", onclick: () => this.#center(this.shown.moves.at(-1)?.move ?? "")}, "Last move"),
    h("label", {class: "field"}, h("span", {}, "Cell"), field), h("button", {type: "submit"}, "Show"));
  }

  /** Bring a cell into the middle; say so if there is none of that name. */
  #center(name) {
    const place = placeOf(this.game, name);
    if (place) this.#move(place[0] - Math.floor(this.seen.rows / 2), place[1] - Math.floor(this.seen.columns / 2));
    else this.caption.textContent = name ? `No cell ${name}: they run from a1 to ${letters(this.game.columns - 1)}${this.game.rows}.` : "No move was made yet.";
  }

  /** Let the part begin at a row and a column, or as near as the board goes. */
  #move(top, left) {
    const {game, seen} = this;
    this.top = Math.max(0, Math.min(top, game.rows - seen.rows));
    this.left = Math.max(0, Math.min(left, game.columns - seen.columns));
    seen.names = seen.squares.map((square) => nameOf(this.top + Math.floor(square / seen.columns), this.left + square % seen.columns));
    this.inside.drawn = [];
    [...this.grid.querySelectorAll(".names span")].slice(1).forEach((each, column) => { each.textContent = letters(this.left + column); });
    this.grid.querySelectorAll(".row").forEach((row, number) => {
      row.setAttribute("aria-rowindex", this.top + number + 1);
      row.querySelector(".name").textContent = this.top + number + 1;
      row.querySelectorAll("[role=gridcell]").forEach((cell, column) => cell.setAttribute("aria-colindex", this.left + column + 1));
    });
    this.#draw();
    const bottom = this.top + seen.rows, right = this.left + seen.columns;
    this.caption.textContent = `Rows ${this.top + 1} to ${bottom} of ${game.rows}, columns ${letters(this.left)} to ${letters(right - 1)} `
      + `(${this.left + 1} to ${right}) of ${game.columns}.`;
  }

  #draw() {
    const {stones = new Map(), shown: {moves, open, ending}, seen} = this, last = moves.at(-1)?.move;
    const marks = seen.names.map((name) => stones.get(name) ?? ".");
    this.inside.show({
      board: marks.join(""), before: last && marks.map((mark, cell) => seen.names[cell] === last ? "." : mark).join(""),
      playable: new Set(open ? seen.squares.filter((cell) => marks[cell] === ".") : []), ending,
    });
  }

  /** Go on with an arrow key beyond the edge: half of the part moves out of sight. */
  #beyond(event) {
    const [down, right] = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key] ?? [0, 0];
    if ((!down && !right) || event.altKey || event.ctrlKey || event.metaKey) return;
    const {rows, columns} = this.seen, at = this.inside.at, row = Math.floor(at / columns) + down, column = at % columns + right;
    if (row >= 0 && column >= 0 && row < rows && column < columns) return;
    event.preventDefault();
    event.stopPropagation();
    const {top, left} = this;
    this.#move(top + down * this.step, left + right * this.step);
    const here = [row + top - this.top, column + left - this.left];
    if (here[0] >= 0 && here[1] >= 0 && here[0] < rows && here[1] < columns) this.inside.focus(here[0] * columns + here[1]);
  }
}

const nameOf = (row, column) => letters(column) + (row + 1);

/** Return the row and the column of a cell, counted from 0; null if the board has none of that name. */
function placeOf(game, name) {
  const [, word, number] = name.match(/^([a-z]{1,3})([1-9]\d{0,3})$/) ?? [];
  const column = [...word ?? ""].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 96, 0) - 1;
  return word && column < game.columns && number <= game.rows ? [number - 1, column] : null;
}

/** Return the mark of each stone by the name of its cell. */
function stonesOf(game, {start = "", moves}) {
  const stones = new Map();
  let cell = 0;
  for (const [part, run] of start.matchAll(/(\d+)|[XO]/g)) {
    if (run) cell += Number(run);
    else stones.set(nameOf(Math.floor(cell / game.columns), cell++ % game.columns), part);
  }
  for (const {side, move} of moves) stones.set(move, side);
  return stones;
}
