// The form of an item: a row per attribute, with its type and, below it, nested values. Or the same as JSON.
import { ChevronDown, CircleAlert, Plus, X } from "lucide";
import { useState } from "preact/hooks";
import { Button, Icon } from "#ui";
import { CodeEditor } from "./code-editor.tsx";
import { type Fault, type Node, changed, faultsOf, holds, isItem, itemOf, memberOf, node, retyped, rootOf } from "./tree.ts";
import { type Item, isSet, type Type, types } from "./value.ts";
import { t } from "./words.ts";

interface EditorProps {
  /** The original item. */
  start: Item;
  keys: readonly string[];
  /** The key identifies the item, so it cannot be edited. */
  keysFixed: boolean;
  /** Whether faults are shown yet. */
  tried: boolean;
  /** The item as it stands, undefined while it is none. */
  onChange: (item: Item | undefined) => void;
}

/** How many values of a map, a list or a set are drawn at once; more are shown on demand. */
const drawnAtOnce = 100;
/** What is inside a value is drawn on demand if it is more than this many values. */
const drawnInside = 50;

const nodesOf = (n: Node): number => n.children.reduce((sum, c) => sum + nodesOf(c), 1);

export function Editor({ start, keys, keysFixed, tried, onChange }: EditorProps) {
  const [root, setRoot] = useState(() => rootOf(start, keys));
  const [json, setJSON] = useState<string | undefined>(undefined);
  const keysToGive = keysFixed ? [] : keys;
  const faults = faultsOf(root, keysToGive);
  const doubled = json === undefined && [...faults.values()].includes("twice"); // JSON would have one of the two
  const set = (next: Node) => {
    setRoot(next);
    onChange(faultsOf(next, keysToGive).size > 0 ? undefined : itemOf(next));
  };
  const parsed = json === undefined ? undefined : read(json);
  /** What is wrong with typed JSON: undefined if it can be written. */
  const wrong = (item: Item | undefined, given = keysToGive): string | undefined => {
    if (!item) return t("edit.jsonFault");
    if (keysFixed && keys.some((k) => JSON.stringify(item[k]) !== JSON.stringify(start[k]))) return t("bulk.key");
    const tree = rootOf(item, keys);
    const found = faultsOf(tree, given);
    const holding = (n: Node): boolean => found.has(n.id) || n.children.some(holding);
    const at = tree.children.find(holding);
    const fault = [...found.values()][0];
    return fault && `${at?.name ?? ""}: ${t(`fault.${fault}`)}`;
  };
  const type = (text: string) => {
    setJSON(text);
    const now = read(text);
    onChange(wrong(now) === undefined ? now : undefined);
  };
  const turn = () => {
    if (json === undefined) setJSON(JSON.stringify(itemOf(root), null, 2));
    else if (parsed) {
      setRoot(rootOf(parsed, keys));
      setJSON(undefined);
    }
  };
  return (
    <div class="stack editor">
      <div class="how small-how" role="group" aria-label={t("view")}>
        {[false, true].map((asJSON) => <button key={String(asJSON)} type="button" class="how-one" aria-pressed={(json !== undefined) === asJSON} disabled={asJSON ? doubled : json !== undefined && !parsed} onClick={() => { if ((json !== undefined) !== asJSON) turn(); }}>{asJSON ? "JSON" : t("edit.form")}</button>)}
      </div>
      {json !== undefined
        ? <CodeEditor language="json" label={t("edit.json")} hint={t("edit.jsonHint")} value={json} onInput={type} error={wrong(parsed, tried ? keysToGive : [])} />
        : <Children of={root} path="" locked={keysFixed ? keys : []} typed={keys} faults={tried || doubled ? faults : new Map()} onChange={(id, f) => set(changed(root, id, f))} onAdd={(child) => set({ ...root, children: [...root.children, child] })} />}
    </div>
  );
}

function read(text: string): Item | undefined {
  try {
    const v: unknown = JSON.parse(text);
    return isItem(v) ? v : undefined;
  } catch {
    return undefined;
  }
}

interface ChildrenProps {
  of: Node;
  /** Where it is in the item: address.geo. */
  path: string;
  locked: readonly string[];
  /** Attributes whose types the table says. */
  typed: readonly string[];
  faults: ReadonlyMap<number, Fault>;
  onChange: (id: number, f: (n: Node) => Node | undefined) => void;
  onAdd: (child: Node) => void;
}

function Children({ of, path, locked, typed, faults, onChange, onAdd }: ChildrenProps) {
  const named = of.type === "M";
  const [most, setMost] = useState(path !== "" && nodesOf(of) > drawnInside ? 0 : drawnAtOnce);
  const [added, setAdded] = useState(0); // at the end
  const faulty = (n: Node): boolean => faults.has(n.id) || n.children.some(faulty);
  const drawn = of.children.map((c, at) => ({ c, at })).filter(({ c, at }) => at < most || at >= of.children.length - added || (faults.size > 0 && faulty(c)));
  const hidden = of.children.length - drawn.length;
  return (
    <div class={path !== "" ? "node-children inside" : "node-children"}>
      {drawn.map(({ c, at }) => {
        const label = named ? [path, c.name || t("filter.name")].filter(Boolean).join(".") : `${path}[${at}]`;
        const fault = faults.get(c.id);
        const isKey = typed.includes(c.name);
        const set = (by: Partial<Node>) => onChange(c.id, (n) => ({ ...n, ...by }));
        return (
          <div class="node" key={c.id}>
            <div class="node-line">
              {named ? <input class="input node-name" aria-label={t("edit.name")} value={c.name} placeholder={t("filter.name")} disabled={isKey} aria-invalid={fault === "name" || fault === "twice" ? "true" : undefined} spellcheck={false} onInput={(e) => set({ name: e.currentTarget.value })} />
                : <span class="node-at muted small">{isSet(of.type) ? "•" : at}</span>}
              {!isSet(of.type) && (
                <select class="input node-type" aria-label={t("edit.type", { name: label })} value={c.type} disabled={isKey} onInput={(e) => { const type = e.currentTarget.value as Type; onChange(c.id, (n) => retyped(n, type)); }}>
                  {types.map((type) => <option key={type} value={type}>{t(`type.${type}`)}</option>)}
                </select>
              )}
              <Control node={c} label={label} disabled={locked.includes(c.name)} fault={fault} onInput={(text) => set({ text })} />
              {!isKey && <Button kind="quiet" size="small" icon={X} label={t("edit.remove", { name: label })} onPress={() => onChange(c.id, () => undefined)} />}
            </div>
            {fault && <span class="field-error" role="alert"><Icon of={CircleAlert} size={14} />{t(`fault.${fault}`)}</span>}
            {holds(c.type) && <Children of={c} path={label} locked={[]} typed={[]} faults={faults} onChange={onChange} onAdd={(child) => onChange(c.id, (n) => ({ ...n, children: [...n.children, child] }))} />}
          </div>
        );
      })}
      {hidden > 0 && <div><Button kind="quiet" size="small" icon={ChevronDown} onPress={() => setMost(most + drawnAtOnce)}>{t("show.more", { n: Math.min(hidden, drawnAtOnce) })}</Button></div>}
      <div><Button kind="quiet" size="small" icon={Plus} onPress={() => { setAdded(added + 1); onAdd(node("", isSet(of.type) ? memberOf(of.type) : "S")); }}>{t(path === "" ? "edit.addAttribute" : "edit.add")}</Button></div>
    </div>
  );
}

function Control({ node: n, label, disabled, fault, onInput }: { node: Node; label: string; disabled: boolean; fault: Fault | undefined; onInput: (text: string) => void }) {
  const shared = { class: "input node-value", "aria-label": t("edit.value", { name: label }), disabled, "aria-invalid": fault === "N" || fault === "B" ? "true" as const : undefined };
  switch (n.type) {
    case "S":
      return <textarea {...shared} rows={1} value={n.text} spellcheck={false} onInput={(e) => onInput(e.currentTarget.value)} />;
    case "N":
      return <input {...shared} inputMode="decimal" value={n.text} autocomplete="off" onInput={(e) => onInput(e.currentTarget.value)} />;
    case "B":
      return <textarea {...shared} rows={1} placeholder="base64" value={n.text} spellcheck={false} onInput={(e) => onInput(e.currentTarget.value)} />;
    case "BOOL":
      return <select {...shared} value={n.text} onInput={(e) => onInput(e.currentTarget.value)}><option value="true">true</option><option value="false">false</option></select>;
    case "NULL":
      return <span class="node-value muted">null</span>;
    default:
      return <span class="node-value muted small">{t("edit.count", { n: n.children.length })}</span>;
  }
}
