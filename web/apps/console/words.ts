import type en from "./words/en.json";
import { words } from "#ui";

export const t = words<typeof en>({
  en: () => import("./words/en.json"),
  es: () => import("./words/es.json"),
  pt: () => import("./words/pt.json"),
});
