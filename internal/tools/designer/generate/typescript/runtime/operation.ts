// What a request does to one item.

import type { TransactWriteItem, WriteRequest } from "@aws-sdk/client-dynamodb";
import type { Marker, Table } from "./descriptor.js";
import type { Effect } from "./effect.js";
import { identity } from "./entity.js";
import { type Expression, conjunction } from "./update.js";
import type { Item } from "./values.js";

/**
 * What an operation's rejection means. itself: the change is rejected, or its item has changed since it was read. elsewhere: a
 * copy or marker does not match the item. occupying: a new copy's key is used by another item. taking: a marker is taken.
 * releasing: a marker now belongs to another item. nothing: an item that did not exist, and so was not deleted, has been created.
 */
export type Role = "itself" | "elsewhere" | "occupying" | "taking" | "releasing" | "nothing";

/** What a request does to one item. */
export class Operation {
  readonly kind: "putting" | "updating" | "deleting" | "checking";
  role: Role;
  readonly of: Effect;
  /** The kind of the item, for errors that count operations. */
  readonly noun: string;
  /** The item of a put, or the key of an update, delete or check. */
  readonly item: Item;
  update = "";
  marker: Marker | undefined;
  private condition = "";
  private x: Expression | undefined;

  constructor(kind: Operation["kind"], role: Role, of: Effect, noun: string, item: Item) {
    this.kind = kind;
    this.role = role;
    this.of = of;
    this.noun = noun;
    this.item = item;
  }

  get identity(): string {
    return identity(this.of.c.entity.table, this.item);
  }

  get table(): Table {
    return this.of.c.entity.table;
  }

  /** Sets the condition, with the names and values that it shares with the update. */
  keeps(x: Expression, ...conditions: string[]): void {
    this.condition = conjunction(...conditions);
    this.x = x;
  }

  /** The members that all requests have. */
  common(): { ConditionExpression?: string; ExpressionAttributeNames?: { [alias: string]: string }; ExpressionAttributeValues?: Item } {
    const x = this.x;
    return {
      ...(this.condition ? { ConditionExpression: this.condition } : {}),
      ...(x && Object.keys(x.names).length > 0 ? { ExpressionAttributeNames: x.names } : {}),
      ...(x && Object.keys(x.values).length > 0 ? { ExpressionAttributeValues: x.values } : {}),
    };
  }

  /** The operation as an element of a transaction. */
  transactItem(table: string): TransactWriteItem {
    const common = { TableName: table, ...this.common(), ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const };
    switch (this.kind) {
      case "putting":
        return { Put: { ...common, Item: this.item } };
      case "deleting":
        return { Delete: { ...common, Key: this.item } };
      case "updating":
        if (this.update !== "") {
          return { Update: { ...common, Key: this.item, UpdateExpression: this.update } };
        }
        break; // an empty update is invalid in a transaction: only the condition is checked
      default:
    }
    return { ConditionCheck: { ...common, Key: this.item, ConditionExpression: common.ConditionExpression } };
  }

  /** The operation as an element of a batch, without its condition. */
  batchItem(): WriteRequest {
    return this.kind === "deleting" ? { DeleteRequest: { Key: this.item } } : { PutRequest: { Item: this.item } };
  }
}
