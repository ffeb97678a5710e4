import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { BatchExecuteStatementCommand, ExecuteStatementCommand, ExecuteTransactionCommand } from "@aws-sdk/lib-dynamodb";
import { canceled, column, open, refused } from "./seeds.js";

const table = `"trinity-rooms"`;

// The rooms of the document, by PartiQL.
suite("PartiQL", () => {
  test("keyed, index and scanning reads", async (t) => {
    const dynamodb = await open(t, "trinity");
    const select = (Statement, Parameters) => dynamodb.send(new ExecuteStatementCommand({ Statement, Parameters }));
    const one = await select(`SELECT code FROM ${table} WHERE id = ?`, ["room-uuid-123"]);
    assert.deepEqual(one.Items, [{ code: "ABC123" }]);
    const byCode = await select(`SELECT id FROM ${table}."code-index" WHERE code = 'ABC123'`);
    assert.deepEqual(column(byCode.Items, "id"), ["room-uuid-123"]);
    const byHost = await select(`SELECT id FROM ${table} WHERE hostId = ?`, ["user-123"]);
    assert.deepEqual(column(byHost.Items, "id"), ["room-uuid-123"]);
  });

  test("writes", async (t) => {
    const dynamodb = await open(t, "trinity");
    const execute = (Statement, Parameters) => dynamodb.send(new ExecuteStatementCommand({ Statement, Parameters }));
    const insert = () => execute(`INSERT INTO ${table} VALUE {'id': ?, 'code': 'XYZ', 'tags': ?}`, ["room-1", ["a"]]);
    await insert();
    await refused(insert(), "DuplicateItemException", "Duplicate primary key exists in table");
    const updated = await execute(
      `UPDATE ${table} SET tags = list_append(tags, ['b']) SET code = 'ZYX' WHERE id = 'room-1' RETURNING MODIFIED NEW *`);
    assert.deepEqual(updated.Items, [{ code: "ZYX", tags: ["a", "b"] }]);
    await refused(execute(`UPDATE ${table} SET code = 'x' WHERE id = 'nobody'`),
      "ConditionalCheckFailedException", "The conditional request failed");
    const removed = await execute(`DELETE FROM ${table} WHERE id = 'room-1' RETURNING ALL OLD *`);
    assert.deepEqual(removed.Items, [{ id: "room-1", code: "ZYX", tags: ["a", "b"] }]);
  });

  test("batches and transactions", async (t) => {
    const dynamodb = await open(t, "trinity");
    const TransactStatements = ["one", "two"].map((id) => ({
      Statement: `INSERT INTO ${table} VALUE {'id': ?, 'code': 'C'}`, Parameters: [id],
    }));
    await dynamodb.send(new ExecuteTransactionCommand({ TransactStatements, ClientRequestToken: "once" }));
    await dynamodb.send(new ExecuteTransactionCommand({ TransactStatements, ClientRequestToken: "once" }));
    await canceled(dynamodb.send(new ExecuteTransactionCommand({ TransactStatements })), "DuplicateItem", "DuplicateItem");
    const { Responses } = await dynamodb.send(new BatchExecuteStatementCommand({
      Statements: [
        { Statement: `SELECT id FROM ${table} WHERE id = 'two'` },
        { Statement: `SELECT id FROM ${table} WHERE code = 'C'` },
      ],
    }));
    assert.deepEqual(Responses[0].Item, { id: "two" });
    assert.equal(Responses[1].Error.Code, "ValidationError");
  });
});
