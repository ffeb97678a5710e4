import { Badge, format } from "#ui";
import type { Schemas } from "#clients/appcore";
import { t } from "./words.ts";

export type Currency = Schemas["TransactionInput"]["currency"];
export const currencies: readonly Currency[] = ["ARS", "BRL", "USD"];

/** Formats an amount in the smallest unit. All currencies have hundredths. */
export function money(amount: number, currency: Currency): string {
  const digits = String(amount).padStart(3, "0");
  return format.money(`${digits.slice(0, -2)}.${digits.slice(-2)}`, currency);
}

/** A typed amount in the smallest unit, with a decimal point or comma; undefined if it is not an amount. */
export function units(text: string): number | undefined {
  const found = /^(\d{1,13})(?:[.,](\d{1,2}))?$/.exec(text.trim());
  const amount = found ? Number(found[1]) * 100 + Number((found[2] ?? "").padEnd(2, "0")) : 0;
  return amount > 0 ? amount : undefined;
}

const tones = { PENDING: "warning", COMPLETED: "success", FAILED: "danger" } as const;

export function Status({ of }: { of: Schemas["Transaction"]["status"] }) {
  return <Badge tone={tones[of]}>{t(`status.${of}`)}</Badge>;
}
