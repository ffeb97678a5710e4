import { computed, signal } from "@preact/signals";
import { keep, kept } from "./kept.ts";

export const languages = [
  { key: "en", name: "English", locale: "en" },
  { key: "es", name: "Español", locale: "es-419" },
  { key: "pt", name: "Português", locale: "pt-BR" },
] as const;

export type Language = (typeof languages)[number]["key"];

/** A message, or one per plural form of the language, selected by {n}. */
type Message = string | Partial<Record<Intl.LDMLPluralRule, string>>;
type Messages = Record<string, Message>;
type Loaders = Record<Language, () => Promise<{ default: object }>>;

const name = "language";

function isLanguage(key: string | undefined): key is Language {
  return languages.some((l) => l.key === key);
}

function first(): Language {
  const wanted = [kept(name), document.documentElement.lang.slice(0, 2), ...navigator.languages.map((l) => l.slice(0, 2))];
  return wanted.find(isLanguage) ?? "en";
}

const chosen = signal<Language>(first());
const locales = signal<Partial<Record<Language, string>>>({});
const catalogues: { load: Loaders; shown: { value: Messages } }[] = [];

/** The language of the page: the reader's choice, otherwise the browser's preference. */
export const language = computed(() => chosen.value);

/** The language with its country, for dates, numbers and money: the reader's own country, if that language is spoken there. */
export const locale = computed(() => locales.value[chosen.value]
  ?? navigator.languages.find((l) => l.length > 2 && l.slice(0, 2) === chosen.value)
  ?? languages.find((l) => l.key === chosen.value)?.locale ?? "en");

/** Sets the country of each language, for products tied to a country: {es: "es-MX"}. */
export function setLocales(of: Partial<Record<Language, string>>): void {
  locales.value = of;
}

/**
 * The catalogue of a product; the English one defines the keys:
 *
 *   export const t = words<typeof en>({ en: () => import("./words/en.json"), … });
 *   t("cart.items", { n: 3 })
 */
export function words<M extends object>(load: Loaders): (key: keyof M & string, values?: Record<string, string | number>) => string {
  const shown = signal<Messages>({});
  catalogues.push({ load, shown });
  return (key, values = {}) => filled(shown.value[key] ?? key, values);
}

function filled(message: Message, values: Record<string, string | number>): string {
  let text: string | undefined;
  if (typeof message === "string") {
    text = message;
  } else {
    text = message[new Intl.PluralRules(locale.value).select(Number(values["n"] ?? 0))] ?? message.other;
  }
  return (text ?? "").replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return typeof value === "number" ? new Intl.NumberFormat(locale.value).format(value) : value ?? whole;
  });
}

/** Loads the page's catalogues in its language; start waits for this. */
export async function loadWords(): Promise<void> {
  await show(chosen.value);
}

export async function chooseLanguage(next: Language): Promise<void> {
  await show(next);
  keep(name, next);
}

async function show(next: Language): Promise<void> {
  const loaded = await Promise.all(catalogues.map((c) => c.load[next]()));
  for (const [n, module] of loaded.entries()) {
    const catalogue = catalogues[n];
    if (catalogue) catalogue.shown.value = module.default as Messages;
  }
  chosen.value = next;
  document.documentElement.lang = locale.value;
}
