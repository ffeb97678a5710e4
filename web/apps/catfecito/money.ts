import { format } from "#ui";

/** The shop's money; the API has amounts as decimal texts. */
const currency = "MXN";

export function money(amount: string | number): string {
  return format.money(amount, currency);
}
