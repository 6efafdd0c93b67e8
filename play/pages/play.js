// A new game: against whom, on which side and on which board.

import {api, failure, gameChoice, go, h, layout, newId, remembered, statusLine} from "./app.js";
import {Board, emptyBoard, findGame} from "./board.js";

const LEVELS = ["random", "beginner", "beginner", "casual", "casual", "club", "club", "strong", "strong", "expert", "perfect"];

export async function show(main, {signal}) {
  const chosen = {game: "4,4,4", opponent: "oracle", level: 3, side: "X", ...remembered.get("settings", {})};
  const status = statusLine();
  const left = h("div", {class: "place"});
  const level = h("span", {}, `${chosen.level} (${LEVELS[chosen.level]})`);
  const slider = h("label", {class: "field"}, h("span", {}, "Level ", level), h("input", {
    type: "range", min: 0, max: 10, value: chosen.level,
    oninput: (event) => set({level: Number(event.target.value)}),
  }));
  const start = h("button", {type: "submit", class: "primary"}, "Start game");
  const form = h("form", {class: "setup", onsubmit: (event) => { event.preventDefault(); begin(); }},
    radios("Opponent", "opponent", {oracle: "The oracle", here: "A friend on this screen", away: "A friend elsewhere"}, chosen.opponent, set),
    slider,
    radios("You are", "side", {X: "X, and begin", O: "O"}, chosen.side, set),
    gameChoice(chosen.game, (game) => set({game})),
    h("div", {class: "buttons"}, start));
  await findGame(chosen.game).catch(() => {}); // so that its board is there when the page is
  layout(main, "Play", [left, status.element], form);
  let board;
  await draw();

  function set(change) {
    const drawn = change.game && change.game !== chosen.game;
    Object.assign(chosen, change);
    remembered.set("settings", chosen);
    level.textContent = `${chosen.level} (${LEVELS[chosen.level]})`;
    drawn ? draw() : tell();
  }

  function tell() {
    slider.hidden = chosen.opponent !== "oracle";
    form.elements.side.forEach((input) => { input.disabled = chosen.opponent === "here"; });
    const mine = chosen.opponent === "here" || (chosen.opponent === "oracle" && chosen.side === "X");
    status.say(mine ? "X begins: pick a cell." : "Start the game when you are ready.");
    if (board) board.show({board: emptyBoard(board.game), playable: new Set(mine ? board.game.squares.keys() : [])});
  }

  async function draw() {
    try {
      const game = await findGame(chosen.game);
      board = game.rows ? new Board(game, {onpick: (cell) => begin(game.names[cell])}) : null;
      left.replaceChildren(board ? board.element : h("p", {}, `${game.name} has no picture: start the game.`));
      tell();
    } catch (error) {
      board = null;
      left.replaceChildren(failure(error, draw));
      status.say("");
    }
  }

  async function begin(move) {
    if (start.disabled) return;
    start.disabled = true;
    status.sayIfSlow("Setting up the board \u2026");
    try {
      const other = chosen.side === "X" ? "O" : "X";
      const players = chosen.opponent === "oracle" ? {[other]: `oracle:${chosen.level}`} : {};
      const begun = await api("/api/matches", {body: {game: chosen.game, players}, signal});
      const sides = chosen.opponent === "away" ? [chosen.side] : Object.keys(begun.tokens);
      const tokens = Object.fromEntries(sides.map((side) => [side, begun.tokens[side]]));
      const invites = chosen.opponent === "away"
        ? Object.entries(begun.links.seats).filter(([side]) => side !== chosen.side).map(([, link]) => link) : [];
      remembered.set(begun.id, {tokens, invites, settings: chosen});
      if (move) await api(`/api/matches/${begun.id}/moves`, {body: {version: 0, id: newId(), move}, token: tokens.X, signal});
      go(`/match/${begun.id}`, {state: {focus: move}});
    } catch (error) {
      if (signal.aborted) return;
      status.say(error.message, "error");
      start.disabled = false;
    }
  }
}

function radios(title, name, choices, chosen, set) {
  return h("fieldset", {}, h("legend", {}, title), Object.entries(choices).map(([value, text]) => h("label", {},
    h("input", {type: "radio", name, value, checked: value === chosen, onchange: () => set({[name]: value})}), ` ${text}`)));
}
