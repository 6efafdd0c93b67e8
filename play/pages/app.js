// What every page shares: elements, requests, the connection, and which page an address shows.

const PAGES = {play: "play", match: "match", explore: "explore", puzzles: "puzzles", api: "docs"};

/** Return an element with attributes, handlers such as `onclick`, and children. */
export function h(tag, attributes = {}, ...children) {
  const element = h.svg.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}
h.svg = new Set(["svg", "path", "circle", "rect", "polyline", "text"]);

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

/** Return the JSON of an answer. A busy or broken server is asked a few times, one that cannot be reached for ever. */
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
      const later = response.status === 429 || response.status >= 500;
      if (!later || attempt >= 6) {
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
export function gameChoice(chosen, onchoice) {
  const other = h("input", {type: "text", "aria-label": "Another board", placeholder: "rows,columns,k", size: "12", hidden: true,
    onchange: () => other.value.trim() && onchoice(other.value.trim())});
  const select = h("select", {onchange: () => {
    other.hidden = select.value !== "";
    if (select.value) onchoice(select.value);
    else other.focus();
  }}, h("option", {value: chosen}, described({name: chosen})), h("option", {value: ""}, "Another board \u2026"));
  const list = () => api("/api/games").then((games) => {
    const listed = games.some(({name}) => name === chosen) ? games : [{name: chosen}, ...games];
    const now = select.value;
    select.replaceChildren(...listed.map((game) => h("option", {value: game.name}, described(game))),
      h("option", {value: ""}, "Another board \u2026"));
    select.value = now;
  }).catch(() => {});
  select.addEventListener("focus", list, {once: true});
  select.addEventListener("pointerenter", list, {once: true});
  return h("div", {class: "field"}, h("label", {}, h("span", {}, "Game"), select), other);
}

/** Return what to call a game. */
export function described({name, about, cells}) {
  const [, rows, columns, k, misere] = name.match(/^(\d+),(\d+),(\d+)(,mis.re)?$/) ?? [];
  if (!rows) return about ? `${name}: ${cells} cells` : name;
  return `${rows} \u00d7 ${columns}, ${k} in a row${misere ? " loses" : ""}`;
}

let fresh = "";

/** Return a part of the page. What Firefox could not fetch it never fetches again by that name. */
export const part = (name) => import(`/static/${name}.js${fresh}`).catch(() => {
  fresh = `?${Date.now()}`;
  throw new Error("A part of the page could not be fetched.");
});

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
    const here = link.pathname === `/${page === "match" ? "play" : page}`;
    here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
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
