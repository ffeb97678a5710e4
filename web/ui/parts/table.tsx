import { Inbox } from "lucide";
import type { ComponentChildren } from "preact";
import type { Pages } from "../pages.ts";
import { ui } from "../ui-words.ts";
import { Button } from "./button.tsx";
import { Empty, Failed, Skeleton } from "./bits.tsx";

export interface Column<T> {
  key: string;
  title: string;
  cell: (row: T) => ComponentChildren;
  numeric?: boolean;
  /** Hides the title visually, for actions. */
  titleHidden?: boolean;
  /** On phones, shown next to the card's title, for a badge. */
  beside?: boolean;
}

interface TableProps<T> {
  /** Describes the rows, for screen readers. */
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  /** Rows become cards on phones; false lets the table scroll. */
  cards?: boolean;
  foot?: ComponentChildren;
}

/** A table of given rows. */
export function Table<T>({ caption, columns, rows, rowKey, cards = true, foot }: TableProps<T>) {
  return (
    <div class="table-box" role="region" aria-label={caption} tabIndex={0}>
      <table class={cards ? "table cards" : "table"}>
        <caption class="hidden-visually">{caption}</caption>
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c.key} scope="col" class={c.numeric ? "numeric" : undefined}>{c.titleHidden ? <span class="hidden-visually">{c.title}</span> : c.title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((c) => <td key={c.key} class={c.numeric ? "numeric" : undefined} data-label={c.titleHidden || c.beside ? undefined : c.title}>{c.cell(row)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
      {foot && <div class="table-foot">{foot}</div>}
    </div>
  );
}

/** A table of rows that the server returns in pages, with its loading, empty, failed and "more" states. */
export function PagedTable<T>({ pages, empty, ...rest }: Omit<TableProps<T>, "rows" | "foot"> & { pages: Pages<T>; empty?: ComponentChildren }) {
  return (
    <Paged pages={pages} empty={empty} loading={<TableSkeleton columns={rest.columns.length} />}>
      {(rows) => <Table {...rest} rows={rows} foot={pages.next.value || pages.state.value === "failed" ? <MoreButton pages={pages} /> : undefined} />}
    </Paged>
  );
}

/** The same for any list; children render the items. */
export function Paged<T>({ pages, empty, loading, children }: {
  pages: Pages<T>;
  empty?: ComponentChildren;
  loading?: ComponentChildren;
  children: (items: readonly T[]) => ComponentChildren;
}) {
  const items = pages.items.value;
  const state = pages.state.value;
  if (items.length === 0 && state === "failed") {
    return <Failed problem={pages.problem.value} onRetry={() => pages.reload()} />;
  }
  if (items.length === 0 && state !== "ready") {
    return <div aria-busy="true"><span class="hidden-visually" role="status">{ui("loading")}</span>{loading ?? <Skeleton lines={4} />}</div>;
  }
  if (items.length === 0) {
    return <>{empty ?? <Empty level={2} icon={Inbox} title={ui("nothing")} />}</>;
  }
  return <>{children(items)}</>;
}

/** The "more" button under a paged list; nothing on the last page, or while Paged shows the failure of the first. */
export function MoreButton<T>({ pages }: { pages: Pages<T> }) {
  const problem = pages.state.value === "failed" ? pages.problem.value : undefined;
  if (problem ? pages.items.value.length === 0 : !pages.next.value) {
    return null;
  }
  return (
    <>
      {problem && <span role="alert">{problem.detail}</span>}
      <Button loading={pages.state.value === "loading"} onPress={() => pages.more()}>{problem ? ui("retry") : ui("more")}</Button>
    </>
  );
}

export function TableSkeleton({ columns, rows = 5 }: { columns: number; rows?: number }) {
  return (
    <div class="table-box" aria-hidden="true">
      <table class="table">
        <tbody>
          {Array.from({ length: rows }, (_, r) => (
            <tr key={r}>{Array.from({ length: columns }, (_, c) => <td key={c}><Skeleton width={`${45 + ((r * 31 + c * 17) % 45)}%`} /></td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
