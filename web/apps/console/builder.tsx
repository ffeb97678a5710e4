// The query form. It sets the address of the view, which runs the query.
import { ChevronDown, Play, Plus, X } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Button, Checkbox, Icon, Select, TextField, go, link } from "#ui";
import type { TableDescription } from "./api.ts";
import { type Filter, type FilterOp, type KeyOp, type Question, Unfit, addressOf, filterOps, filterTypes, keyOps, limits, moreOf, requestOf, sortAt } from "./query.ts";
import { indexesOf, keyType, keysFor } from "./schema.ts";
import { t } from "./words.ts";

const empty: Filter = { name: "", op: "=", type: "S", a: "", b: "" };

export function keyOpName(op: KeyOp): string {
  return op === "" ? t("op.any") : op === "between" || op === "begins_with" ? t(`op.${op}`) : op;
}

export function filterOpName(op: FilterOp): string {
  return /^[<>=]+$/.test(op) ? op : t(`op.${op}` as "op.between");
}

export function Builder({ table, asked, view, attributes, onAsk }: { table: TableDescription; asked: Question; view: string; attributes: readonly string[]; onAsk: () => void }) {
  const [q, set] = useState(asked);
  const [fault, setFault] = useState<Unfit | undefined>();
  const [unfolded, unfold] = useState(asked.filters.length > 0 || asked.project !== "" || asked.consistent);
  const address = JSON.stringify(addressOf(asked));
  useEffect(() => {
    set(asked);
    setFault(undefined);
    if (asked.filters.length > 0) unfold(true);
  }, [address, table.TableName]);
  const change = (by: Partial<Question>) => { set({ ...q, ...by }); setFault(undefined); };
  const keys = keysFor(table, q.index);
  const sk = keys.sks[sortAt(keys, q.more)];
  const more = moreOf(keys);
  const indexes = indexesOf(table);
  const global = indexes.some((i) => i.global && i.IndexName === q.index);
  const ask = (event: Event) => {
    event.preventDefault();
    try {
      requestOf(q, table);
    } catch (thrown) {
      if (!(thrown instanceof Unfit)) throw thrown;
      setFault(thrown);
      return;
    }
    const to = link("/tables/:table", { table: table.TableName, view: view === "table" ? undefined : view, ...addressOf(q) } as Record<string, string | undefined>);
    if (to === location.hash) onAsk();
    else go(to);
  };
  const filter = (n: number, by: Partial<Filter>) => change({ filters: q.filters.map((f, i) => (i === n ? { ...f, ...by } : f)) });
  const wrong = (field: string) => (fault?.field === field ? (fault.type === "" ? t("fault.required") : t(`fault.${fault.type}` as "fault.N")) : undefined);
  const keyLabel = (name: string) => `${name} · ${t(`type.${keyType(table, name)}` as "type.S")}`;
  return (
    <form class="builder" noValidate onSubmit={ask} aria-label={t("ask")}>
      <div class="builder-line">
        <div class="how" role="group" aria-label={t("how")}>
          {(["query", "scan"] as const).map((how) => <button key={how} type="button" class="how-one" aria-pressed={q.how === how} onClick={() => change({ how })}>{t(`how.${how}`)}</button>)}
        </div>
        <Select label={t("of")} value={q.index} onInput={(index) => change({ index, more: [], consistent: q.consistent && !indexes.some((i) => i.global && i.IndexName === index) })}
          choices={[{ value: "", label: t("of.table") }, ...indexes.map((i) => ({ value: i.IndexName, label: i.IndexName }))]} />
        {q.how === "query" && (
          <>
            <div class="builder-key"><TextField label={keyLabel(keys.pk)} name="pk" value={q.pk} onInput={(pk) => change({ pk })} error={wrong("pk")} placeholder={t("pk.placeholder")} autocomplete="off" /></div>
            {more.map((name, n) => <div class="builder-key" key={name}><TextField label={`${keyLabel(name)} =`} name={`more.${n}`} optional={n >= keys.pks.length - 1} value={q.more[n] ?? ""} onInput={(text) => change({ more: more.map((_, at) => (at === n ? text : q.more[at] ?? "")) })} error={wrong(`more.${n}`)} autocomplete="off" /></div>)}
            {sk !== undefined && (
              <>
                <Select label={keyLabel(sk)} name="op" value={q.skOp} onInput={(skOp) => change({ skOp })} choices={keyOps.filter((op) => op !== "begins_with" || keyType(table, sk) !== "N").map((op) => ({ value: op, label: keyOpName(op) }))} />
                {q.skOp !== "" && <div class="builder-key"><TextField label={q.skOp === "between" ? t("from") : t("value")} name="sk" value={q.sk} onInput={(sk) => change({ sk })} error={wrong("sk")} autocomplete="off" /></div>}
                {q.skOp === "between" && <div class="builder-key"><TextField label={t("to")} name="sk2" value={q.sk2} onInput={(sk2) => change({ sk2 })} error={wrong("sk2")} autocomplete="off" /></div>}
              </>
            )}
          </>
        )}
        <Button kind="primary" icon={Play} type="submit">{t("run")}</Button>
      </div>
      <div class="row builder-more">
        <button type="button" class="unfold" aria-expanded={unfolded} onClick={() => unfold(!unfolded)}><Icon of={ChevronDown} size={14} />{t("more")}</button>
        {q.how === "query" && keys.sk !== undefined && (
          <div class="how small-how" role="group" aria-label={t("order")}>
            {[false, true].map((back) => <button key={String(back)} type="button" class="how-one" aria-pressed={q.backwards === back} onClick={() => change({ backwards: back })}>{t(back ? "order.desc" : "order.asc")}</button>)}
          </div>
        )}
        <label class="inline-choice">{t("limit")}<select class="input" value={q.limit} onInput={(e) => change({ limit: Number(e.currentTarget.value) })}>{limits.map((n) => <option key={n} value={n}>{n}</option>)}</select></label>
      </div>
      {unfolded && (
        <div class="stack builder-rest">
          <fieldset class="stack" style={{ "--gap": "var(--space-2)" }}>
            <legend class="field-label">{t("filters")}</legend>
            <p class="field-hint">{t("filters.hint")}</p>
            {q.filters.map((f, n) => (
              <div class="filter" key={n}>
                <TextField label={t("filter.name")} labelHidden placeholder={t("filter.name")} list="attributes" value={f.name} onInput={(name) => filter(n, { name })} error={fault?.field === `filter.${n}` && fault.type === "name" ? t("fault.name") : undefined} autocomplete="off" />
                <Select label={t("filter.op")} labelHidden value={f.op} onInput={(op) => filter(n, { op })} choices={filterOps.map((op) => ({ value: op, label: filterOpName(op) }))} />
                {!["exists", "not_exists", "type"].includes(f.op) && <Select label={t("filter.type")} labelHidden value={f.type} onInput={(type) => filter(n, { type, a: type === "BOOL" ? "true" : f.a })} choices={filterTypes.map((type) => ({ value: type, label: t(`type.${type}`) }))} />}
                {f.op === "type" ? <Select label={t("value")} labelHidden value={f.a} empty={t("value")} onInput={(a) => filter(n, { a })} choices={["S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"].map((a) => ({ value: a, label: t(`type.${a}` as "type.S") }))} />
                  : f.type === "BOOL" && !["exists", "not_exists"].includes(f.op) ? <Select label={t("value")} labelHidden value={f.a} onInput={(a) => filter(n, { a })} choices={["true", "false"].map((a) => ({ value: a, label: a }))} />
                  : f.type !== "NULL" && !["exists", "not_exists"].includes(f.op) && <TextField label={t("value")} labelHidden placeholder={f.op === "in" ? t("filter.list") : t("value")} value={f.a} onInput={(a) => filter(n, { a })} error={fault?.field === `filter.${n}` && fault.type !== "name" ? t(`fault.${fault.type}` as "fault.N") : undefined} autocomplete="off" />}
                {f.op === "between" && <TextField label={t("to")} labelHidden placeholder={t("to")} value={f.b} onInput={(b) => filter(n, { b })} autocomplete="off" />}
                <Button kind="quiet" icon={X} label={t("filter.remove")} onPress={() => change({ filters: q.filters.filter((_, i) => i !== n) })} />
              </div>
            ))}
            <div><Button size="small" icon={Plus} onPress={() => change({ filters: [...q.filters, empty] })}>{t("filter.add")}</Button></div>
            <datalist id="attributes">{attributes.map((a) => <option key={a} value={a} />)}</datalist>
          </fieldset>
          <TextField label={t("project")} hint={t("project.hint")} optional value={q.project} onInput={(project) => change({ project })} autocomplete="off" />
          <Checkbox label={t("consistent")} hint={global ? t("consistent.global") : t("consistent.hint")} checked={q.consistent} disabled={global} onInput={(consistent) => change({ consistent })} />
        </div>
      )}
    </form>
  );
}
