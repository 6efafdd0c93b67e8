// Exploring: what every move leads to, from any position of any game, and where one can go wrong.

import {
  Board, Problem, SETTLED, after, api, boardText, described, emptyBoard, failure, filled, findGame, gameChoice, go, h, layout, linesOnDemand, marksOf, part,
  refill, statusLine,
} from "./app.js";

const answers = new Map();
const estimated = new Map(); // what was last said of positions that are not settled: enough for the graph
const MOST_KEPT = 5000;

export async function show(main, {parts, query, signal}) {
  const name = parts[0] || "4,4,4";
  const game = await findGame(name);
  signal.throwIfAborted();
  if (!game.names) throw new Error(`${described(game)}: a game without positions to look up.`);
  let path = [parts.slice(1).join("/") || emptyBoard(game)], at = 0;
  const moves = (query.get("moves") ?? "").split(/[ +,]+/).filter(Boolean);
  if (moves.length) {
    const here = path[0], all = [query.get("from") ?? emptyBoard(game)];
    for (const move of moves) all.push(after(game, all.at(-1), move));
    at = all.findIndex((board) => marksOf(board) === marksOf(here));
    if (at < 0) at = 0;
    else path = all;
  } else if (history.state?.path) ({path, at} = history.state);
  const large = !game.kind.verdict && game.cells > SETTLED && !game.store ? await part("large") : null;
  signal.throwIfAborted();
  new Explorer(main, game, path, at, signal, large);
}

/** Return an analysis of each board, in order; an error where there is none. Exact ones are asked for once. */
async function analyses(game, boards, signal) {
  const unknown = [...new Set(boards.filter((board) => !answers.has(`${game.name} ${board}`)))];
  const found = new Map();
  if (unknown.length) {
    const got = await api("/api/positions", {body: {game: game.name, boards: unknown}, signal});
    const later = got.find(({statusCode}) => statusCode >= 429);
    if (later) throw new Problem(later);
    for (const kept of [answers, estimated]) if (kept.size > MOST_KEPT) kept.clear();
    unknown.forEach((board, index) => {
      found.set(board, got[index]);
      (got[index].exact ? answers : estimated).set(`${game.name} ${board}`, got[index]);
    });
  }
  return boards.map((board) => answers.get(`${game.name} ${board}`) ?? found.get(board));
}

/** Return a position's address: without rows where one, such as `..`, would be a step up. */
const addressOf = (game, board) => `/explore/${game}/${/(^|\/)\.\.?(\/|$)/.test(board) ? marksOf(board) : board}`;

class Explorer {
  constructor(main, game, path, at, signal, large) {
    const words = game.kind.verdict ? game.kind : large ? large.wordsFrom(WORDS) : WORDS;
    Object.assign(this, {game, path, at, signal, words, large, analysis: null, setting: false, drawn: null});
    this.status = statusLine();
    this.lines = linesOnDemand(game.name, () => this.settled && this.#drawBoard());
    this.board = new Board(game, {onpick: (cell) => this.pick(cell), onrefuse: (cell) => this.refuse(cell), onlook: (cell) => this.look(cell)});
    this.trouble = h("div");
    this.line = h("p", {class: "line"});
    this.main = h("div", {class: "mainline"});
    this.facts = large && h("div", {class: "facts"});
    this.graph = h("figure", {class: "graph"});
    this.steps = h("ol", {class: "moves", "aria-label": "Moves to this position"});
    const button = (text, onclick) => h("button", {type: "button", onclick}, text);
    this.back = button("Back", () => this.to(this.at - 1));
    this.forward = button("Forward", () => this.to(this.at + 1));
    this.setup = h("input", {type: "checkbox", onchange: () => { this.setting = this.setup.checked; this.draw(); }});
    layout(main, "Explore", [this.board.element, this.status.element, this.trouble, this.facts], [
      h("div", {class: "buttons"}, this.back, this.forward, button("Clear", () => this.set(emptyBoard(game)))),
      this.line, this.main,
      h("div", {class: "lines"}, h("label", {}, this.setup, " Set up: a click changes a cell")),
      !game.kind.look && this.lines.element,
      gameChoice(game.name, (name) => go(`/explore/${encodeURIComponent(name).replaceAll("%2C", ",")}`)),
      h("p", {class: "small legend"}, "For the side to move: ",
        this.words.legend.map(([kind, text, words]) => [h("b", {class: `key ${kind}`}, text), words]), " A ring marks the best."),
      this.steps, this.graph,
    ]);
    document.title = `Explore ${game.name} \u2013 ttt4`;
    this.load();
  }

  get now() {
    return this.path[this.at];
  }

  /** Whether the board that one sees is the one that this is about; if not, the answer is on its way. */
  get settled() {
    return this.seen === this.now;
  }

  /** Ask about the position, and draw it when the answer is here, or bare if that takes long. */
  async load(again = false) {
    const {now} = this;
    clearTimeout(this.slow);
    this.slow = setTimeout(() => { this.status.say("Working it out \u2026", "waiting"); this.analysis = null; this.draw(); }, 150);
    try {
      const [analysis] = await analyses(this.game, [now], this.signal);
      if (analysis.source === "store") await analyses(this.game, this.path, this.signal);
      if (now !== this.now) return;
      clearTimeout(this.slow);
      this.analysis = analysis.error ? null : analysis;
      this.path[this.at] = analysis.board ?? now; // an address may have it in another notation
      this.trouble.replaceChildren();
      this.status.say(analysis.error ? analysis.message : this.words.sentence(analysis), analysis.error ? "error" : "");
      this.draw();
      if (!again && !analysis.error && this.large?.early(analysis)) this.load(true);
    } catch (error) {
      if (this.signal.aborted || now !== this.now) return;
      clearTimeout(this.slow);
      this.analysis = null;
      this.status.say("");
      this.trouble.replaceChildren(failure(error, () => this.load()));
      this.draw();
    }
  }

  /** Go to another place on the path. */
  to(at) {
    this.at = at;
    this.#moved();
  }

  /** Begin a new path at a board. */
  set(board) {
    this.path = [board];
    this.to(0);
  }

  pick(cell) {
    const {game, now} = this;
    if (!this.settled) return;
    if (this.setting) {
      const cycle = [".", ...Object.keys(game.kind.marks)];
      let marks = [...marksOf(now)];
      if (marks.length !== game.cells || !marks.every((mark) => cycle.includes(mark))) marks = [...marksOf(emptyBoard(game))];
      marks[cell] = cycle[(cycle.indexOf(marks[cell]) + 1) % 3];
      this.analysis = null;
      this.set(boardText(game, marks));
      this.draw();
    } else this.play([game.names[cell]]);
  }

  /** Say why an empty cell cannot be filled. */
  refuse(cell) {
    const {analysis, now, game} = this;
    if (this.settled && analysis?.to_move && marksOf(now)[cell] === ".") this.line.textContent = game.kind.refusal(game.names[cell], analysis.to_move);
  }

  /** Make moves from here, and leave what came after here before. */
  play(moves) {
    this.path = this.path.slice(0, this.at + 1);
    for (const move of moves) this.path.push(after(this.game, this.path.at(-1), move));
    this.to(this.path.length - 1);
  }

  #moved() {
    const state = {path: this.path, at: this.at};
    go(addressOf(this.game.name, this.now), {state, silently: true});
    this.load();
  }

  draw() {
    this.seen = this.now;
    this.stop = null; // pairs are shown until there is something else to see
    this.#drawBoard();
    const had = document.activeElement;
    this.back.disabled = !this.at;
    this.forward.disabled = this.at === this.path.length - 1;
    if (had.disabled) (had === this.back ? this.forward : this.back).focus();
    this.look(null);
    this.#drawMainline();
    this.#drawSteps();
    this.#drawGraph();
  }

  #drawBoard() {
    const {analysis, game, now, path, at} = this;
    const moves = analysis?.moves ?? [];
    const {large} = this, telling = analysis && analysis.best.length < moves.length;
    this.board.show({
      board: now,
      before: path[at - 1],
      playable: new Set(this.setting ? game.squares.keys() : moves.map(({cell}) => cell)),
      notes: this.setting || !analysis ? new Map() : large ? large.notes(game, analysis, this.words, this.stop)
        : new Map(moves.map((move) => [move.cell, {...this.words.verdict(move), best: telling && move.best}])),
      shown: this.lines.shown,
    });
  }

  #drawMainline() {
    const line = this.analysis?.mainline ?? [];
    const {large} = this;
    if (large) refill(this.facts, ...large.facts(this.analysis, (moves) => this.play(moves), (stop) => { this.stop = stop; this.#drawBoard(); }));
    refill(this.main, h("h2", {}, large ? large.title(this.analysis) : "Main line"), h("p", {}, line.length ? line.map((move, ply) => [
      h("button", {type: "button", class: "link", onclick: () => this.play(line.slice(0, ply + 1))}, move), " "]) : "\u2013",
      line.length && !this.analysis.mainline_complete ? "\u2026" : ""),
    !large && this.analysis?.proof && h("p", {class: "small"}, this.analysis.proof.text));
  }

  #drawSteps() {
    const named = this.path.slice(1).map((board, ply) => this.#moveBetween(this.path[ply], board));
    const key = named.join() + this.at;
    if (this.drawn === key) return;
    this.drawn = key;
    refill(this.steps, ["start", ...named].map((move, ply) => h("li", {}, h("button", {
      type: "button", "aria-current": ply === this.at ? "step" : null, onclick: () => this.to(ply)}, move))));
  }

  #moveBetween(before, now) {
    return this.game.names[filled(before, now)] ?? "?";
  }

  /** Draw who wins in each position of the path, as far as that is known. */
  #drawGraph() {
    const known = this.path.map((board) => answers.get(`${this.game.name} ${board}`) ?? estimated.get(`${this.game.name} ${board}`));
    const drawn = this.known = known.filter((each) => each && !each.error).length < 2 ? null : known;
    if (!drawn) return this.graph.replaceChildren();
    part("graph").then(({graph}) => drawn === this.known && this.graph.replaceChildren(...graph(this.game, drawn, this.at)), () => {});
  }

  /** Show the line after the move one looks at. */
  async look(cell) {
    this.lines.look(cell);
    clearTimeout(this.soon);
    const move = cell === null || !this.settled ? null : this.analysis?.moves.find((each) => each.cell === cell);
    if (!move) {
      this.line.textContent = "";
      return;
    }
    const {now, analysis} = this, said = `${move.move} ${this.words.verdict(move).words}`;
    this.line.textContent = `${said}.`;
    if (analysis.source !== "store" && this.game.cells > 16) return;
    this.soon = setTimeout(async () => {
      try {
        const [next] = await analyses(this.game, [after(this.game, now, move.move)], this.signal);
        if (now === this.now && this.line.textContent === `${said}.` && !next.error) {
          this.line.textContent = `${said}: ${[move.move, ...next.mainline].join(" ")}.`;
        }
      } catch { /* the verdict is there, and the line can wait */ }
    }, 60);
  }
}

/** How to speak of games of lines. */
const WORDS = {
  verdict, sentence,
  legend: [["win", "+n", " wins in n plies, "], ["draw", "=", " draws, "], ["loss", "\u2212n", " loses in n plies."]],
};

/** Return what a move leads to: `+5`, `=`, `-6`, `?`; the same in words; and its kind for the style sheet. */
function verdict(move) {
  const plies = `${move.plies} ${move.plies === 1 ? "ply" : "plies"}`;
  if (move.plies == null) {
    return move.outcome ? {text: "=", words: "draws", kind: "draw"} : {text: "?", words: "not settled", kind: "open"};
  }
  return move.score > 0
    ? {text: `+${move.plies}`, words: `wins in ${plies}`, kind: "win"}
    : {text: `\u2212${move.plies}`, words: `loses in ${plies}`, kind: "loss"};
}

/** Return a position's verdict as a sentence. */
function sentence(analysis) {
  if (analysis.over) return analysis.winner ? `${analysis.winner} has won.` : "The game is a draw.";
  if (analysis.plies == null) {
    return `${analysis.to_move} to move: ${analysis.outcome ? "a draw with best play." : "no forced win was found in time."}`;
  }
  const winner = (analysis.score > 0) === (analysis.to_move === "X") ? "X" : "O";
  const most = analysis.bound ? "at most " : "";
  return `${analysis.to_move} to move: ${winner} wins in ${most}${analysis.plies} ${analysis.plies === 1 ? "ply" : "plies"}.`;
}
