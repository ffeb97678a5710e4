// A page that calls DynamoDB directly, with AWS's SDK. It exchanges the token of an identity provider for the credentials of a role,
// whose policy allows the items whose partition key is the token's subject.
import { DynamoDBClient, DeleteItemCommand, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { fromWebToken } from "@aws-sdk/credential-provider-web-identity";

const region = "us-east-1";
const endpoint = location.origin; // of the database; with another origin it needs --cors-origin
const roleArn = "arn:aws:iam::000000000000:role/note-taker";
const TableName = "Notes";

const byId = (id) => document.getElementById(id);
let dynamodb, name;

/** Runs work when a form is submitted, and shows the database's error in the form. */
function does(form, work) {
  byId(form).addEventListener("submit", async (event) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.target));
    const refusal = byId(form).querySelector("[role=status]");
    refusal.textContent = "";
    try {
      await work(fields, event);
    } catch (error) {
      refusal.textContent = `${error.name}: ${error.message}`;
    }
  });
}

async function notesOf(owner) {
  const page = await dynamodb.send(new QueryCommand({
    TableName,
    KeyConditionExpression: "#o = :o",
    ExpressionAttributeNames: { "#o": "owner" },
    ExpressionAttributeValues: { ":o": { S: owner } },
    ScanIndexForward: false,
  }));
  return page.Items;
}

function list(id, notes) {
  byId(id).replaceChildren(...notes.map((note) => {
    const line = document.createElement("li");
    line.textContent = note.text.S;
    return line;
  }));
}

does("log-in", async (fields) => {
  const answer = await fetch("/issuer/token", { method: "POST", body: new URLSearchParams(fields) });
  if (!answer.ok) throw new Error(await answer.text());
  const webIdentityToken = await answer.text();
  name = fields.name;
  dynamodb = new DynamoDBClient({
    endpoint, region, credentials: fromWebToken({ roleArn, roleSessionName: name, webIdentityToken, clientConfig: { endpoint, region } }),
  });
  list("own-list", await notesOf(name));
  for (const of of document.querySelectorAll(".name")) of.textContent = name;
  byId("in").hidden = false;
});

does("write", async (fields, event) => {
  await dynamodb.send(new PutItemCommand({
    TableName, Item: { owner: { S: name }, at: { S: new Date().toISOString() }, text: { S: fields.text } },
  }));
  event.target.reset();
  list("own-list", await notesOf(name));
});

does("other", async (fields, event) => {
  list("other-list", []);
  if (event.submitter.value === "read") {
    list("other-list", await notesOf(fields.owner));
  } else {
    await dynamodb.send(new DeleteItemCommand({ TableName, Key: { owner: { S: fields.owner }, at: { S: "2026-01-01T08:00:00.000Z" } } }));
  }
});

byId("log-in").querySelector("button").disabled = false; // only now: the browser itself must not send the form
