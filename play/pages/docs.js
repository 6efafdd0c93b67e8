// The API's documentation, from the document that describes it to programs, with examples to paste.

import {api, h} from "./app.js";

export async function show(main, {signal}) {
  const {info, paths} = await api("/api/openapi.json", {signal});
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(method.toUpperCase(), path, operation)));
  main.replaceChildren(h("article", {class: "docs"}, h("h1", {tabindex: "-1"}, "API"),
    ...info.description.split("\n\n").map((text) => h("p", {}, coded(text))),
    h("p", {}, "For programs: ", h("a", {href: "/api/openapi.json", target: "_self"}, "/api/openapi.json"), " (OpenAPI 3.1)."), ...operations));
  document.title = "API \u2013 ttt4";
}

function section(method, path, operation) {
  const parameters = operation.parameters.filter(({in: where}) => where === "query");
  const statuses = Object.entries(operation.responses).map(([status, {description}]) => [
    h("dt", {}, status), h("dd", {}, status < 300 ? "Done." : coded(description))]);
  return h("section", {}, h("h2", {}, h("span", {class: "method"}, method), ` ${path}`), h("p", {}, coded(operation.description)),
    parameters.length > 0 && h("dl", {}, parameters.map(({name, description}) => [h("dt", {}, name), h("dd", {}, coded(description))])),
    h("pre", {tabindex: "0"}, command(method, path, operation)),
    h("details", {}, h("summary", {}, "What it answers with"), h("dl", {}, statuses)));
}

/** Return a command for a shell that asks for an operation's example. */
function command(method, path, {parameters, requestBody, security}) {
  let address = path;
  const query = [];
  for (const {name, in: where, example} of parameters) {
    if (where === "path") address = address.replace(`{${name}}`, example);
    else if (example) query.push(`${name}=${example}`);
  }
  const body = requestBody?.content["application/json"].example;
  const parts = [`curl '${location.origin}${address}${query.length ? "?" : ""}${query.join("&")}'`];
  if (method === "POST") parts.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(body ?? {})}'`);
  if (security) parts.push("-H 'Authorization: Bearer TOKEN'");
  return parts.join(" \\\n  ");
}

const coded = (text) => text.split("`").map((part, index) => index % 2 ? h("code", {}, part) : part);
