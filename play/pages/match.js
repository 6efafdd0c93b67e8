// A match: its board, its players and its moves, as they happen.

import {
  Board, after, api, connection, described, emptyBoard, failure, findGame, go, h, layout, linesOnDemand, marksOf, newId, part, refill, remembered,
  statusLine,
} from "./app.js";

export async function show(main, {parts: [id], signal}) {
  const mine = {tokens: {}, invites: [], ...remembered.get(id, {})};
  const [, side, token] = location.hash.match(/^#([^.]+)\.(.+)$/) ?? [];
  if (token) {
    mine.tokens[decodeURIComponent(side)] ??= token;
    remembered.set(id, mine);
    history.replaceState(history.state, "", location.pathname); // now it can be shared
  }
  const match = await api(`/api/matches/${encodeURIComponent(id)}`, {signal});
  const game = await findGame(match.game);
  signal.throwIfAborted();
  new MatchView(main, match, game, mine, signal);
}

/** Return the moves that stand after events. */
function played(events) {
  const made = [];
  for (const event of events) event.event === "took back" ? made.pop() : made.push(event);
  return made.filter(({move}) => move);
}

class MatchView {
  constructor(main, match, game, mine, signal) {
    Object.assign(this, {match, game, mine, signal, path: `/api/matches/${match.id}`, graded: game.names && !game.sides?.[2], hint: null, viewed: null, review: null});
    this.status = statusLine();
    this.lines = linesOnDemand(game.name, () => this.draw());
    this.board = game.kind.boardOf?.(this) ?? (game.rows
      ? new Board(game, {
        onpick: (cell) => this.play(game.names[cell]), onrefuse: (cell) => this.act("refuse", cell), onlook: (cell) => this.lines.look(cell),
      }) : null);
    this.picture = h("div", {class: "picture"}, this.board?.element);
    this.players = h("ul", {class: "players"});
    this.offer = h("div", {class: "offer"});
    this.moves = h("ol", {class: `moves ${game.kind.look ?? ""}`, "aria-label": "Moves"});
    this.buttons = h("div", {class: "buttons"});
    this.after = h("div", {class: "after"});
    const {length} = mine.invites;
    this.share = h("details", {class: "share", open: length > 0 && !match.version, ontoggle: () => part("share").then(({links}) =>
      this.share.children[1] ?? this.share.append(...links(match.id, mine.invites))).catch(() => {}),
    }, h("summary", {}, length ? "Invite and watch" : "Let others watch"));
    layout(main, described(game), [this.picture, this.status.element],
      [this.players, this.buttons, this.board && !game.kind.look && this.lines.element, this.share, this.moves, this.after, this.offer]);
    this.draw();
    this.#follow();
    const picked = game.names?.indexOf(history.state?.focus);
    if (picked >= 0) this.board.focus(picked);
  }

  /** Return the sides whose seats are ours. */
  get own() {
    return this.match.sides.filter((side) => this.mine.tokens[side]);
  }

  get myTurn() {
    return this.match.to_move !== null && this.mine.tokens[this.match.to_move];
  }

  machine(side) {
    return this.match.players[side] !== "human";
  }

  called(side) {
    const player = this.match.players[side];
    if (player !== "human") return this.game.kind.called(player);
    return this.mine.tokens[side] ? (this.own.length > 1 ? "on this screen" : "you") : "a person elsewhere";
  }

  /** Take a match, unless something newer is here already. */
  take(match) {
    const same = match.version === this.match.version;
    if (match.version < this.match.version || (same && match.notices < this.match.notices)) return;
    this.match = match;
    same ? this.draw() : this.#changed(); // a hint stays
  }

  /** Take a step, or the whole match if one is missing. */
  async step(step) {
    if (step.version <= this.match.version) return;
    if (step.version > this.match.version + 1) return this.refresh();
    const {event, side, move, time, ...now} = step;
    Object.assign(this.match, now, {undo_asked_by: null, events: [...this.match.events, {event, side, move, time}]});
    this.#changed();
  }

  /** Ask for the whole match, once at a time. */
  refresh() {
    return this.asked ??= api(this.path, {signal: this.signal}).then((match) => this.take(match)).finally(() => { this.asked = null; });
  }

  #changed() {
    this.hint = this.viewed = this.review = null;
    this.draw();
  }

  draw() {
    const {match} = this, moves = this.made = played(match.events);
    const at = this.viewed ?? moves.length;
    let {state} = match;
    if (this.game.kind.draw) this.game.kind.draw(this, moves.slice(0, at));
    else if (this.board) {
      let board = match.board ?? emptyBoard(this.game), before;
      for (const {move, side} of moves.slice(0, at)) board = after(this.game, before = board, move, side);
      const now = this.viewed === null, open = now && this.myTurn && !match.outcome;
      if (!now) state = board;
      this.board.show({
        board: state, before,
        playable: new Set(open ? match.legal.map((name) => this.game.names.indexOf(name)) : []),
        ending: now ? match.ending : [],
        notes: (now && this.hint) || new Map(),
        shown: this.lines.shown,
      });
    } else {
      refill(this.picture, h("pre", {}, match.state), h("div", {class: "buttons"},
        this.myTurn ? match.legal.map((move) => h("button", {type: "button", onclick: () => this.play(move)}, move)) : []));
    }
    this.#drawStatus(moves);
    this.#drawPlayers(state);
    this.#drawOffer();
    this.#drawButtons(moves);
    this.#drawMoves(moves, at);
    this.#drawEnd(moves);
    document.title = match.outcome ? "Game over \u2013 ttt4" : this.myTurn ? "Your move \u2013 ttt4" : "ttt4";
  }

  #drawStatus(moves) {
    const {match} = this, {outcome, captured = []} = match;
    if (this.viewed !== null) return this.status.say(`Position after ${this.viewed} of ${moves.length} moves.`);
    if (outcome) {
      const won = outcome.winner && this.own.length === 1 ? (this.own[0] === outcome.winner ? "You have won" : "You have lost")
        : outcome.winner ? `${outcome.winner} has won` : "A draw";
      return this.status.say(`${won}: ${outcome.reason}.`, "over");
    }
    if (this.hint) return;
    const told = moves.map(({side, move}, ply) => `${side} played ${move}${captured[ply] ? ` and captured ${captured[ply]}` : ""}. `);
    const replied = captured.at(-2) && this.machine(moves.at(-1).side); // who plays a machine hears of both captures
    const before = this.game.kind.news?.(match) || told.slice(replied ? -2 : -1).join("");
    if (this.myTurn) return this.status.say(`${before}${this.own.length > 1 ? `${match.to_move} to move.` : `Your turn: you are ${match.to_move}.`}`);
    if (this.machine(match.to_move)) {
      if (captured.at(-1)) this.status.say(before);
      return this.status.sayIfSlow(`${captured.at(-1) ? before : ""}${match.to_move}, ${this.called(match.to_move)}, is thinking \u2026`);
    }
    this.status.say(`${before}${match.to_move} to move.`);
  }

  #drawPlayers(state) {
    const {match: {sides, to_move: turn}, game: {kind}} = this;
    this.players.replaceChildren(...sides.map((side) => h("li", {class: side === turn ? "turn" : ""},
      h("b", {class: `side ${side}`}, side), ` ${this.called(side)}`, side === turn && (kind.turn?.() ?? h("span", {class: "small"}, " to move")),
      kind.score && h("span", {class: "score"}, kind.score(state, side)))));
  }

  #drawOffer() {
    const key = `${this.match.notices} ${this.match.version}`;
    if (this.offerDrawn === key) return;
    this.offerDrawn = key;
    this.match.undo_asked_by ? this.act("offer") : refill(this.offer);
  }

  #drawButtons(moves) {
    const {match} = this, over = Boolean(match.outcome);
    const side = this.myTurn ? match.to_move : this.own.find((each) => !this.game.kind.gone?.(match, each));
    const button = (text, onclick, disabled = false) => h("button", {type: "button", onclick, disabled}, text);
    const key = [this.own, over, side, moves.length > 0, this.myTurn, match.rematch, this.viewed].join();
    if (this.buttonsDrawn === key) return;
    this.buttonsDrawn = key;
    refill(this.buttons,
      this.viewed !== null && button("Back to the game", () => this.view(null)),
      this.own.length && over && h("button", {type: "button", class: "primary", onclick: () => this.act("rematch")},
        match.rematch ? "Join the rematch" : "Rematch"),
      !this.own.length && match.rematch && button("Watch the rematch", () => go(`/match/${match.rematch}`)),
      this.own.length && !over && button("Undo", () => this.act("undo"), !moves.length),
      this.own.length && !over && this.graded && button("Hint", () => this.act("hint"), !this.myTurn || this.viewed !== null),
      side && !over && button("Resign", () => this.act("resign", side)),
      this.own.length && moves.length && match.sides.every((each) => this.machine(each) || this.mine.tokens[each])
        && button("Restart", () => this.act("restart")),
      button("New game", () => go("/play")));
    if (over && !this.over && this.picture.contains(document.activeElement)) this.buttons.firstChild.focus();
    this.over = over;
  }

  #drawMoves(moves, at) {
    const grades = this.review?.moves ?? [], {captured = []} = this.match;
    const key = [moves.map(({move}) => move), at, grades.length].join();
    if (this.movesDrawn === key) return;
    this.movesDrawn = key;
    refill(this.moves, moves.map((made, ply) => h("li", {}, h("button", {
      type: "button", "data-key": ply, onclick: () => this.view(ply + 1), "aria-current": ply + 1 === at ? "step" : null,
    }, h("span", {}, h("b", {class: `side ${made.side}`}, made.side), ` ${made.move}`), this.game.kind.told?.(made, captured[ply], this.game),
    grades[ply] && grades[ply].grade !== "best"
      && h("span", {class: `grade ${grades[ply].changed ? "changed" : ""}`}, ` ${grades[ply].changed ? "\u2717 " : ""}${grades[ply].grade}`)))));
    const current = this.moves.querySelector("[aria-current]");
    if (current) this.moves.scrollTop = current.offsetTop - this.moves.clientHeight / 2;
  }

  #drawEnd(moves) {
    if (!this.match.outcome || !this.graded) return this.after.replaceChildren();
    if (this.review) return;
    this.review = {moves: []};
    part("advice").then(({review}) => review(this, moves)).catch((error) => this.signal.aborted
      || this.after.replaceChildren(failure(error, () => { this.review = null; this.draw(); })));
  }

  view(ply) {
    this.viewed = ply === this.made.length ? null : ply;
    this.draw();
  }

  play(move) {
    return this.send("moves", {move}, this.match.to_move);
  }

  /** Send a step, and take what it led to or, if it came too late, the match as it is. */
  async send(what, fields, side) {
    const {version} = this.match;
    if (this.sending === version) return;
    this.sending = version; // once the match has gone on, a lost answer holds up nothing
    this.status.sayIfSlow("Sending \u2026");
    try {
      const body = {version, id: newId(), ...fields};
      const answer = await api(`${this.path}/${what}`, {body, token: this.mine.tokens[side], signal: this.signal});
      answer.event ? this.step(answer) : this.take(answer);
    } catch (error) {
      if (!this.signal.aborted) await this.act("failed", {error, side});
    } finally {
      if (this.sending === version) this.sending = null;
    }
  }

  /** Do what seldom happens. */
  async act(what, about) {
    try {
      await (await part("actions"))[what](this, about);
    } catch (error) {
      this.offerDrawn = null;
      if (!this.signal.aborted) this.status.say(error.message, "error");
    }
  }

  /** Hear of every step while the page is seen, and of what it missed when it is seen again. */
  #follow() {
    let source = null, again = 0, pause = 500, heard = performance.now();
    const close = () => { source?.close(); source = null; clearTimeout(again); };
    const hear = (use) => (event) => { heard = performance.now(); pause = 500; connection(""); use(JSON.parse(event.data)); };
    const open = () => {
      if (source || document.hidden || this.signal.aborted) return;
      source = new EventSource(`${this.path}/events?after=${this.match.version}`);
      source.addEventListener("match", hear((match) => this.take(match)));
      source.addEventListener("step", hear((step) => this.step(step).catch(() => {})));
      source.addEventListener("beat", hear(() => {}));
      source.addEventListener("notice", hear((notice) => { Object.assign(this.match, notice); this.draw(); }));
      source.onerror = () => {
        close();
        connection("Connection lost: reconnecting.");
        again = setTimeout(open, pause);
        pause = Math.min(2 * pause, 5000);
      };
    };
    const watch = () => document.hidden ? close() : open();
    const ask = () => this.refresh().catch(() => {});
    const check = setInterval(() => {
      const silent = performance.now() - heard, alive = source?.readyState === EventSource.OPEN;
      if (document.hidden || silent < (alive ? 12000 : 2500)) return; // the server sends a beat every five seconds
      heard = performance.now();
      if (alive) close();
      open();
      ask();
    }, 1000);
    const {signal} = this;
    document.addEventListener("visibilitychange", watch, {signal});
    addEventListener("online", watch, {signal});
    addEventListener("offline", ask, {signal}); // which says so, unless the server is on this machine
    signal.addEventListener("abort", () => {
      close();
      clearInterval(check);
      connection("");
    });
    open();
  }
}
