// The board: one grid of buttons for every page and every reader.

import {api, h} from "./app.js";

const known = new Map();

/** Return a game's shape: rows, columns, each cell's square and name, and its lines if they are wanted. */
export async function findGame(name, {lines = false} = {}) {
  const game = known.get(name) ?? shapeOf(name);
  if (game && (game.lines || !lines)) return game;
  const fields = await api(`/api/games/${encodeURIComponent(name)}`);
  const found = fields.cells == null ? {name: fields.name, rows: 0} : {...fields, names: fields.cell_names};
  known.set(name, found);
  return found;
}

/** Return the shape that a name tells; null if only the server knows it. */
function shapeOf(name) {
  const [, rows, columns] = name.match(/^(\d{1,3}),(\d{1,3}),\d{1,3}(?:,mis[eè]re)?$/) ?? [];
  if (!(rows * columns > 0 && rows * columns <= 400)) return null;
  const squares = Array.from({length: rows * columns}, (_, cell) => cell);
  const names = squares.map((square) => letters(square % columns) + (Math.floor(square / columns) + 1));
  return {name, rows: +rows, columns: +columns, cells: rows * columns, squares, names};
}

function letters(column) {
  const last = String.fromCharCode(97 + column % 26);
  return column < 26 ? last : letters(Math.floor(column / 26) - 1) + last;
}

/** Return the mark of each cell. */
export const marksOf = (board) => board.replaceAll("/", "");

/** Return a board's text from the mark of each cell. */
export function boardText(game, marks) {
  let text = "";
  game.squares.forEach((square, cell) => {
    const newRow = cell && Math.floor(square / game.columns) > Math.floor(game.squares[cell - 1] / game.columns);
    text += (newRow ? "/" : "") + marks[cell];
  });
  return text;
}

export const emptyBoard = (game) => boardText(game, ".".repeat(game.cells));

/** Return a board after a move, with the mark of the side to move. */
export function after(game, board, move) {
  const marks = [...marksOf(board)];
  marks[game.names.indexOf(move)] = toMove(board);
  return boardText(game, marks);
}

const toMove = (board) => board.split("X").length > board.split("O").length ? "O" : "X";

const MARKS = {X: "M2.2 2.2L7.8 7.8M7.8 2.2L2.2 7.8", O: "M5 2a3 3 0 1 0 0 6 3 3 0 1 0 0-6z"};

const mark = (side) => h("svg", {viewBox: "0 0 10 10", class: `mark ${side}`, "aria-hidden": "true"},
  h("path", {d: MARKS[side]}));

/** A board on the page: `onpick(cell)` hears clicks, and `onlook(cell)` where one looks. */
export class Board {
  constructor(game, {onpick, onlook = () => {}, label = `Board of ${game.name}`}) {
    this.game = game;
    this.buttons = [];
    this.drawn = [];
    const {rows, columns} = game;
    const cellAt = new Map(game.squares.map((square, cell) => [square, cell]));
    const named = h("div", {class: "names", "aria-hidden": "true"}, h("span"),
      Array.from({length: columns}, (_, column) => h("span", {}, letters(column))));
    const lines = Array.from({length: rows}, (_, row) => h("div", {role: "row", class: "row"},
      h("span", {class: "name", "aria-hidden": "true"}, String(row + 1)),
      Array.from({length: columns}, (_, column) => {
        const cell = cellAt.get(row * columns + column);
        return cell === undefined ? h("span", {class: "hole"}) : h("div", {role: "gridcell"}, this.#button(cell));
      })));
    this.element = h("div", {class: "frame"}, h("div", {
      class: "board", role: "grid", "aria-label": label,
      onkeydown: (event) => this.#steer(event),
      onclick: (event) => this.#hear(event, (cell) => this.playable?.has(cell) && onpick(cell)),
      onfocusin: (event) => this.#hear(event, (cell) => { this.#stop(cell); onlook(cell); }),
      onpointerover: (event) => this.#hear(event, onlook),
      onpointerleave: () => onlook(null),
      onfocusout: () => onlook(null),
    }, named, lines));
    const grid = this.element.firstChild;
    grid.style.setProperty("--columns", columns);
    grid.style.setProperty("--rows", rows);
    grid.classList.toggle("large", Math.max(rows, columns) > 8);
    this.#stop(0);
  }

  #button(cell) {
    const button = h("button", {type: "button", class: "cell", tabindex: "-1", "data-cell": cell});
    this.buttons[cell] = button;
    return button;
  }

  /** Draw a board: cells that can be picked, the last claimed, those that ended the game, notes, cells to point out. */
  show({board, playable = new Set(), last = null, ending = [], notes = new Map(), shown = new Set()}) {
    this.playable = playable;
    const marks = marksOf(board), ended = new Set(ending);
    this.buttons.forEach((button, cell) => {
      const name = this.game.names[cell], side = marks[cell], note = notes.get(cell);
      const key = [side, note?.text, note?.kind, note?.best, playable.has(cell), cell === last, ended.has(name), shown.has(cell)].join();
      if (this.drawn[cell] === key) return;
      const taken = side === "X" || side === "O";
      const words = [name, taken ? side : "empty", note?.words, note?.best && "best", cell === last && "last move",
        ended.has(name) && "in the line that ended the game", shown.has(cell) && "pointed out"];
      button.setAttribute("aria-label", words.filter(Boolean).join(", "));
      button.setAttribute("aria-disabled", String(!playable.has(cell)));
      button.className = ["cell", note?.kind, note?.best && "best", cell === last && "last", ended.has(name) && "ended",
        shown.has(cell) && "shown"].filter(Boolean).join(" ");
      if (this.drawn[cell]?.[0] !== side || !taken) {
        button.replaceChildren(...(taken ? [mark(side)] : note ? [h("span", {class: "note"}, note.text)] : []));
      }
      this.drawn[cell] = key;
    });
  }

  focus(cell) {
    this.buttons[cell ?? this.at].focus();
  }

  #hear(event, tell) {
    const button = event.target.closest(".cell");
    if (button) tell(Number(button.dataset.cell));
  }

  /** Let one cell be the board's tab stop. */
  #stop(cell) {
    this.buttons[this.at]?.setAttribute("tabindex", "-1");
    this.buttons[this.at = cell].setAttribute("tabindex", "0");
  }

  #steer(event) {
    const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -1], End: [0, 1]};
    const [down, right] = step[event.key] ?? [];
    if (down === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const {squares, columns, rows} = this.game;
    let square = squares[this.at], found = this.at;
    for (;;) {
      const row = Math.floor(square / columns) + down, column = square % columns + right;
      if (row < 0 || column < 0 || row >= rows || column >= columns) break;
      square = row * columns + column;
      const cell = squares.indexOf(square);
      if (cell < 0) continue;
      found = cell;
      if (event.key.startsWith("Arrow")) break;
    }
    this.focus(found);
  }
}

/** Return a checkbox that shows the lines through the cell one looks at. */
export function linesOnDemand(name, redraw) {
  const box = h("input", {type: "checkbox", onchange: async () => { await lines.find(); lines.look(lines.at); }});
  const told = h("span", {class: "small"});
  const lines = {
    element: h("div", {class: "lines"}, h("label", {}, box, " Show the lines through a cell"), told),
    shown: new Set(),
    at: null,
    async find() {
      if (box.checked) this.game = await findGame(name, {lines: true});
    },
    look(cell) {
      this.at = cell;
      const through = box.checked && cell !== null && this.game?.lines?.filter((line) => line.includes(this.game.names[cell]));
      told.textContent = through ? ` ${through.length} through ${this.game.names[cell]}` : "";
      const cells = new Set(through ? through.flat().map((each) => this.game.names.indexOf(each)) : []);
      if (cells.size || this.shown.size) {
        this.shown = cells;
        redraw();
      }
    },
  };
  return lines;
}
