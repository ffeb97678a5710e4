// The items of a table or an index: the query, its pages, and the open item.
import { ArrowLeft, ArrowRight, Bookmark, Braces, Columns3, Inbox, Layers, Play, Plus, Rows3, Shapes, Undo2, Upload, Filter as Funnel } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { Badge, Breadcrumb, Button, Chips, Dialog, Empty, Icon, Problem, Skeleton, go, here, keep, kept, link, match, useTitle } from "#ui";
import { type PageOfItems, about, call } from "./api.ts";
import { designOf } from "./design.ts";
import { Entities } from "./entities.tsx";
import { Builder } from "./builder.tsx";
import { BulkBar } from "./bulk.tsx";
import { JSONView } from "./code-editor.tsx";
import { Collection } from "./collection.tsx";
import { ExportButton } from "./export.tsx";
import { Fault } from "./fault.tsx";
import { Grid } from "./grid.tsx";
import { ItemDrawer } from "./item.tsx";
import { useCommands } from "./commands.ts";
import { BookmarkButton } from "./bookmark.tsx";
import { usePicked } from "./pick.ts";
import { type Request, type View, addressOf, inWords, questionOf, requestOf, viewOf, views } from "./query.ts";
import { type Query, bookmark, ran } from "./queries.ts";
import { CopyRequest } from "./request.tsx";
import { type Table, keyNames, keysFor, keysOf, loadTable, tableState, useSettled } from "./schema.ts";
import { TableViews } from "./table-views.tsx";
import { Flags, Sidebar, Status, Waiting } from "./tables.tsx";
import { isItem } from "./tree.ts";
import { lastWrite, undo, undone } from "./undo.ts";
import { newTab } from "./view-tabs.tsx";
import { type Item, pick } from "./value.ts";
import { t } from "./words.ts";

export function TablePage({ name }: { name: string }) {
  useTitle(name);
  const state = tableState(name);
  return (
    <div class="with-sidebar">
      <Sidebar table={name} />
      <div class="stack beside">
        {state === "loading" || state instanceof Problem ? <Waiting state={state} onRetry={() => loadTable(name)} /> : <Items table={state} key={name} />}
      </div>
    </div>
  );
}

export function TableHead({ table }: { table: Table }) {
  const name = table.description.TableName;
  return (
    <div class="stack" style={{ "--gap": "var(--space-1)" }}>
      <div class="narrow-only"><Breadcrumb steps={[{ label: t("tables"), href: link("/tables") }, { label: name }]} /></div>
      <div class="row table-head">
        <h1 class="breaks">{name}</h1>
        {table.description.TableStatus !== "ACTIVE" && <Status status={table.description.TableStatus} />}
        <Flags table={table} />
        <div class="row end">
          {!about.readOnly && match("/tables/:table", here.value.path) && <Button icon={Upload} href={link("/tables/:table/import", { table: name })}>{t("import")}</Button>}
          {!about.readOnly && match("/tables/:table", here.value.path) && <Button kind="primary" icon={Plus} href={link("/tables/:table/new", { table: name })}>{t("item.create")}</Button>}
        </div>
      </div>
      <TableViews table={name} />
    </div>
  );
}

/** A loaded page and its request. */
interface Read extends PageOfItems {
  took: number;
  start: Item | undefined;
}

function Items({ table }: { table: Table }) {
  const d = table.description;
  useSettled(table);
  const query = here.value.query;
  const question = questionOf(query);
  const address = JSON.stringify(addressOf(question));
  const view = viewOf(query);
  const pages = usePagesOf(d.TableName + d.TableStatus, () => requestOf(question, d), address);
  const keys = keyNames(keysOf(d.KeySchema));
  const opened = openedItem(query.get("item"));
  const items = pages.read?.Items ?? [];
  const known = [...new Set(items.flatMap(Object.keys))].sort();
  const asking: Query = { title: titleOf(d.TableName, question, pages.request), address: link("/tables/:table", { table: d.TableName, ...addressOf(question) } as Record<string, string | undefined>) };
  useEffect(() => { if (pages.read && (question.how === "query" || question.filters.length > 0)) void ran(asking); }, [pages.read]);
  useItemsCommands(d.TableName, pages, asking);
  const show = (item: Item | undefined) => go(withItem(item && pick(item, keys)));
  const writes = undone.value;
  const seen = useRef(writes);
  useEffect(() => {
    if (seen.current !== writes) pages.again();
    seen.current = writes;
  }, [writes]);
  return (
    <>
      <TableHead table={table} />
      <Builder table={d} asked={question} view={view} attributes={known} onAsk={() => pages.again()} />
      <Results table={table} pages={pages} view={view} question={question} keys={keys} query={asking} />
      {opened && <ItemDrawer table={table} itemKey={opened} onClose={() => show(undefined)} onChange={() => pages.again()} />}
    </>
  );
}

/** The query on one line: shop · GSI1 · GSI1PK = "STATUS#open". */
function titleOf(table: string, q: ReturnType<typeof questionOf>, request: Request | undefined): string {
  return [table, q.index, q.how === "scan" ? t("how.scan") : "", request ? inWords(request) : "", q.backwards ? t("order.desc") : ""].filter(Boolean).join(" · ");
}

function useItemsCommands(table: string, pages: PagesOf, query: Query): void {
  const to = (path: string) => () => go(link(`/tables/:table/${path}`, { table }));
  const show = (view: View) => () => {
    const next = new URLSearchParams(here.value.query);
    next.set("view", view);
    go(`#${here.value.path}?${next.toString()}`, "replace");
  };
  useCommands(() => [
    ...(about.readOnly ? [] : [{ label: t("item.create"), group: table, icon: Plus, keys: "n", run: to("new") }, { label: t("import"), group: table, icon: Upload, keys: "i", run: to("import") }]),
    { label: t("ask"), group: table, icon: Funnel, keys: "/", run: () => document.querySelector<HTMLElement>(".builder input, .builder button")?.focus() },
    { label: t("keys.grid"), group: table, icon: Rows3, keys: "r", run: () => document.querySelector<HTMLElement>(".data-grid tbody a, .entry")?.focus() },
    { label: t("again"), group: table, icon: Play, keys: ".", run: pages.again },
    ...(pages.read?.LastEvaluatedKey ? [{ label: t("next"), group: table, icon: ArrowRight, keys: "]", run: pages.next }] : []),
    ...(pages.before > 0 ? [{ label: t("previous"), group: table, icon: ArrowLeft, keys: "[", run: pages.previous }] : []),
    ...views.map((v, n) => ({ label: t(`view.${v}`), group: t("view"), icon: icons[v], keys: String(n + 1), run: show(v) })),
    { label: t("bookmarks.turn"), group: table, icon: Bookmark, keys: "b", run: () => void bookmark(query) },
    { label: t("tabs.here"), group: table, icon: Layers, run: () => newTab(location.hash) },
    { label: t("settings"), group: table, icon: Rows3, run: to("settings") },
  ]);
}

/** The address of this view with or without an open item. */
export function withItem(key: Item | undefined): string {
  const query = new URLSearchParams(here.value.query);
  if (key) query.set("item", JSON.stringify(key));
  else query.delete("item");
  const text = query.toString();
  return `#${here.value.path}${text ? `?${text}` : ""}`;
}

export function openedItem(text: string | null): Item | undefined {
  try {
    const key: unknown = JSON.parse(text ?? "null");
    return isItem(key) && Object.keys(key).length > 0 ? key : undefined;
  } catch {
    return undefined;
  }
}

interface PagesOf {
  request: Request | undefined;
  read: Read | undefined;
  problem: Problem | undefined;
  loading: boolean;
  /** The number of previous pages. */
  before: number;
  units: number;
  next: () => void;
  previous: () => void;
  again: () => void;
}

/** The pages of a query, in both directions: their start keys are kept. */
function usePagesOf(table: string, request: () => Request, address: string): PagesOf {
  const [state, set] = useState<{ starts: (Item | undefined)[]; read?: Read; problem?: Problem; loading: boolean; units: number; request?: Request }>({ starts: [undefined], loading: true, units: 0 });
  const running = useRef<AbortController | null>(null);
  const load = async (starts: (Item | undefined)[], units: number) => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    let asked: Request;
    try {
      asked = request();
    } catch {
      set({ starts, loading: false, units }); // the address has an error that the form will show
      return;
    }
    set((s) => ({ ...s, loading: true }));
    const start = starts[starts.length - 1];
    const begun = performance.now();
    try {
      const read = await call<PageOfItems>(asked.operation, start ? { ...asked.input, ExclusiveStartKey: start } : asked.input, mine.signal);
      if (!mine.signal.aborted) set({ starts, request: asked, read: { ...read, start, took: performance.now() - begun }, loading: false, units: units + (read.ConsumedCapacity?.CapacityUnits ?? 0) });
    } catch (thrown) {
      if (!mine.signal.aborted) set({ starts, request: asked, problem: Problem.of(thrown), loading: false, units });
    }
  };
  useEffect(() => {
    void load([undefined], 0);
    return () => running.current?.abort();
  }, [table, address]);
  return {
    request: state.request, read: state.read, problem: state.problem, loading: state.loading, before: state.starts.length - 1, units: state.units,
    next: () => void load([...state.starts, state.read?.LastEvaluatedKey], state.units),
    previous: () => void load(state.starts.slice(0, -1), state.units),
    again: () => void load(state.starts, state.units),
  };
}

const icons = { table: Rows3, entities: Shapes, collection: Layers, json: Braces };

function Results({ table, pages, view, question, keys, query }: { query: Query;  table: Table; pages: PagesOf; view: View; question: ReturnType<typeof questionOf>; keys: readonly string[] }) {
  const d = table.description;
  const design = designOf(d.TableName);
  const [choosing, choose] = useState(false);
  const of = `console-columns ${d.TableName}`;
  const picked = usePicked(keys, JSON.stringify(addressOf(question)));
  const [hidden, hide] = useState<readonly string[]>(() => JSON.parse(kept(of) ?? "[]") as string[]);
  if (pages.problem) {
    return <Fault problem={pages.problem} onRetry={pages.again} />;
  }
  if (!pages.read) {
    return pages.loading ? <div aria-busy="true"><Skeleton lines={10} /></div> : null;
  }
  const read = pages.read;
  const by = keysFor(d, question.index);
  const asked = keyNames(by);
  const columns = columnsOf(read.Items, [...new Set([...keys, ...asked])]);
  const open = (item: Item) => withItem(pick(item, keys));
  const show = (chosen: View) => {
    const next = new URLSearchParams(here.value.query);
    if (chosen === "table") next.delete("view");
    else next.set("view", chosen);
    go(`#${here.value.path}?${next.toString()}`, "replace");
  };
  return (
    <section class="stack results" aria-label={t("results")} aria-busy={pages.loading}>
      <div class="row results-bar">
        <div class="how small-how" role="group" aria-label={t("view")}>
          {views.filter((v) => v !== "entities" || design).map((v) => <button key={v} type="button" class="how-one" aria-pressed={v === view} onClick={() => show(v)}><Icon of={icons[v]} size={15} />{t(`view.${v}`)}</button>)}
        </div>
        {view === "table" && columns.length > keys.length && <Button kind="quiet" size="small" icon={Columns3} onPress={() => choose(true)}>{hidden.some((h) => columns.includes(h)) ? t("columns.some", { n: columns.filter((c) => !hidden.includes(c)).length, all: columns.length }) : t("columns")}</Button>}
        {pages.request && <BookmarkButton query={query} />}
        {pages.request && <CopyRequest request={pages.request} />}
        {pages.request && read.Items.length > 0 && <ExportButton table={d} request={pages.request} picked={picked.items} page={read.Items} />}
        {lastWrite.value?.table === d.TableName && <Button kind="quiet" size="small" icon={Undo2} onPress={undo}>{t("undo")}</Button>}
        {pages.request && <span class="asked clip muted small" title={inWords(pages.request)}>{inWords(pages.request)}</span>}
      </div>
      <BulkBar table={d} picked={picked} onDone={pages.again} />
      {read.Items.length === 0 ? <None read={read} question={question} table={table} onNext={pages.next} />
        : view === "json" ? <JSONView label={t("view.json")} text={JSON.stringify(read.Items, null, 2)} />
        : view === "entities" && design ? <Entities table={d.TableName} index={question.index} items={read.Items} keys={asked} open={open} />
        : view === "collection" ? <Collection table={d.TableName} index={question.index} items={read.Items} keys={asked} partition={by.pks.length} open={open} />
        : <Grid caption={t("items")} items={read.Items} columns={columns.filter((c) => !hidden.includes(c) || keys.includes(c))} keys={keys} indexKeys={asked} sortKey={by.sk} open={open} question={question} picked={picked} name={d.TableName} />}
      <Cost pages={pages} />
      <Dialog open={choosing} title={t("columns")} onClose={() => choose(false)} actions={<Button kind="primary" onPress={() => choose(false)}>{t("done")}</Button>}>
        <Chips label={t("columns.hint")} choices={columns.filter((c) => !keys.includes(c)).map((c) => ({ value: c, label: c }))} most={columns.length + 1} chosen={columns.filter((c) => !hidden.includes(c) && !keys.includes(c))}
          onChoose={(chosen) => {
            const now = [...hidden.filter((h) => !columns.includes(h)), ...columns.filter((c) => !keys.includes(c) && !chosen.includes(c))];
            hide(now);
            keep(of, now.length > 0 ? JSON.stringify(now) : undefined);
          }} />
      </Dialog>
    </section>
  );
}

/** Keys first, then the attributes that most items have. */
function columnsOf(items: readonly Item[], keys: readonly string[]): string[] {
  const count = new Map<string, number>();
  for (const item of items) for (const name of Object.keys(item)) count.set(name, (count.get(name) ?? 0) + 1);
  const rest = [...count].filter(([name]) => !keys.includes(name)).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([name]) => name);
  return [...keys.filter((k) => count.has(k)), ...rest];
}

/** An empty page: why, and what may help. */
function None({ read, question, table, onNext }: { read: Read; question: ReturnType<typeof questionOf>; table: Table; onNext: () => void }) {
  if (read.LastEvaluatedKey) {
    return <Empty level={2} icon={Funnel} title={t("none.filtered", { n: read.ScannedCount })} action={<Button kind="primary" icon={ArrowRight} onPress={onNext}>{t("none.goOn")}</Button>}>{t("none.filteredText")}</Empty>;
  }
  if (question.filters.length > 0) {
    return <Empty level={2} icon={Funnel} title={t("none.match")}>{t("none.matchText", { n: read.ScannedCount })}</Empty>;
  }
  if (question.how === "query") {
    return <Empty level={2} icon={Inbox} title={t("none.key")}>{t("none.keyText")}</Empty>;
  }
  return (
    <Empty level={2} icon={Inbox} title={t(question.index === "" ? "none.table" : "none.index")} action={!about.readOnly && question.index === "" && <Button kind="primary" icon={Plus} href={link("/tables/:table/new", { table: table.description.TableName })}>{t("item.create")}</Button>}>
      {t(question.index === "" ? "none.tableText" : "none.indexText")}
    </Empty>
  );
}

/** The cost of the page, and links to the others. */
function Cost({ pages }: { pages: PagesOf }) {
  const read = pages.read;
  if (!read) {
    return null;
  }
  const units = read.ConsumedCapacity?.CapacityUnits;
  return (
    <div class="cost">
      <div class="row cost-text" role="status">
        <span>{t("cost.items", { n: read.Count })}</span>
        {read.ScannedCount !== read.Count && <Badge plain tone="warning">{t("cost.scanned", { n: read.ScannedCount })}</Badge>}
        {units !== undefined && <span title={t("cost.unitsText")}>{t("cost.units", { n: units })}</span>}
        {pages.before > 0 && <span class="muted">{t("cost.all", { n: pages.units })}</span>}
        <span class="muted">{t("cost.took", { n: Math.max(1, Math.round(read.took)) })}</span>
      </div>
      <div class="row fixed end">
        <Button size="small" icon={ArrowLeft} disabled={pages.before === 0} loading={pages.loading && pages.before > 0} onPress={pages.previous}>{t("previous")}</Button>
        <span class="small muted number">{t("page", { n: pages.before + 1 })}</span>
        <Button size="small" disabled={!read.LastEvaluatedKey} onPress={pages.next}>{t("next")}<Icon of={ArrowRight} size={16} /></Button>
      </div>
    </div>
  );
}

