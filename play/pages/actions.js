// What seldom happens in a match: to take back, ask for a hint, play again, or send what is refused.

import {api, go, h, marksOf, part, refill, remembered} from "./app.js";

/** Show who has asked to take a move back, and let the others answer. */
export function offer(view) {
  const {undo_asked_by: asked, undo_waits_for: waits} = view.match, [answering] = view.own.filter((side) => waits.includes(side));
  const answer = (text, agree) => h("button", {type: "button", onclick: () => view.send("undo", {agree}, answering)}, text);
  refill(view.offer, !asked ? [] : answering
    ? [h("p", {role: "alert"}, `${asked} asks to take a move back.`), answer("Agree", true), answer("Decline", false)]
    : h("p", {}, `${asked} asked to take a move back.`));
}

/** Take one's last move back, or ask for it; who plays all sides agrees at once. */
export async function undo(view) {
  const {own, made, match} = view, side = made.findLast((move) => own.includes(move.side))?.side ?? own[0];
  await view.send("undo", {}, side);
  for (const each of match.sides) {
    if (view.match.undo_asked_by && view.match.undo_waits_for.includes(each) && own.includes(each)) await view.send("undo", {agree: true}, each);
  }
}

/** Mark the best moves, if the match has not gone on meanwhile. */
export async function hint(view) {
  view.status.sayIfSlow("Looking it up \u2026");
  const {version} = view.match, {hint: find} = await part("advice");
  const {notes, words} = await find(view.match, view.game, view.signal);
  if (version !== view.match.version) return;
  view.hint = notes;
  view.status.say(words);
  view.draw();
}

/** Say why a cell cannot be picked, to who would have to move; of a wide board it is known by its name, and taken. */
export function refuse({own, match, game, sending, viewed, myTurn, status}, cell) {
  if (!own.length || match.outcome || sending === match.version) return;
  const name = game.names?.[cell] ?? cell, empty = game.names && marksOf(match.state)[cell] === ".";
  status.say(viewed !== null ? "This is an earlier position: go back to the game to move."
    : !myTurn ? `It is ${match.to_move}\u2019s turn.`
    : empty ? game.kind.refusal(name, match.to_move) : `${name} is taken: pick an empty cell.`, "error");
}

/** Say why a step was refused: it came too late, it is not allowed, or its token is of no seat, which a right link may then open. */
export function failed(view, {error, side}) {
  if (error.match) view.take(error.match);
  const last = view.made.at(-1);
  view.status.say(error.match ? `The game had gone on meanwhile${last ? `: ${last.side} played ${last.move}` : ""}. Look again.`
    : error.message, "error");
  if (error.statusCode !== 401) return;
  delete view.mine.tokens[side];
  remembered.set(view.match.id, view.mine);
  view.draw();
}

/** Begin the match that follows, or join it: each takes the next one's side. */
export async function rematch({path, own, mine, signal}) {
  const tokens = {};
  let begun;
  for (const side of own) {
    begun = await api(`${path}/rematch`, {body: {}, token: mine.tokens[side], signal});
    Object.assign(tokens, begun.tokens);
  }
  remembered.set(begun.id, {tokens, invites: []});
  go(`/match/${begun.id}`);
}

/** Begin the same game again, with the same players on the same sides. */
export async function restart({match: {game, players, board}, signal}) {
  const {begin} = await part("play");
  go(`/match/${(await begin({game, players, ...(board && {board})}, null, signal)).id}`);
}

/** Ask whether to resign. Enter, pressed again, keeps on playing. */
export function resign(view, side) {
  const button = (text, onclick) => h("button", {type: "button", onclick}, text);
  const back = () => { view.buttonsDrawn = null; view.draw(); };
  refill(view.buttons, button("Keep playing", () => { back(); view.buttons.firstChild.focus(); }),
    button("Really resign", () => { back(); view.send("resign", {}, side); }));
  view.buttons.firstChild.focus();
}
