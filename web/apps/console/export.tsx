// Exports items to a file: the selected ones, those of the page, or all that the query finds, page by page.
import { Download } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, Checkbox, Dialog, Problem, Progress, Select } from "#ui";
import type { PageOfItems, TableDescription } from "./api.ts";
import { callAgain } from "./many.ts";
import type { Request } from "./query.ts";
import { keyNames, keysOf } from "./schema.ts";
import { bytes } from "./show.tsx";
import { download } from "./save.ts";
import type { Item } from "./value.ts";
import { Fault } from "./fault.tsx";
import { t } from "./words.ts";

interface ExportProps {
  table: TableDescription;
  request: Request;
  picked: readonly Item[];
  page: readonly Item[];
}

type Scope = "picked" | "page" | "all";
type Format = "json" | "csv";

export function ExportButton(p: ExportProps) {
  const [open, set] = useState(false);
  return (
    <>
      <Button kind="quiet" size="small" icon={Download} onPress={() => set(true)}>{t("export")}</Button>
      {open && <ExportDialog {...p} onClose={() => set(false)} />}
    </>
  );
}

interface Done {
  items: number;
  units: number;
  size?: number;
}

/** All items of a request, page by page. */
async function* allItems(request: Request, abort: AbortSignal, onUnits: (n: number) => void): AsyncGenerator<readonly Item[]> {
  const { Limit: _, ...input } = request.input; // pages of maximum size
  let start: Item | undefined;
  do {
    const page: PageOfItems = await callAgain<PageOfItems>(request.operation, start ? { ...input, ExclusiveStartKey: start } : input, abort);
    onUnits(page.ConsumedCapacity?.CapacityUnits ?? 0);
    yield page.Items;
    start = page.LastEvaluatedKey;
  } while (start && !abort.aborted);
}

function ExportDialog({ table, request, picked, page, onClose }: ExportProps & { onClose: () => void }) {
  const [scope, setScope] = useState<Scope>(picked.length > 0 ? "picked" : "page");
  const [format, setFormat] = useState<Format>("json");
  const [gzip, setGzip] = useState(false);
  const [done, setDone] = useState<Done | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const run = async () => {
    const abort = new AbortController();
    running.current = abort;
    setProblem(undefined);
    const so: Done = { items: 0, units: 0 };
    const pages = scope === "all" ? allItems(request, abort.signal, (n) => { so.units += n; }) : once(scope === "picked" ? picked : page);
    try {
      const { Columns, csvHead, csvLine } = await import("./csv.ts");
      const { Pieces, compressed, entriesOf } = await import("./files.ts");
      const lines = new Pieces();
      const columns = new Columns();
      for await (const items of pages) {
        for (const item of items) {
          lines.add(`${JSON.stringify({ Item: item })}\n`);
          if (format === "csv") columns.add(item);
        }
        so.items += items.length;
        setDone({ ...so });
      }
      if (abort.signal.aborted) return;
      let file = lines.whole();
      if (format === "csv") { // the columns are known now
        const list = columns.list(keyNames(keysOf(table.KeySchema)));
        const rows = new Pieces();
        rows.add(csvHead(list));
        for await (const { item } of entriesOf({ format: "json", files: [new File([file], "items")], columns: [], expected: undefined })) if (item) rows.add(csvLine(item, list));
        file = rows.whole();
      }
      if (gzip) file = await compressed(file);
      download(file, `${table.TableName}.${format}${gzip ? ".gz" : ""}`);
      setDone({ ...so, size: file.size });
    } catch (thrown) {
      if (!abort.signal.aborted) setProblem(Problem.of(thrown));
    }
  };
  const whole = [...(picked.length > 0 ? [{ value: "picked" as const, label: t("export.picked", { n: picked.length }) }] : []), { value: "page" as const, label: t("export.page", { n: page.length }) }, { value: "all" as const, label: t("export.all") }];
  return (
    <Dialog open title={t("export.items")} onClose={onClose} actions={<><Button onPress={onClose}>{t(done?.size === undefined ? "cancel" : "done")}</Button><Button kind="primary" icon={Download} onPress={run}>{t("export.run")}</Button></>}>
      <div class="stack">
        <Select label={t("export.what")} value={scope} onInput={setScope} choices={whole} hint={scope === "all" ? t("export.allHint") : ""} />
        <Select label={t("export.format")} value={format} onInput={setFormat} choices={[{ value: "json", label: t("export.json") }, { value: "csv", label: "CSV" }]} hint={t(`export.${format}Hint`)} />
        <Checkbox label={t("export.gzip")} checked={gzip} onInput={setGzip} />
        {problem && <Fault problem={problem} />}
        {done && !problem && (
          <div role="status" class="stack" style={{ "--gap": "var(--space-1)" }}>
            {done.size === undefined && <Progress label={t("export")} />}
            <span class="small">{t("cost.items", { n: done.items })}{done.units > 0 && <> · {t("cost.units", { n: done.units })}</>}{done.size !== undefined && <> · {t("export.saved", { size: bytes(done.size) })}</>}</span>
          </div>
        )}
      </div>
    </Dialog>
  );
}

async function* once(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  yield items;
}
