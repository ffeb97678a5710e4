// Drives `monotable lsp` with the JSON-RPC library and protocol types that VS Code's client is made of.
//
//	MONOTABLE=../../bin/monotable node test/protocol.mjs
import assert from "node:assert";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const lsp = require("vscode-languageserver-protocol/node");

const server = spawn(process.env.MONOTABLE ?? "monotable", ["lsp", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
const connection = lsp.createProtocolConnection(
  new lsp.StreamMessageReader(server.stdout),
  new lsp.StreamMessageWriter(server.stdin),
);
const published = [];
let waiting;
connection.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => {
  published.push(p);
  waiting?.();
});
connection.listen();

const diagnosed = async (version) => {
  for (;;) {
    const found = published.find((p) => p.version === version);
    if (found) return found.diagnostics;
    await new Promise((resolve) => (waiting = resolve));
  }
};

const uri = "file:///shop.design.yaml";
const text = `design: 1
name: Shop
tables: { Shop: { key: { pk: PK, sk: SK } } }
entities:
  User:
    key: { pk: "USER#{userId}", sk: PROFILE }
    fields: { userId: id, name: text }
reads:
  UserByID: { one: User, by: [userId] }
`;
const result = await connection.sendRequest(lsp.InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities: {} });
assert.equal(result.capabilities.positionEncoding, "utf-16");
await connection.sendNotification(lsp.InitializedNotification.type, {});
await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
  textDocument: { uri, languageId: "monotable-design", version: 1, text },
});
assert.equal((await diagnosed(1)).filter((d) => d.severity === lsp.DiagnosticSeverity.Error).length, 0);

const textDocument = { uri };
const position = { line: 8, character: 20 }; // in "User" of one
const hover = await connection.sendRequest(lsp.HoverRequest.type, { textDocument, position });
assert.match(hover.contents.value, /\*\*entity\*\* `User`/);
const definition = await connection.sendRequest(lsp.DefinitionRequest.type, { textDocument, position });
assert.equal(definition[0].range.start.line, 4);
const completion = await connection.sendRequest(lsp.CompletionRequest.type, { textDocument, position });
assert.ok(completion.items.some((i) => i.label === "User"));
const edit = await connection.sendRequest(lsp.RenameRequest.type, { textDocument, position, newName: "Client" });
assert.equal(edit.changes[uri].length, 2);

await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
  textDocument: { uri, version: 2 },
  contentChanges: [{ range: { start: { line: 8, character: 19 }, end: { line: 8, character: 23 } }, text: "Nobody" }],
});
assert.match((await diagnosed(2))[0].message, /Nobody/);

await connection.sendRequest(lsp.ShutdownRequest.type);
await connection.sendNotification(lsp.ExitNotification.type);
const status = await new Promise((resolve) => server.on("exit", resolve));
assert.equal(status, 0);
console.log("the protocol's own client and the server understand each other");
