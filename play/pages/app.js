// What every page shares: elements, requests, the connection, games and their board, and which page an address shows.

const PAGES = {play: "play", match: "match", explore: "explore", puzzles: "puzzles", api: "docs"};

/** Return an element with attributes, handlers such as `onclick`, and children. */
export function h(tag, attributes = {}, ...children) {
  const element = /^(svg|path|circle|rect|polyline|text)$/.test(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

/** An answer that is an error. */
export class Problem extends Error {
  constructor(fields) {
    super(fields.message);
    Object.assign(this, fields);
  }
}

const pause = (ms, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms);
  addEventListener("online", resolve, {once: true});
  signal.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, {once: true});
});

/** Return the JSON of an answer; a busy server is asked a few times, one out of reach for ever. */
export async function api(path, {body, token, signal = new AbortController().signal} = {}) {
  for (let attempt = 0; ; attempt++) {
    let wait = Math.min(8000, 250 * 2 ** attempt);
    try {
      const response = await fetch(path, {
        method: body ? "POST" : "GET",
        headers: {"content-type": "application/json", ...(token && {authorization: `Bearer ${token}`})},
        body: body && JSON.stringify(body),
        signal: AbortSignal.any([signal, AbortSignal.timeout(30000)]),
      });
      const fields = await response.json();
      if (response.ok) {
        connection("");
        return fields;
      }
      if ((response.status < 500 && response.status !== 429) || attempt >= 6) {
        connection("");
        throw new Problem(fields);
      }
      wait = Math.max(wait, 1000 * Number(response.headers.get("retry-after") || 0));
      connection("The server is busy: trying again.");
    } catch (error) {
      if (signal.aborted || error instanceof Problem) throw error;
      connection("No connection: trying again.");
    }
    await pause(wait, signal);
  }
}

let late;

/** Say what is wrong with the connection, if it lasts; nothing if it is well. */
export function connection(text) {
  const line = document.getElementById("connection");
  clearTimeout(late);
  if (text && line.hidden) late = setTimeout(() => show(text), 600);
  else show(text);
  function show(now) {
    line.hidden = !now;
    line.textContent = now;
  }
}

/** Return a line for messages, which screen readers announce. */
export function statusLine() {
  const element = h("p", {class: "status", role: "status"});
  let timer;
  return {
    element,
    say(text, kind = "") {
      clearTimeout(timer);
      element.className = `status ${kind}`;
      if (element.textContent !== text) element.textContent = text;
    },
    /** Say it if it is still so after 150 ms; sooner, it would flicker. */
    sayIfSlow(text) {
      clearTimeout(timer);
      timer = setTimeout(() => this.say(text, "waiting"), 150);
    },
  };
}

/** Fill an element anew. A focus in it goes to what has the same key or text, else to what comes first. */
export function refill(element, ...children) {
  const keyOf = (each) => each.dataset.key ?? each.textContent;
  const had = element.contains(document.activeElement) && keyOf(document.activeElement);
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (had === false) return;
  const usable = [...element.querySelectorAll("button:enabled")];
  (usable.find((each) => keyOf(each) === had) ?? usable[0] ?? document.getElementById("main")).focus();
}

/** Return a name by which the server knows a request again. */
export const newId = () => crypto.getRandomValues(new Uint32Array(3)).join("-");

/** Return an error's message and a button to try again. */
export function failure(error, retry) {
  return h("div", {class: "failure", role: "alert"},
    h("p", {}, error.message || String(error)),
    h("button", {type: "button", onclick: retry}, "Try again"));
}

/** What this browser remembers, if it lets us. */
export const remembered = {
  here: new Map(), // for browsers that keep nothing
  get(key, otherwise) {
    try {
      return this.here.get(key) ?? JSON.parse(localStorage.getItem(`ttt4:${key}`)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  set(key, value) {
    this.here.set(key, value);
    try {
      localStorage.setItem(`ttt4:${key}`, JSON.stringify(value));
    } catch { /* it lasts as long as the page */ }
  },
};

/** Lay out a page: a board on the left, the rest on the right. */
export function layout(main, title, left, right) {
  main.replaceChildren(h("h1", {tabindex: "-1"}, title), h("div", {class: "columns"},
    h("section", {class: "left", "aria-label": "Board"}, left), h("section", {class: "right", "aria-label": "Game"}, right)));
}

/** Return a choice of a game: one that is listed, or any board by its numbers. */
export function gameChoice(chosen, onchoice, several) {
  const other = h("input", {type: "text", "aria-label": "Another board", placeholder: "rows,columns,k", size: "12", hidden: true,
    onchange: () => other.value.trim() && onchoice(other.value.trim())});
  const select = h("select", {onchange: () => {
    other.hidden = select.value !== "";
    if (select.value) onchoice(select.value);
    else other.focus();
  }}, h("option", {value: chosen}, described({name: chosen})), h("option", {value: ""}, "Another board \u2026"));
  const list = () => gamesListed().then((games) => {
    const all = games.filter(({sides}) => several || !sides);
    if (!all.some(({name}) => name === chosen)) all.unshift({name: chosen});
    const now = select.value;
    select.replaceChildren(...all.map((game) => h("option", {value: game.name}, described(game))),
      h("option", {value: ""}, "Another board \u2026"));
    select.value = now;
  }).catch(() => {});
  select.addEventListener("focus", list, {once: true});
  select.addEventListener("pointerenter", list, {once: true});
  return h("div", {class: "field"}, h("label", {}, h("span", {}, "Game"), select), other);
}

let listed;

/** Return the games that are listed, which are asked for once. */
export const gamesListed = () => listed ??= api("/api/games").catch((error) => { listed = null; throw error; });

/** Return what to call a game. */
export function described({name, about, cells}) {
  if (DUEL.test(name)) return `Infinity Grid Duel, ${(name.match(/\d+/g) ?? [6, 6]).join("\u00a0\u00d7\u00a0")}`;
  const [, rows, columns, k, misere] = name.match(/(\d+),(\d+),(\d+)(,mis.re)?$/) ?? [];
  if (!rows) return about ? `${name}: ${cells} cells` : name;
  return `${rows} \u00d7 ${columns}, ${k} in a row${misere ? " loses" : ""}${name[1] === "p" ? `, ${name[0]} players` : ""}`;
}

let fresh = "";

/** Return a part of the page. What Firefox could not fetch it never fetches again by that name. */
export const part = (name) => import(`/static/${name}.js${fresh}`).catch(() => {
  fresh = `?${Date.now()}`;
  throw new Error("A part of the page could not be fetched.");
});

const DUEL = /^duel(?:,(\d|1[0-2]),(\d|1[0-2]))?$/;

/** What is special to games of lines; duel.js and wide.js have the same, and more. */
export const LINES = {
  marks: {X: "M2.2 2.2L7.8 7.8M7.8 2.2L2.2 7.8", O: "M5 2a3 3 0 1 0 0 6 3 3 0 1 0 0-6z"},
  called: (player) => player.replace(/^oracle(:(\d+))?$/, (all, colon, level) => `the oracle${level ? `, level ${level}` : ""}`)
    .replace(/^run:/, "learner "),
};

const known = new Map();

/** Boards of lines with more cells are settled only by a store, and those with more than 32 have none. */
export const SETTLED = 27;

/** Return a game's shape: its kind, rows, columns, each cell's square and name, and its lines if they are wanted. */
export async function findGame(name, {lines = false} = {}) {
  let game = known.get(name) ?? shapeOf(name);
  if (!game || (lines && !game.lines)) {
    const fields = await api(`/api/games/${encodeURIComponent(name)}`);
    game = fields.cells == null ? {name: fields.name, rows: 0} : {...fields, names: fields.cell_names};
  }
  game.kind = DUEL.test(game.name) ? await part("duel") : game.sides?.[2] ? await part("several")
    : game.names || !game.rows ? LINES : await part("wide");
  known.set(name, game);
  return game;
}

/** Return the shape that a name tells; null if the server must be asked. */
function shapeOf(name) {
  const [, rows = 6, columns = 6] = name.match(DUEL) ?? name.match(/^(\d{1,3}),(\d{1,3}),\d{1,3}(?:,mis[eè]re)?$/) ?? [name, 0];
  const cells = rows * columns;
  if (!(cells > 0 && cells <= 400) || (cells > SETTLED && cells <= 32 && !DUEL.test(name))) return null;
  const squares = Array.from({length: cells}, (_, cell) => cell);
  const names = squares.map((square) => letters(square % columns) + (Math.floor(square / columns) + 1));
  return {name, rows: +rows, columns: +columns, cells, squares, names};
}

export function letters(column) {
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
export function after(game, board, move, side) {
  const marks = [...marksOf(board)], cell = game.names.indexOf(move);
  side ??= Object.keys(game.kind.marks)[marks.filter((mark) => mark !== ".").length % 2];
  for (const each of game.kind.turned?.(game, marks, cell, side) ?? []) marks[each] = side;
  marks[cell] = side;
  return boardText(game, marks);
}

/** Return the cell that a move from one board to the next has filled; -1 if there is none. */
export function filled(before, board) {
  const old = marksOf(before);
  return [...marksOf(board)].findIndex((mark, cell) => mark !== "." && old[cell] === ".");
}

/** A board on the page: `onpick(cell)` hears clicks that can be, `onrefuse(cell)` others, and `onlook(cell)` where one looks. */
export class Board {
  constructor(game, {onpick, onrefuse = () => {}, onlook = () => {}, label = `Board of ${game.name}`}) {
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
      class: `board ${game.kind.look ?? ""}`, role: "grid", "aria-label": label,
      onkeydown: (event) => this.#steer(event),
      onclick: (event) => this.#hear(event, (cell) => (this.playable?.has(cell) ? onpick : onrefuse)(cell)),
      onfocusin: (event) => this.#hear(event, (cell) => { this.#stop(cell); onlook(cell); }),
      onpointerover: (event) => this.#hear(event, onlook),
      onpointerleave: () => onlook(null),
      onfocusout: () => onlook(null),
    }, named, lines));
    const grid = this.element.firstChild;
    grid.style.setProperty("--columns", columns);
    grid.style.setProperty("--rows", rows);
    grid.classList.toggle("large", Math.max(rows, columns) > 8);
    grid.classList.toggle("wide", Math.max(rows, columns) > 12);
    this.#stop(0);
  }

  #button(cell) {
    const button = h("button", {type: "button", class: "cell", tabindex: "-1", "data-cell": cell});
    this.buttons[cell] = button;
    return button;
  }

  /** Draw a board: what the last move changed, cells to pick, that ended the game, notes, cells to point out. */
  show({board, before, playable = new Set(), ending = [], notes = new Map(), shown = new Set()}) {
    this.playable = playable;
    const {marks: paths} = this.game.kind, marks = marksOf(board), was = before && marksOf(before), ended = new Set(ending);
    const last = before ? filled(before, board) : -1;
    this.buttons.forEach((button, cell) => {
      const name = this.game.names[cell], side = marks[cell], note = notes.get(cell), taken = side in paths;
      const turned = taken && was?.[cell] in paths && was[cell] !== side;
      const key = [side, note?.text, note?.kind, note?.best, playable.has(cell), cell === last, ended.has(name), shown.has(cell), turned].join();
      if (this.drawn[cell] === key) return;
      const words = [name, taken ? side : "empty", note?.words, note?.best && "best", cell === last && "last move", turned && "captured",
        ended.has(name) && "in the line that ended the game", shown.has(cell) && "pointed out"];
      button.ariaLabel = words.filter(Boolean).join(", ");
      button.ariaDisabled = !playable.has(cell);
      button.className = ["cell", note?.kind, note?.best && "best", cell === last && "last", turned && "turned", ended.has(name) && "ended",
        shown.has(cell) && "shown"].filter(Boolean).join(" ");
      if (this.drawn[cell]?.[0] !== side || !taken) {
        button.replaceChildren(...(taken ? [h("svg", {viewBox: "0 0 10 10", class: `mark ${side}`, "aria-hidden": "true"}, h("path", {d: paths[side]}))]
          : note ? [h("span", {class: "note"}, note.text)] : []));
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
    if (this.at >= 0) this.buttons[this.at].tabIndex = -1;
    this.buttons[this.at = cell].tabIndex = 0;
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

/** Return a checkbox that shows the lines through a cell, by lines.js. */
export function linesOnDemand(name, redraw) {
  const lines = {shown: new Set(), at: null, look(cell) { lines.at = cell; }};
  const box = h("input", {type: "checkbox", onchange: () => part("lines").then(({toggle}) => toggle(lines, box, name, redraw)).catch(() => {})});
  lines.element = h("div", {class: "lines"}, h("label", {}, box, " Show the lines through a cell"), h("span", {class: "small"}));
  return lines;
}

let leaving = new AbortController();

/** Go to an address of this site. */
export function go(address, {state = null, silently = false} = {}) {
  history.pushState(state, "", address);
  if (!silently) route(true);
}

async function route(moved = false) {
  leaving.abort();
  leaving = new AbortController();
  const {signal} = leaving;
  const page = location.pathname.split("/")[1] || "play";
  for (const link of document.querySelectorAll("nav a")) {
    link.ariaCurrent = link.pathname === `/${page === "match" ? "play" : page}` ? "page" : null;
  }
  const main = document.getElementById("main");
  try {
    const {show} = await part(PAGES[page]);
    if (signal.aborted) return;
    main.replaceChildren(h("p", {class: "loading", role: "status"}, "Loading \u2026"));
    await show(main, {page, parts: location.pathname.split("/").slice(2).map(decodeURIComponent), query: new URLSearchParams(location.search), signal});
    if (moved && !signal.aborted && !main.contains(document.activeElement)) main.querySelector("h1")?.focus();
  } catch (error) {
    if (signal.aborted) return;
    main.replaceChildren(h("h1", {}, "That did not work"), failure(error, () => route()));
    addEventListener("online", () => signal.aborted || route(), {once: true});
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || link.origin !== location.origin || link.target) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (link.hash === "#main") {
    event.preventDefault();
    document.getElementById("main").focus();
    return;
  }
  if (!(link.pathname.split("/")[1] in {"": 1, ...PAGES})) return;
  event.preventDefault();
  go(link.href);
});
addEventListener("popstate", () => route(true));
route();
