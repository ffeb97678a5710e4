// The difference between two items, down to the elements of maps and lists.
import { Badge } from "#ui";
import { type Item, type Value, attribute, brief, same, typeOf } from "./value.ts";
import { t } from "./words.ts";

export interface Change {
  path: string;
  before: Value | undefined;
  after: Value | undefined;
}

export function changesOf(before: Item, after: Item, at = ""): Change[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((name) => changesAt(at === "" ? name : `${at}.${name}`, attribute(before, name), attribute(after, name)));
}

function changesAt(path: string, before: Value | undefined, after: Value | undefined): Change[] {
  if (same(before, after)) return [];
  if (before && after && "M" in before && "M" in after) return changesOf(before.M, after.M, path);
  if (before && after && "L" in before && "L" in after && before.L.length === after.L.length) {
    const { L } = after;
    return before.L.flatMap((b, n) => changesAt(`${path}[${n}]`, b, L[n]));
  }
  return [{ path, before, after }];
}

export function Changes({ changes }: { changes: readonly Change[] }) {
  return (
    <ul class="changes">
      {changes.map((c) => (
        <li key={c.path}>
          <div class="row fixed"><code class="line-name grow">{c.path}</code><Badge plain tone={c.before ? (c.after ? "info" : "danger") : "success"}>{t(c.before ? (c.after ? "diff.changed" : "diff.removed") : "diff.added")}</Badge></div>
          {c.before && <Side sign="−" value={c.before} of={c.after} />}
          {c.after && <Side sign="+" value={c.after} of={c.before} />}
        </li>
      ))}
    </ul>
  );
}

const shown = 2000; // characters of a value

function Side({ sign, value, of }: { sign: "−" | "+"; value: Value; of: Value | undefined }) {
  const type = typeOf(value);
  return <div class={sign === "+" ? "side after" : "side before"}><span>{sign}</span><span>{brief(value, shown) || t("value.empty")}{of && typeOf(of) !== type && <span class="type-name"> {type}</span>}</span></div>;
}
