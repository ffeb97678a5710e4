import { format } from "#ui";

/** The shop's money; the API has amounts as decimal texts. */
const currency = "MXN";

export function money(amount: string | number): string {
  return format.money(amount, currency);
}

/** Multiplies an amount without rounding. */
export function times(amount: string, n: number): string {
  return decimal(cents(amount) * BigInt(n));
}

/** Adds amounts without rounding. */
export function sum(amounts: readonly string[]): string {
  return decimal(amounts.reduce((total, amount) => total + cents(amount), 0n));
}

function cents(amount: string): bigint {
  return BigInt(amount.replace(".", ""));
}

function decimal(of: bigint): string {
  const text = of.toString().padStart(3, "0");
  return `${text.slice(0, -2)}.${text.slice(-2)}`;
}
