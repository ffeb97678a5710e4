"use strict";
// Shows the OpenAPI document beside this page: operations with a form to try each, and schemas. Everything from the
// document is set as text, never as HTML.

// Systems of one origin have different issuers, so each has a token of its own.
const tokenKey = "access-token " + new URL(".", location.href).pathname;
let api;

// h makes an element: h("td", {class: "x"}, "text", child).
function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((c) => c !== undefined && c !== null && c !== ""));
  return node;
}

// resolve follows a reference into the components.
function resolve(schema) {
  if (!schema || !schema.$ref) return schema || {};
  return schema.$ref.split("/").slice(1).reduce((at, step) => at[step], api);
}

// typeOf names a schema in few words.
function typeOf(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  const types = [].concat(schema.type || "any").filter((t) => t !== "null");
  let text = types[0] === "array" ? typeOf(schema.items) + "[]" : types.join(" or ");
  if (schema.format) text += ` (${schema.format})`;
  if (schema.enum) text += ": " + schema.enum.join(", ");
  return text;
}

// boundsOf tells what a value must keep to.
function boundsOf(schema) {
  const names = { minimum: "≥ ", maximum: "≤ ", minLength: "length ≥ ", maxLength: "length ≤ ", minItems: "items ≥ ", maxItems: "items ≤ ", pattern: "matches ", default: "default " };
  return Object.entries(names).filter(([name]) => schema[name] !== undefined).map(([name, text]) => text + schema[name]).join(", ");
}

// sample is a value that fits a schema, to begin with.
function sample(schema, depth = 0) {
  schema = resolve(schema);
  if (schema.examples) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (depth > 6) return null;
  switch ([].concat(schema.type || [])[0]) {
    case "object": {
      const value = {};
      for (const [name, property] of Object.entries(schema.properties || {})) {
        if (!resolve(property).readOnly) value[name] = sample(property, depth + 1);
      }
      return value;
    }
    case "array": return [sample(schema.items, depth + 1)];
    case "integer": case "number": return schema.minimum || 0;
    case "boolean": return false;
    default: return schema.format === "date-time" ? new Date().toISOString() : "";
  }
}

// fieldsTable lists the properties of an object.
function fieldsTable(schema) {
  schema = resolve(schema);
  const rows = Object.entries(schema.properties || {}).map(([name, property]) => h("tr", {},
    h("td", {}, h("code", {}, name), (schema.required || []).includes(name) ? "" : h("span", { class: "muted" }, " optional")),
    h("td", {}, typeOf(property)),
    h("td", {}, [property.description || resolve(property).description || "", boundsOf(property)].filter(Boolean).join(" — "))));
  return rows.length ? h("table", {}, ...rows) : h("p", { class: "muted" }, typeOf(schema));
}

// quote makes a text one word of a shell.
function quote(text) { return "'" + text.replaceAll("'", "'\\''") + "'"; }

// tryForm is the form that calls an operation.
function tryForm(base, path, method, operation) {
  const inputs = (operation.parameters || []).map((parameter) => {
    const schema = resolve(parameter.schema);
    const value = parameter.name === "Idempotency-Key" ? crypto.randomUUID() : parameter.in === "path" && schema.examples ? schema.examples[0] : "";
    return { parameter, node: h("input", { size: 36, value, placeholder: schema.default === undefined ? "" : String(schema.default) }) };
  });
  const content = operation.requestBody && operation.requestBody.content["application/json"];
  const body = content && h("textarea", { rows: 8, spellcheck: "false" });
  if (body) body.value = JSON.stringify(sample(content.schema), null, 2);
  const output = h("pre", { class: "answer", hidden: "" });
  const command = h("pre", { hidden: "" });
  let running;

  function request() {
    let url = path;
    const query = new URLSearchParams();
    const headers = {};
    for (const { parameter, node } of inputs) {
      if (parameter.in === "path") url = url.replace(`{${parameter.name}}`, encodeURIComponent(node.value));
      else if (node.value === "") continue;
      else if (parameter.in === "query") query.append(parameter.name, node.value);
      else headers[parameter.name] = node.value;
    }
    const token = document.getElementById("token").value.trim();
    if (token) headers.Authorization = "Bearer " + token;
    if (body) headers["Content-Type"] = "application/json";
    const options = { method: method.toUpperCase(), headers, body: body ? body.value : undefined };
    return [new URL(base + url + (query.size ? "?" + query : ""), location.href).href, options];
  }

  async function send() {
    if (running) running.abort();
    running = new AbortController();
    const [url, options] = request();
    const shown = Object.entries(options.headers).map(([name, value]) => ` -H ${quote(`${name}: ${value}`)}`).join("");
    command.textContent = `curl -sS -X ${options.method} ${quote(url)}${shown}${options.body ? " -d " + quote(options.body) : ""}`;
    command.hidden = output.hidden = false;
    output.textContent = "…";
    output.dataset.state = "running";
    const begun = performance.now();
    try {
      const answer = await fetch(url, { ...options, signal: running.signal });
      const head = `${answer.status} ${answer.statusText} · ${Math.round(performance.now() - begun)} ms · ${answer.headers.get("x-request-id") || ""}\n`;
      if ((answer.headers.get("content-type") || "").startsWith("text/event-stream")) {
        output.textContent = head;
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          output.textContent += part.value;
          output.dataset.state = "open";
        }
        return;
      }
      let text = await answer.text();
      try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* it is no JSON: shown as it is */ }
      output.textContent = head + "\n" + text;
    } catch (fault) {
      output.textContent = String(fault);
    } finally {
      output.dataset.state = "done";
    }
  }

  return h("form", { onsubmit: (event) => { event.preventDefault(); send(); } },
    inputs.length ? h("table", {}, ...inputs.map(({ parameter, node }) => h("tr", {},
      h("td", {}, h("code", {}, parameter.name), h("span", { class: "muted" }, ` ${parameter.in}${parameter.required ? "" : ", optional"}`)),
      h("td", {}, node),
      h("td", {}, [parameter.description, typeOf(parameter.schema), boundsOf(resolve(parameter.schema))].filter(Boolean).join(" — "))))) : "",
    body ? h("div", {}, h("h3", {}, "Body"), body, fieldsTable(content.schema)) : "",
    h("button", {}, "Send"), " ",
    h("button", { type: "button", onclick: () => running && running.abort() }, "Stop"),
    command, output);
}

// operationPart is one operation, closed.
function operationPart(base, path, method, operation) {
  const answers = Object.entries(operation.responses || {}).map(([status, response]) => {
    const schemas = Object.values(response.content || {}).map((c) => typeOf(c.schema)).join(", ");
    return h("tr", {}, h("td", {}, status), h("td", {}, response.description || ""), h("td", {}, schemas));
  });
  const part = h("details", { id: operation.operationId },
    h("summary", {}, h("span", { class: "method " + method }, method.toUpperCase()), " ", h("code", {}, path),
      operation.summary || "", operation.security && operation.security.length ? h("span", { class: "lock" }, " · needs a token") : ""));
  part.addEventListener("toggle", () => { // built when first opened
    if (!part.open || part.childElementCount > 1) return;
    part.append(operation.description ? h("p", {}, operation.description) : "", tryForm(base, path, method, operation),
      h("h3", {}, "Answers"), h("table", {}, ...answers));
  });
  return part;
}

async function show() {
  const token = document.getElementById("token");
  token.value = sessionStorage.getItem(tokenKey) || localStorage.getItem(tokenKey) || "";
  token.addEventListener("input", () => sessionStorage.setItem(tokenKey, token.value.trim()));
  api = await (await fetch("openapi.json")).json();
  document.title = api.info.title;
  document.getElementById("title").textContent = `${api.info.title} ${api.info.version}`;
  document.getElementById("about").textContent = api.info.description || "";
  const base = api.servers && api.servers.length ? api.servers[0].url : "";
  const groups = new Map();
  for (const [path, item] of Object.entries(api.paths)) {
    for (const method of ["get", "post", "put", "patch", "delete"]) {
      if (!item[method]) continue;
      const tag = (item[method].tags || ["Operations"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operationPart(base, path, method, item[method]));
    }
  }
  const order = [...groups].sort(([a], [b]) => (a === "Process") - (b === "Process")); // health is for machines
  document.getElementById("operations").replaceChildren(...order.flatMap(([tag, parts]) => [h("h2", {}, tag), ...parts]));
  document.getElementById("schemas").replaceChildren(...Object.entries(api.components.schemas).sort(([a], [b]) => a.localeCompare(b))
    .map(([name, schema]) => h("details", {}, h("summary", {}, h("code", {}, name), schema.description || ""), fieldsTable(schema))));
  const asked = location.hash && document.getElementById(location.hash.slice(1));
  if (asked) { asked.open = true; asked.scrollIntoView(); }
}

show().catch((fault) => { document.getElementById("operations").textContent = "The document cannot be shown: " + fault; });
