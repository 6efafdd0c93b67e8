// Sharing a match: the links by which a friend plays and anybody watches.

import {h} from "./app.js";

/** Return the links to a match as elements. */
export function links(id, invites) {
  return [
    ...invites.map((link) => shared(`Send this link to your friend, who plays ${invites.length > 1 ? link.match(/#(.+?)\./)[1] : "the other side"}`,
      location.origin + link)),
    ...(/^(localhost|127\.|\[::1)/.test(location.hostname) ? [h("p", {class: "small"},
      "This address works on this machine only: to be reached from others, serve with --host 0.0.0.0 and open its other address.")] : []),
    shared("Anybody with this link can watch", `${location.origin}/match/${id}`),
  ];
}

function shared(text, link) {
  const field = h("input", {type: "text", readonly: true, value: link, onfocus: (event) => event.target.select()});
  const copy = h("button", {type: "button", onclick: async () => {
    await navigator.clipboard.writeText(link);
    copy.textContent = "Copied";
  }}, "Copy");
  return h("div", {class: "field"}, h("label", {}, h("span", {}, text), field), navigator.clipboard && copy);
}
