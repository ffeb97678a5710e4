// Choices of a view that its address contains, so that a link or a bookmark shows the same.
import { go, here } from "#ui";

/** A value of the address; "" if it has none. */
export function asked(name: string): string {
  return here.value.query.get(name) ?? "";
}

/** Sets a value of the address; "" removes it. */
export function ask(name: string, value: string): void {
  const query = new URLSearchParams(here.value.query);
  if (value === "") query.delete(name);
  else query.set(name, value);
  const rest = query.toString();
  go(`#${here.value.path}${rest ? `?${rest}` : ""}`, "replace");
}

/** A choice in the address, and a function that sets it; the default is left out of the address. */
export function choice<T extends string>(name: string, choices: readonly T[], otherwise: T): [T, (value: T) => void] {
  return [choices.find((c) => c === asked(name)) ?? otherwise, (value) => ask(name, value === otherwise ? "" : value)];
}
