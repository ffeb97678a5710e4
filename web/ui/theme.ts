import { effect, signal } from "@preact/signals";
import { keep, kept } from "./kept.ts";

export type Theme = "auto" | "light" | "dark";

const name = "theme";
const stored = kept(name);

/** The chosen theme; auto follows the system. */
export const theme = signal<Theme>(stored === "light" || stored === "dark" ? stored : "auto");

export function chooseTheme(next: Theme): void {
  theme.value = next;
  keep(name, next === "auto" ? undefined : next);
}

effect(() => {
  if (theme.value === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
});
