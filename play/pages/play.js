// A new game: against whom, on which side and on which board.

import {
  Board, SETTLED, api, emptyBoard, failure, findGame, gameChoice, gamesListed, go, h, layout, newId, part, remembered,
  statusLine,
} from "./app.js";

const LEVELS = ["random", "beginner", "beginner", "casual", "casual", "club", "club", "strong", "strong", "expert", "perfect"];

/** What is offered for games of lines; duel_setup.js has the same for the duel. */
const LINES = {
  names: {X: "X, and begin", O: "O"},
  begins: "X begins: pick a cell.",
  machines: {oracle: {label: "The oracle", player: "oracle", levels: LEVELS.map((word, level) => `${level} (${word})`)}},
};

/** Nobody is perfect on a board too large to settle, unless there is a store. */
const LARGE = {...LINES, machines: {oracle: {...LINES.machines.oracle,
  levels: LINES.machines.oracle.levels.map((word) => word.replace("perfect", "strongest"))}}};

export async function show(main, {signal}) {
  const chosen = {game: "4,4,4", opponent: "oracle", level: 3, side: "X", ...remembered.get("settings", {})};
  let wished = chosen.opponent.startsWith("run:") && chosen.opponent;
  const status = statusLine();
  const left = h("div", {class: "place"}), who = h("div", {class: "setup"}), which = h("div", {class: "setup"});
  const start = h("button", {type: "submit", class: "primary"}, "Start game");
  const form = h("form", {class: "setup", onsubmit: (event) => { event.preventDefault(); startGame(); }},
    who, which, h("div", {class: "buttons"}, start));
  let board, offered, level, slider, side;
  let choice = gameChoice(chosen.game, (game) => set({game}), true);
  which.append(choice);
  await draw(); // first, so that all is there when the page is
  signal.throwIfAborted();
  layout(main, "Play", [left, status.element], form);

  /** Offer the machines and the sides of a kind of game. */
  function offer(now) {
    if (now === offered) return;
    offered = now;
    const {machines, names, here = "A friend on this screen", away = "A friend elsewhere"} = offered, opponents = {here, away};
    const labels = Object.fromEntries(Object.entries(machines).map(([name, {label}]) => [name, label]));
    if (!(chosen.opponent in {...machines, ...opponents})) [chosen.opponent] = Object.keys(machines);
    const levels = machines.oracle?.levels ?? [];
    if (levels.length && !levels[chosen.level]) chosen.level = 1;
    level = h("span");
    slider = h("label", {class: "field"}, h("span", {}, "Level ", level), h("input", {
      type: "range", min: levels.findIndex(Boolean), max: levels.length - 1, value: chosen.level, oninput: (event) => set({level: Number(event.target.value)}),
    }));
    side = Object.keys(names);
    const seats = Object.fromEntries(side.map((each, number) => ["XO"[number] ?? each, names[each]]));
    if (!(chosen.side in seats)) chosen.side = "X";
    who.replaceChildren(radios("Opponent", "opponent", {...labels, ...opponents}, chosen.opponent, set), slider,
      radios("You are", "side", seats, chosen.side, set),
      offered.rules ? h("p", {class: "small"}, offered.rules) : "");
  }

  function set(change, sized = false) {
    const drawn = change.game && change.game !== chosen.game;
    Object.assign(chosen, change);
    remembered.set("settings", chosen);
    drawn ? draw(sized) : tell();
  }

  function tell() {
    const {machines, begins} = offered;
    level.textContent = machines.oracle?.levels[chosen.level];
    slider.hidden = chosen.opponent !== "oracle";
    form.elements.side.forEach((input) => { input.disabled = chosen.opponent === "here"; });
    const mine = chosen.opponent === "here" || (chosen.opponent in machines && chosen.side === "X");
    status.say(mine ? begins : "Start the game when you are ready.");
    if (board) board.show(board.game.names ? {board: emptyBoard(board.game), playable: new Set(mine ? board.game.squares.keys() : [])}
      : {moves: [], open: mine});
  }

  /** Draw the board chosen, and offer what its kind of game has; `sized` if the fields for its size have the focus. */
  async function draw(sized = false) {
    const {game: name} = chosen;
    try {
      const game = await findGame(name);
      const now = game.kind.setup ? await part(game.kind.setup) : game.kind.offered ? game.kind.offered(game.sides) : game.cells > SETTLED && !game.store ? LARGE : LINES;
      if (name !== chosen.game) return;
      offer(now);
      if (!game.kind.setup) gamesListed().then((games) => { // learners come when they are known
        const runs = games.find((listed) => listed.name === name)?.runs;
        if (!runs?.length || name !== chosen.game || signal.aborted) return;
        if (wished && runs.includes(wished)) chosen.opponent = wished;
        wished = null;
        const trained = Object.fromEntries(runs.map((run) => [run, {label: `Learner ${run.slice(4)}`}]));
        offer({...now, machines: {...now.machines, ...trained}});
        tell();
      }).catch(() => {});
      board = game.kind.Part ? new game.kind.Part(game, {onpick: startGame})
        : game.rows ? new Board(game, {onpick: (cell) => startGame(game.names[cell])}) : null;
      left.replaceChildren(board ? board.element : h("p", {}, `${game.name} has no picture: start the game.`));
      if (sized) choice.replaceWith(choice = gameChoice(name, (other) => set({game: other}), true));
      else {
        which.children[1]?.remove();
        if (now.sizes) which.append(now.sizes(game, (other) => set({game: other}, true)));
      }
      tell();
    } catch (error) {
      board = null;
      if (!offered) offer(LINES);
      left.replaceChildren(failure(error, () => draw()));
      status.say("");
    }
  }

  async function startGame(move) {
    if (start.disabled) return;
    start.disabled = true;
    status.sayIfSlow("Setting up the board \u2026");
    try {
      const mine = side[Math.max("XO".indexOf(chosen.side), side.indexOf(chosen.side))], machine = offered.machines[chosen.opponent];
      const player = machine?.levels ? `${machine.player}:${chosen.level}` : chosen.opponent;
      const players = machine ? Object.fromEntries(side.filter((each) => each !== mine).map((each) => [each, player])) : {};
      const {id, tokens} = await begin({game: chosen.game, players}, chosen.opponent === "away" ? [mine] : null, signal);
      if (move) await api(`/api/matches/${id}/moves`, {body: {version: 0, id: newId(), move}, token: tokens[side[0]], signal});
      go(`/match/${id}`, {state: {focus: move}});
    } catch (error) {
      if (signal.aborted) return;
      status.say(error.message, "error");
      start.disabled = false;
    }
  }
}

/** Begin a match, remember the seats of some sides, by default of all people, and return its id and all tokens. */
export async function begin(body, sides, signal) {
  const {id, tokens, links} = await api("/api/matches", {body, signal});
  const ours = sides ?? Object.keys(tokens);
  const invites = Object.entries(links.seats).filter(([side]) => !ours.includes(side)).map(([, link]) => link);
  remembered.set(id, {tokens: Object.fromEntries(ours.map((side) => [side, tokens[side]])), invites});
  return {id, tokens};
}

function radios(title, name, choices, chosen, set) {
  return h("fieldset", {}, h("legend", {}, title), Object.entries(choices).map(([value, text]) => h("label", {},
    h("input", {type: "radio", name, value, checked: value === chosen, onchange: () => set({[name]: value})}), ` ${text}`)));
}
