// The lines of a game, shown on its board.

import {findGame} from "./app.js";

/** Begin to show the lines through the cell one looks at, or end that. */
export async function toggle(lines, box, name, redraw) {
  const told = lines.element.lastChild, game = box.checked && await findGame(name, {lines: true});
  lines.look = (cell) => {
    lines.at = cell;
    const through = box.checked && cell !== null && game.lines?.filter((line) => line.includes(game.names[cell]));
    told.textContent = through ? ` ${through.length} through ${game.names[cell]}` : "";
    const cells = new Set(through ? through.flat().map((each) => game.names.indexOf(each)) : []);
    if (cells.size || lines.shown.size) {
      lines.shown = cells;
      redraw();
    }
  };
  lines.look(lines.at);
}
