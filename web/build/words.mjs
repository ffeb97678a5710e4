// Checks the catalogues of messages: the same keys and placeholders in all languages, every key used and every use known.
// TypeScript checks keys in code against the English catalogue; keys that are put together, as t(`status.${s}`), use all keys
// of that beginning.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const languages = ["en", "es", "pt"];
const faults = [];

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((f) => f.isFile() && /\.tsx?$/.test(f.name)).map((f) => readFileSync(join(f.parentPath, f.name), "utf8")).join("\n");
}

function placeholders(message) {
  const forms = typeof message === "string" ? [message] : Object.values(message);
  return [...new Set(forms.join(" ").match(/\{\w+\}/g) ?? [])].sort().join(" ");
}

function check(folder, code, always) {
  const read = Object.fromEntries(languages.map((l) => [l, JSON.parse(readFileSync(join(folder, `${l}.json`), "utf8"))]));
  const name = folder.slice(root.length + 1);
  for (const l of languages) {
    for (const [key, message] of Object.entries(read[l])) {
      if (!(key in read.en)) faults.push(`${name}/${l}.json: ${key} is not in en.json`);
      else if (placeholders(message) !== placeholders(read.en[key])) faults.push(`${name}/${l}.json: ${key} has ${placeholders(message) || "no placeholders"}, en.json ${placeholders(read.en[key]) || "none"}`);
      if (typeof message !== "string" && message.other === undefined) faults.push(`${name}/${l}.json: ${key} has no "other"`);
      if (message === "") faults.push(`${name}/${l}.json: ${key} is empty`);
    }
    for (const key of Object.keys(read.en)) {
      if (!(key in read[l])) faults.push(`${name}/${l}.json: ${key} is missing`);
    }
  }
  const beginnings = [...code.matchAll(/`([\w.-]+\.)\$\{/g)].map((m) => m[1]);
  for (const key of Object.keys(read.en)) {
    const used = always.includes(key) || code.includes(`"${key}"`) || beginnings.some((b) => key.startsWith(b));
    if (!used) faults.push(`${name}/en.json: ${key} is not used`);
  }
}

check(join(root, "ui/words"), sources(join(root, "ui")), []);
for (const app of readdirSync(join(root, "apps"))) {
  if (existsSync(join(root, "apps", app, "words"))) {
    check(join(root, "apps", app, "words"), sources(join(root, "apps", app)), ["page.title", "page.description"]);
  }
}
if (faults.length > 0) {
  console.error(faults.join("\n"));
  process.exit(1);
}
