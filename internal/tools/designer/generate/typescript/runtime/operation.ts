// What a request does to one item.

import type { TransactWriteItem, WriteRequest } from "@aws-sdk/client-dynamodb";
import type { Marker, Table } from "./descriptor.js";
import type { Effect } from "./effect.js";
import { identity } from "./entity.js";
import { type Expression, conjunction } from "./update.js";
import type { Item } from "./values.js";

/**
 * What an operation's refusal means. itself: the change is refused, or its item is not as it was read. elsewhere: a copy or marker
 * is not as the item lets expect. occupying: a new copy has another item's place. taking: a marker is taken. releasing: a marker is
 * another item's by now. nothing: an item that was not there, and so needed not be deleted, has come.
 */
export type Role = "itself" | "elsewhere" | "occupying" | "taking" | "releasing" | "nothing";

/** What a request does to one item. */
export class Operation {
  readonly kind: "putting" | "updating" | "deleting" | "checking";
  role: Role;
  readonly of: Effect;
  /** What it is about, for errors that count operations. */
  readonly noun: string;
  /** What is put, and the key of what is updated, deleted or checked. */
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

  /** Sets the condition with the names and values that it shares with the update. */
  keeps(x: Expression, ...conditions: string[]): void {
    this.condition = conjunction(...conditions);
    this.x = x;
  }

  /** What requests of all kinds have. */
  common(): { ConditionExpression?: string; ExpressionAttributeNames?: { [alias: string]: string }; ExpressionAttributeValues?: Item } {
    const x = this.x;
    return {
      ...(this.condition ? { ConditionExpression: this.condition } : {}),
      ...(x && Object.keys(x.names).length > 0 ? { ExpressionAttributeNames: x.names } : {}),
      ...(x && Object.keys(x.values).length > 0 ? { ExpressionAttributeValues: x.values } : {}),
    };
  }

  /** The operation as a part of a transaction. */
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
        break; // a transaction has no update of nothing: only the condition is asked
      default:
    }
    return { ConditionCheck: { ...common, Key: this.item, ConditionExpression: common.ConditionExpression } };
  }

  /** The operation as a part of a batch, which asks no condition. */
  batchItem(): WriteRequest {
    return this.kind === "deleting" ? { DeleteRequest: { Key: this.item } } : { PutRequest: { Item: this.item } };
  }
}
