// PartiQL statements, run as written.
import { Play, SquareTerminal } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Badge, Button, Empty, Problem, Tabs, go, here, link, useTitle } from "#ui";
import { type Consumed, about, call } from "./api.ts";
import { ran as noteQuery } from "./queries.ts";
import { CodeEditor, JSONView } from "./code-editor.tsx";
import { Grid } from "./grid.tsx";
import { BookmarkButton } from "./bookmark.tsx";
import { CopyRequest } from "./request.tsx";
import { knownTable, loadNames, names } from "./schema.ts";
import type { Item } from "./value.ts";
import { Fault } from "./fault.tsx";
import { t } from "./words.ts";

interface Ran {
  statement: string;
  items: readonly Item[];
  next: string | undefined;
  units: number;
  took: number;
  writes: boolean;
}

const pageOf = 100; // items read before a page ends

function inputOf(statement: string): Record<string, unknown> {
  return { Statement: statement.trim(), ReturnConsumedCapacity: "TOTAL", ...(/^\s*select/i.test(statement) ? { Limit: pageOf } : {}) };
}

/** Completions: tables, and the attributes of loaded ones. */
function schemaOf(): Record<string, string[]> {
  return Object.fromEntries((names.value ?? []).map((name) => {
    const state = knownTable(name);
    return [name, state ? state.description.AttributeDefinitions.map((a) => a.AttributeName) : []];
  }));
}

export function PartiQL() {
  useTitle("PartiQL");
  const asked = here.value.query.get("statement") ?? "";
  const [text, type] = useState(asked);
  const [ran, setRan] = useState<Ran | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [busy, setBusy] = useState(false);
  const [view, choose] = useState<"table" | "json">("table");
  useEffect(() => { if (!names.value) void loadNames(); }, []);
  useEffect(() => { // another statement: of a bookmark, of another tab, back in the history
    if (asked === text) return;
    type(asked);
    setRan(undefined);
    setProblem(undefined);
  }, [asked]);
  const run = async (statement: string, before?: Ran) => {
    if (statement.trim() === "" || busy) return;
    setBusy(true);
    setProblem(undefined);
    if (!before) setRan(undefined);
    go(link("/partiql", { statement }), "replace"); // the address contains it; the user runs it
    const begun = performance.now();
    try {
      const page = await call<{ Items?: Item[]; NextToken?: string; ConsumedCapacity?: Consumed }>("ExecuteStatement", before?.next === undefined ? inputOf(statement) : { ...inputOf(statement), NextToken: before.next });
      if (!before) void noteQuery({ title: statement.trim().replace(/\s+/g, " "), address: link("/partiql", { statement }) });
      setRan({
        statement, items: [...(before?.items ?? []), ...(page.Items ?? [])], next: page.NextToken, units: (before?.units ?? 0) + (page.ConsumedCapacity?.CapacityUnits ?? 0), took: performance.now() - begun, writes: !/^\s*select/i.test(statement),
      });
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
    setBusy(false);
  };
  const keys = (event: KeyboardEvent) => {
    if (!event.defaultPrevented && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void run((event.target as HTMLTextAreaElement).value);
    }
  };
  const columns = [...new Set((ran?.items ?? []).flatMap((i) => Object.keys(i)))];
  const examples = [
    `SELECT * FROM "shop" WHERE "PK" = 'USER#1' AND begins_with("SK", 'ORDER#')`, `SELECT "SK", "total" FROM "shop"."GSI1" WHERE "GSI1PK" = 'STATUS#open'`,
    ...(about.readOnly ? [] : [`UPDATE "shop" SET "status" = 'sent' WHERE "PK" = 'USER#1' AND "SK" = 'ORDER#1'`]),
  ];
  return (
    <div class="stack partiql">
      <h1>PartiQL</h1>
      <form class="builder mono" onSubmit={(e) => { e.preventDefault(); void run(text); }} onKeyDown={keys}>
        <CodeEditor language="partiql" label={t("partiql.statement")} hint={t("partiql.hint")} rows={4} value={text} onInput={(now) => { type(now); setProblem(undefined); }} onRun={() => void run(text)} fault={problem?.detail ?? ""} schema={schemaOf()} />
        <div class="row">
          <Button kind="primary" icon={Play} type="submit" loading={busy}>{t("run")}</Button>
          {text.trim() !== "" && <BookmarkButton query={{ title: text.trim().replace(/\s+/g, " "), address: link("/partiql", { statement: text }) }} />}
          {text.trim() !== "" && <CopyRequest request={{ operation: "ExecuteStatement", input: inputOf(text) }} />}
          {about.readOnly && <Badge plain>{t("readOnly")}</Badge>}
        </div>
      </form>
      {problem && <Fault problem={problem} />}
      {!ran && !problem && !busy && (
        <Empty level={2} icon={SquareTerminal} title={t("partiql.empty")} action={<ul class="stack examples">{examples.map((x) => <li key={x}><button type="button" class="example" onClick={() => type(x)}><code>{x}</code></button></li>)}</ul>}>{t("partiql.emptyText")}</Empty>
      )}
      {ran && (
        <>
          <div class="row cost-text" role="status">
            <span>{ran.writes && ran.items.length === 0 ? t("partiql.done") : t("cost.items", { n: ran.items.length })}</span>
            <span class="muted">{t(ran.writes ? "partiql.units" : "cost.units", { n: ran.units })}</span>
            <span class="muted">{t("cost.took", { n: Math.max(1, Math.round(ran.took)) })}</span>
          </div>
          {ran.items.length > 0 && (
            <Tabs label={t("view")} chosen={view} onChoose={choose} tabs={[{ key: "table", label: t("view.table") }, { key: "json", label: "JSON" }]}>
              {view === "json" ? <JSONView label={t("view.json")} text={JSON.stringify(ran.items, null, 2)} /> : <Grid caption={t("items")} items={ran.items} columns={columns} keys={[]} />}
            </Tabs>
          )}
          {ran.next !== undefined && <div><Button loading={busy} onPress={() => run(ran.statement, ran)}>{t("partiql.more")}</Button></div>}
        </>
      )}
    </div>
  );
}
