// A new item: empty except for its keys, or a copy of another one.
import { useRef, useState } from "preact/hooks";
import { Button, Notice, Problem, Skeleton, go, here, link, useLeaveGuard, useLoaded, useTitle } from "#ui";
import { call } from "./api.ts";
import { Editor } from "./editor.tsx";
import { Fault } from "./fault.tsx";
import { getItem } from "./item.tsx";
import { CopyRequest } from "./request.tsx";
import { type Table, keyNames, keyType, keysOf } from "./schema.ts";
import { TablePlace } from "./table-place.tsx";
import { wrote } from "./undo.ts";
import { type Item, type Value, pick } from "./value.ts";
import { t } from "./words.ts";
import { putOf } from "./write.ts";

export function CreateItemPage({ name }: { name: string }) {
  useTitle(t("item.create"));
  return <TablePlace name={name} step={t("item.create")}>{(table) => <CreateItem table={table} />}</TablePlace>;
}

function CreateItem({ table }: { table: Table }) {
  const d = table.description;
  const keys = keyNames(keysOf(d.KeySchema));
  const from = here.value.query.get("from");
  const like = useLoaded(async (abort) => {
    const empty = Object.fromEntries(keys.map((k): [string, Value] => [k, { [keyType(d, k)]: "" } as Value]));
    return from === null ? empty : { ...empty, ...(await getItem(d.TableName, JSON.parse(from) as Item, abort)).Item };
  }, [from]);
  const [draft, setDraft] = useState<Item | undefined>();
  const [tried, setTried] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const unsaved = useRef(false);
  useLeaveGuard(() => unsaved.current);
  const start = like.value.value;
  if (!start) {
    return like.problem.value ? <Fault problem={like.problem.value} onRetry={() => like.reload()} /> : <Skeleton lines={6} />;
  }
  const item = draft ?? start;
  const save = async () => {
    setTried(true);
    setProblem(undefined);
    if (!draft) {
      requestAnimationFrame(() => document.querySelector<HTMLElement>(".create [aria-invalid=true]")?.focus());
      return;
    }
    try {
      await call("PutItem", putOf(d.TableName, keys, draft));
      unsaved.current = false;
      wrote({ table: d.TableName, keys, items: [{ before: undefined, after: draft }] }, t("item.created"));
      go(link("/tables/:table", { table: d.TableName, item: JSON.stringify(pick(draft, keys)) }));
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
  };
  return (
    <div class="stack create">
      <h1>{t("item.create")}</h1>
      <Editor key={from} start={start} keys={keys} keysFixed={false} tried={tried} onChange={(now) => { unsaved.current = true; setDraft(now); }} />
      {problem && (
        <Notice tone="danger">
          {problem.code === "ConditionalCheckFailedException" ? <>{t("item.exists")} <a href={link("/tables/:table", { table: d.TableName, item: JSON.stringify(pick(item, keys)) })}>{t("item.open")}</a></> : problem.detail}
        </Notice>
      )}
      <div class="row">
        <Button kind="primary" onPress={save}>{t("item.create")}</Button>
        <Button href={link("/tables/:table", { table: d.TableName })}>{t("cancel")}</Button>
        {draft && <CopyRequest request={{ operation: "PutItem", input: putOf(d.TableName, keys, draft) }} />}
      </div>
    </div>
  );
}
