// Puzzles: positions in which exactly one move keeps the outcome.

import {Board, after, api, described, emptyBoard, failure, findGame, h, layout, marksOf, statusLine} from "./app.js";

const GAMES = ["4,4,4", "4,4,3", "3,4,3", "3,3,3", "4,4,4,misere"];

export async function show(main, {query, signal}) {
  const status = statusLine(), place = h("div", {class: "place"}), details = h("div", {class: "puzzle"}), reply = h("div", {class: "reply"});
  const stars = choice("Difficulty", [["", "any"], [1, "1, easy"], [2, "2"], [3, "3"], [4, "4"], [5, "5, hard"]]);
  const outcome = choice("Find", [["", "anything"], ["win", "a win"], ["draw", "the draw"]]);
  const games = choice("Game", GAMES.map((name) => [name, described({name})]));
  const button = (text, onclick, kind) => h("button", {type: "button", onclick, class: kind}, text);
  layout(main, "Puzzles", [place, status.element], [details, reply, h("div", {class: "buttons"},
    button("Another puzzle", () => another(), "primary"), button("Today\u2019s", () => load({})), button("Solution", () => solve())),
  games.element, outcome.element, stars.element]);
  document.title = "Puzzles \u2013 ttt4";
  let puzzle = null, game = null, board = null, solved = false, asked = 0, tried = 0, shownLine = null;
  const wanted = Object.fromEntries(query);
  begin(await findGame(wanted.game ?? "4,4,4"));
  await load(wanted);

  /** Draw the empty board of a game. */
  function begin(shape) {
    game = shape;
    board = new Board(game, {onpick: (cell) => answer(game.names[cell])});
    board.show({board: emptyBoard(game)});
    place.replaceChildren(board.element);
  }

  function another() {
    const chosen = Object.fromEntries([["stars", stars.value], ["outcome", outcome.value]].filter(([, value]) => value));
    return load({seed: String(Math.random()).slice(2, 10), game: games.value, ...chosen});
  }

  async function load(wanted) {
    const number = ++asked;
    status.sayIfSlow("Looking for a puzzle \u2026");
    try {
      const found = await api(`/api/puzzle?${new URLSearchParams(wanted)}`, {signal});
      const shape = await findGame(found.game);
      if (number !== asked) return;
      puzzle = found;
      solved = false;
      shownLine = null;
      if (game.name !== shape.name) begin(shape);
      reply.replaceChildren();
      details.replaceChildren(h("p", {class: "stars"},
        h("span", {"aria-hidden": "true"}, "\u2605".repeat(puzzle.stars) + "\u2606".repeat(5 - puzzle.stars)),
        h("span", {class: "small"}, ` difficulty ${puzzle.stars} of 5`)));
      status.say(`${puzzle.goal}. Pick a cell.`);
      draw();
    } catch (error) {
      if (signal.aborted || number !== asked) return;
      status.say("");
      reply.replaceChildren(failure(error, () => load(wanted)));
    }
  }

  function draw() {
    const now = shownLine ?? {board: puzzle.board};
    const open = [...marksOf(now.board)].flatMap((mark, cell) => mark === "." ? [cell] : []);
    board.show({...now, playable: new Set(solved || shownLine ? [] : open)});
  }

  async function answer(move) {
    const number = ++tried, before = puzzle;
    status.sayIfSlow("Checking \u2026");
    try {
      const next = await api(`/api/position?${new URLSearchParams({game: game.name, board: after(game, puzzle.board, move)})}`, {signal});
      if (number !== tried || before !== puzzle) return;
      const line = [move, ...next.mainline], right = move === puzzle.solution;
      solved = right;
      status.say(right ? `Right: ${move} is the only move.` : `${move} does not work: ${refuted(next)}.`, right ? "right" : "wrong");
      reply.replaceChildren(h("p", {}, right ? "It goes on: " : "The refutation: ", line.map((each, ply) => [h("button", {
        type: "button", class: "link", onclick: () => play(line.slice(0, ply + 1))}, each), " "])),
      h("div", {class: "buttons"}, !right && button("Try again", () => { shownLine = null; draw(); board.focus(); }),
        h("a", {class: "button", href: `/explore/${game.name}/${marksOf(puzzle.board)}`}, "Explore it")));
      play([move]);
    } catch (error) {
      if (signal.aborted || number !== tried || before !== puzzle) return;
      status.say("");
      reply.replaceChildren(failure(error, () => answer(move)));
    }
  }

  /** Return what a wrong move leads to, from the analysis of the position after it. */
  function refuted(next) {
    if (next.over) return next.winner ? `${next.winner} has won` : "it is a draw";
    if (next.plies == null) return "it only draws";
    return `${(next.score > 0) === (next.to_move === "X") ? "X" : "O"} wins in ${next.plies} ${next.plies === 1 ? "ply" : "plies"}`;
  }

  function play(moves) {
    shownLine = {board: puzzle.board};
    for (const move of moves) shownLine = {board: after(game, shownLine.board, move), before: shownLine.board};
    draw();
  }

  function solve() {
    if (puzzle) answer(puzzle.solution);
  }
}

function choice(title, options) {
  const select = h("select", {}, options.map(([value, text]) => h("option", {value}, text)));
  return {element: h("div", {class: "field"}, h("label", {}, h("span", {}, title), select)), get value() { return select.value; }};
}
