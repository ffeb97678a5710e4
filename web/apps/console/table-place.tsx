// A view of one table: the list of tables, its header, and its content.
import type { ComponentChildren } from "preact";
import { Problem } from "#ui";
import { TableHead } from "./items.tsx";
import { type Table, loadTable, tableState } from "./schema.ts";
import { Sidebar, Waiting } from "./tables.tsx";

export function TablePlace({ name, children }: { name: string; children: (table: Table) => ComponentChildren }) {
  const state = tableState(name);
  return (
    <div class="with-sidebar">
      <Sidebar table={name} />
      <div class="stack beside" key={name}>
        {state === "loading" || state instanceof Problem ? <Waiting state={state} onRetry={() => loadTable(name)} /> : <><TableHead table={state} />{children(state)}</>}
      </div>
    </div>
  );
}
