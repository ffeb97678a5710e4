// A view of one table: the list of tables, its header, and its content.
import type { ComponentChildren } from "preact";
import { Breadcrumb, Problem, link } from "#ui";
import { TableHead } from "./items.tsx";
import { type Table, loadTable, tableState } from "./schema.ts";
import { Sidebar, Waiting } from "./tables.tsx";
import { t } from "./words.ts";

/** step names a task, such as an import, which has the way back instead of the table's views. */
export function TablePlace({ name, step, children }: { name: string; step?: string; children: (table: Table) => ComponentChildren }) {
  const state = tableState(name);
  return (
    <div class="with-sidebar">
      <Sidebar table={name} />
      <div class="stack beside" key={name}>
        {step !== undefined && <Breadcrumb steps={[{ label: t("tables"), href: link("/tables") }, { label: name, href: link("/tables/:table", { table: name }) }, { label: step }]} />}
        {state === "loading" || state instanceof Problem ? <Waiting state={state} onRetry={() => loadTable(name)} /> : <>{step === undefined && <TableHead table={state} />}{children(state)}</>}
      </div>
    </div>
  );
}
