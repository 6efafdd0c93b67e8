// What can be set up for Infinity Grid Duel: its machines, its sides and the size of its board.

import {h} from "./app.js";

export const names = {R: "Red (R), and begin", G: "Green (G)"};

export const begins = "Red begins: pick a cell.";

export const rules = "Fill a cell next to one of your tiles or, if there is none, any empty cell. Tiles of the other side next to it turn "
  + "at once. When the board is full, the side with more tiles wins.";

export const machines = {
  oracle: {label: "The machine", player: "search", levels: ["", "1, beginner", "2, beginner", "3, casual", "4, casual", "5, club", "6, club",
    "7, strong", "8, strong", "9, expert", "10, best"]},
  priority: {label: "Captures first: takes all it can"},
  random: {label: "Random moves"},
};

/** Return fields for the size of the board; `onchange` hears the name of the game with that size. */
export function sizes({rows, columns}, onchange) {
  const field = (title, value) => h("label", {}, h("span", {}, title), h("select", {onchange: () => {
    const [r, c] = [...element.querySelectorAll("select")].map((each) => each.value);
    onchange(r === "6" && c === "6" ? "duel" : `duel,${r},${c}`);
  }}, Array.from({length: 12}, (_, each) => (each || value === 1) && h("option", {selected: each + 1 === value}, String(each + 1)))));
  const element = h("div", {class: "field sizes"}, field("Rows", rows), field("Columns", columns));
  return element;
}
