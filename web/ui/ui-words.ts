import type en from "./words/en.json";
import { words } from "./words.ts";

/** Texts of the components themselves. */
export const ui = words<typeof en>({
  en: () => import("./words/en.json"),
  es: () => import("./words/es.json"),
  pt: () => import("./words/pt.json"),
});
