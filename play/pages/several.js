// What is special to games of more than two sides: marks for them, and who has left.

const COLOURS = new CSSStyleSheet();
COLOURS.replaceSync(`
  .side.Z, .mark.Z { color: var(--g); }
  .side.T, .mark.T { color: light-dark(#7a2f8f, #d9a0ea); }
`);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, COLOURS];

/** X and O are as everywhere; all differ in shape. */
export const marks = {X: "M2.2 2.2L7.8 7.8M7.8 2.2L2.2 7.8", O: "M5 2a3 3 0 1 0 0 6 3 3 0 1 0 0-6z", Z: "M2.4 2.4H7.6L2.4 7.6H7.6", T: "M2.2 2.6H7.8M5 2.6V8"};

const CALLED = {mcts: "random games", rules: "tactics", random: "random moves"};

/** Return what to call a player. */
export function called(player) {
  const [name, games] = player.split(":");
  return (CALLED[name] ?? name) + (games ? `, ${games} a move` : "");
}

/** Tell whether a side has left: a state then ends with the sides still in the game. */
export const gone = ({state}, side) => state.includes(" ") && !state.split(" ").at(-1).includes(side);

/** Return what stands beside a player. */
export const score = (state, side) => gone({state}, side) ? "has left" : "";

/** Return what to say if the last event is that a side has left. */
export function news({events}) {
  const {event, side} = events.at(-1) ?? {};
  return /resigned|forfeited/.test(event) ? `${side} has left. ` : "";
}

const made = new Map();

/** Return what can be set up for a game of these sides; the same each time. */
export function offered(sides) {
  const key = sides.join("");
  if (!made.has(key)) {
    made.set(key, {
      names: Object.fromEntries(sides.map((side, number) => [side, number ? side : `${side}, and begin`])),
      begins: "X begins: pick a cell.",
      rules: `${sides.length} sides take turns, and the first line wins. Who resigns leaves: the others play on, and the last one left wins.`,
      here: "Friends on this screen", away: "Friends elsewhere",
      machines: {mcts: {label: "Random games"}, rules: {label: "Tactics: completes and blocks"}, random: {label: "Random moves"}},
    });
  }
  return made.get(key);
}
