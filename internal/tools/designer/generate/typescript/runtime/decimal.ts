// Numbers as in DynamoDB: exact, with at most 38 digits.

const maxDigits = 38;
const maxMagnitude = 125;
const minMagnitude = -130;

/** An exact number: coefficient × 10^exponent, where the coefficient has no trailing zeros. Zero is 0 × 10^0. */
export class Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;

  private constructor(coefficient: bigint, exponent: number) {
    this.coefficient = coefficient;
    this.exponent = exponent;
  }

  static readonly zero = new Decimal(0n, 0);

  static ofInteger(n: bigint): Decimal {
    return Decimal.make(n, 0);
  }

  private static make(coefficient: bigint, exponent: number): Decimal {
    if (coefficient === 0n) {
      return Decimal.zero;
    }
    const text = coefficient.toString();
    const bare = text.replace(/0+$/, "");
    const shift = text.length - bare.length;
    const digits = bare.startsWith("-") ? bare.length - 1 : bare.length;
    const magnitude = digits + exponent + shift - 1;
    if (magnitude > maxMagnitude) {
      throw new RangeError("decimal: magnitude above 9.99…E+125");
    }
    if (digits > maxDigits) {
      throw new RangeError("decimal: more than 38 significant digits");
    }
    if (magnitude < minMagnitude) {
      throw new RangeError("decimal: magnitude below 1E-130");
    }
    return new Decimal(BigInt(bare), exponent + shift);
  }

  /** Parses a number: digits with a point, a sign and an exponent. */
  static parse(text: string): Decimal {
    const found = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text);
    const whole = found?.[2] ?? "";
    const fraction = found?.[3] ?? "";
    if (!found || whole + fraction === "") {
      throw new RangeError("decimal: not a number");
    }
    const exponent = Math.max(-1e9, Math.min(1e9, Number(found[4] ?? "0")));
    const digits = (whole + fraction).replace(/^0+/, "");
    if (digits === "") {
      const magnitude = exponent - fraction.length;
      if (magnitude > maxMagnitude) {
        throw new RangeError("decimal: magnitude above 9.99…E+125");
      }
      if (magnitude < minMagnitude) {
        throw new RangeError("decimal: magnitude below 1E-130");
      }
      return Decimal.zero;
    }
    const bare = digits.replace(/0+$/, "");
    if (bare.length > maxDigits) {
      throw new RangeError("decimal: more than 38 significant digits");
    }
    const coefficient = BigInt(bare);
    return Decimal.make(found[1] === "-" ? -coefficient : coefficient, exponent - fraction.length + digits.length - bare.length);
  }

  static tryParse(text: string): Decimal | undefined {
    try {
      return Decimal.parse(text);
    } catch {
      return undefined;
    }
  }

  get isZero(): boolean {
    return this.coefficient === 0n;
  }

  negated(): Decimal {
    return new Decimal(-this.coefficient, this.exponent);
  }

  plus(other: Decimal): Decimal {
    const low = Math.min(this.exponent, other.exponent);
    return Decimal.make(this.scaled(low) + other.scaled(low), low);
  }

  minus(other: Decimal): Decimal {
    return this.plus(other.negated());
  }

  compare(other: Decimal): number {
    const low = Math.min(this.exponent, other.exponent);
    const a = this.scaled(low);
    const b = other.scaled(low);
    return a < b ? -1 : a > b ? 1 : 0;
  }

  private scaled(exponent: number): bigint {
    return this.coefficient * 10n ** BigInt(this.exponent - exponent);
  }

  /** The number as an integer of 64 bits, if it is one. */
  int64(): bigint | undefined {
    if (this.exponent < 0 || this.exponent > 18) {
      return undefined;
    }
    const n = this.scaled(0);
    return n >= -(1n << 63n) && n < 1n << 63n ? n : undefined;
  }

  /** The shortest text without an exponent. */
  toString(): string {
    const sign = this.coefficient < 0n ? "-" : "";
    const digits = this.coefficient.toString().replace("-", "");
    if (this.exponent >= 0) {
      return sign + digits + "0".repeat(this.exponent);
    }
    const point = digits.length + this.exponent;
    if (point <= 0) {
      return `${sign}0.${"0".repeat(-point)}${digits}`;
    }
    return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
  }
}
