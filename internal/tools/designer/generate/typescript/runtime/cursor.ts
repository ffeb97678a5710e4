// Cursors: how far each partition has been read, sealed with AES-256-GCM for one pattern, input, owner and caller. They are not
// compatible with cursors of the Go package design/table.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { Attribute } from "./descriptor.js";
import { builtin } from "./errors.js";
import { type Bytes, bytesOf, textOf } from "./keytext.js";
import { type AttributeValue, type Item, bare, keyText, own, sized, uvarint } from "./values.js";

export const cursorVersion = "\x01";
const keyNonceBytes = 12;
const nonceBytes = keyNonceBytes + 12;
const padding = 32;
const tagBytes = 16;
const minKey = 32;

/** How far a partition has been read: not at all, after a key, or to its end. */
export interface Position {
  at?: Item | undefined;
  done?: boolean;
}

/** Seals cursors and opens them. The first secret seals. */
export class Sealer {
  private readonly secrets: readonly Uint8Array[];

  constructor(secrets: readonly Uint8Array[]) {
    secrets.forEach((secret, i) => {
      if (secret.length < minKey) {
        const name = i === 0 ? "cursorKey" : `oldCursorKeys[${i - 1}]`;
        throw builtin("Config", `: ${name} has ${secret.length} bytes: it must have at least ${minKey}, from a random source`);
      }
    });
    this.secrets = secrets;
  }

  seal(scope: Bytes, text: Bytes): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", keyOf(this.secrets[0]!, nonce), nonce.subarray(keyNonceBytes));
    cipher.setAAD(Buffer.from(scope, "latin1"));
    const padded = text + "\0".repeat((padding - (text.length % padding)) % padding);
    const sealed = Buffer.concat([cipher.update(Buffer.from(padded, "latin1")), cipher.final(), cipher.getAuthTag()]);
    return Buffer.concat([Buffer.from(cursorVersion, "latin1"), nonce, sealed]).toString("base64url");
  }

  open(scope: Bytes, cursor: string): Bytes {
    const sealed = Buffer.from(cursor, "base64url");
    if (sealed.toString("base64url") !== cursor || sealed.length < 1 + nonceBytes + tagBytes || sealed[0] !== 1) {
      throw builtin("Cursor");
    }
    const nonce = sealed.subarray(1, 1 + nonceBytes);
    for (const secret of this.secrets) {
      const decipher = createDecipheriv("aes-256-gcm", keyOf(secret, nonce), nonce.subarray(keyNonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(scope, "latin1"));
      decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
      try {
        const text = decipher.update(sealed.subarray(1 + nonceBytes, sealed.length - tagBytes));
        return Buffer.concat([text, decipher.final()]).toString("latin1");
      } catch {
        // of another key, or damaged
      }
    }
    throw builtin("Cursor");
  }
}

/** The key of the single cursor with this nonce. */
function keyOf(secret: Uint8Array, nonce: Buffer): Buffer {
  const info = Buffer.concat([Buffer.from("monotable cursor 1 "), nonce.subarray(0, keyNonceBytes)]);
  return Buffer.from(hkdfSync("sha256", secret, new Uint8Array(0), info, 32));
}

/** The position of a walk over periods: when it started, and the start of the current period. */
export function encodePeriod(began: number, at: string): Bytes {
  return sized("", String(began)) + sized("", bytesOf(at));
}

/** The inverse; also returns the rest. */
export function decodePeriod(text: Bytes): { began: number; at: string; rest: Bytes } {
  const d = new Decoder(text);
  return { began: Number(d.bytes()), at: textOf(d.bytes()), rest: d.rest() };
}

/** How many more items may follow (0 for no bound), then the state of each partition. */
export function encodePositions(left: number, positions: readonly Position[], attributes: readonly Attribute[]): Bytes {
  let out = uvarint(Math.max(left, 0));
  for (const p of positions) {
    if (p.done || p.at === undefined) {
      out += p.done ? "\x02" : "\x00";
      continue;
    }
    out += "\x01";
    for (const a of attributes) {
      const text = keyText(own(p.at, a.name));
      if (text === undefined) {
        throw new Error(`DynamoDB returned an item without its key attribute ${a.name}`);
      }
      out += uvarint(text.length) + text;
    }
  }
  return out;
}

/** The inverse, for the given partitions; the keys include the partitions' own attributes. */
export function decodePositions(text: Bytes, partitions: readonly Item[], attributes: readonly Attribute[]): { left: number; positions: Position[] } {
  const d = new Decoder(text);
  const left = d.number();
  const positions = partitions.map((partition): Position => {
    switch (d.take(1)) {
      case "\x00":
        return {};
      case "\x02":
        return { done: true };
      case "\x01": {
        const at: Item = bare(partition);
        for (const a of attributes) {
          at[a.name] = valueOf(a, d.bytes());
        }
        return { at };
      }
      default:
        throw builtin("Cursor");
    }
  });
  if (/[^\0]/.test(d.rest())) {
    throw builtin("Cursor");
  }
  return { left, positions };
}

/** Splits a text. */
class Decoder {
  private i = 0;
  private readonly text: Bytes;

  constructor(text: Bytes) {
    this.text = text;
  }

  take(n: number): Bytes {
    if (this.i + n > this.text.length) {
      throw builtin("Cursor");
    }
    this.i += n;
    return this.text.slice(this.i - n, this.i);
  }

  number(): number {
    let n = 0;
    for (let unit = 1; unit <= 2 ** 32; unit *= 0x80) {
      const b = this.take(1).charCodeAt(0);
      n += (b % 0x80) * unit;
      if (b < 0x80) {
        return n;
      }
    }
    throw builtin("Cursor");
  }

  bytes(): Bytes {
    return this.take(this.number());
  }

  rest(): Bytes {
    return this.text.slice(this.i);
  }
}

function valueOf(a: Attribute, text: Bytes): AttributeValue {
  switch (a.type) {
    case "N":
      return { N: text };
    case "B":
      return { B: new Uint8Array(Buffer.from(text, "latin1")) };
    default:
      return { S: textOf(text) };
  }
}
