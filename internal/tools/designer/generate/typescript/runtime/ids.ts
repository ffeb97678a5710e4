// New IDs of the kinds in designs.

import { randomBytes, randomUUID } from "node:crypto";
import type { Kind } from "./descriptor.js";

/** Generates the IDs of one call. ULIDs of one call ascend, although their time is the same. */
export class Ids {
  private last: bigint | undefined;
  private readonly now: number;
  private readonly given: ((kind: string) => string) | undefined;

  constructor(now: number, given: ((kind: string) => string) | undefined) {
    this.now = now;
    this.given = given;
  }

  make(kind: Kind): string {
    if (this.given) {
      return this.given(kind);
    }
    if (kind === "uuid") {
      return randomUUID();
    }
    if (kind === "ksuid") {
      const time = Buffer.alloc(4);
      time.writeUInt32BE(Math.max(0, Math.floor(this.now / 1000) - 1_400_000_000));
      return based(BigInt(`0x${Buffer.concat([time, randomBytes(16)]).toString("hex")}`), base62, 27);
    }
    this.last = this.last === undefined ? BigInt(`0x${randomBytes(10).toString("hex")}`) >> 1n : this.last + 1n;
    return based((BigInt(this.now) << 80n) | this.last, crockford, 26);
  }
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function based(n: bigint, digits: string, length: number): string {
  let out = "";
  const base = BigInt(digits.length);
  for (let i = 0, rest = n; i < length; i++, rest /= base) {
    out = digits[Number(rest % base)]! + out;
  }
  return out;
}
