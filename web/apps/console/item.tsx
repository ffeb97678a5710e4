// One item, next to the list: complete and current, even if an index has only a part of it. It is changed on the condition that
// it is as it was read.
import { CopyPlus, History, Pencil, SearchX, Trash } from "lucide";
import { useState } from "preact/hooks";
import { Button, Confirm, Dialog, Drawer, Empty, Notice, Problem, Skeleton, Tabs, format, link, toast, useLeaveGuard, useLoaded } from "#ui";
import { type Consumed, about, call } from "./api.ts";
import { choice } from "./asked.ts";
import { designOf } from "./design.ts";
import { type Change, Changes, changesOf } from "./diff.tsx";
import { JSONView } from "./code-editor.tsx";
import { Editor } from "./editor.tsx";
import { Fault, toastFault } from "./fault.tsx";
import { Meaning } from "./meaning.tsx";
import { hasPast } from "./past.ts";
import { CopyRequest } from "./request.tsx";
import { type Table, keyNames, keysOf } from "./schema.ts";
import { Attributes, bytes } from "./show.tsx";
import { beforeUpdate, undone, wrote } from "./undo.ts";
import { type Item, brief, itemSize } from "./value.ts";
import { t } from "./words.ts";
import { deleteOf, over, updateOf } from "./write.ts";

interface ItemDrawerProps {
  table: Table;
  itemKey: Item;
  onClose: () => void;
  onChange: () => void;
}

/** Reads one item, strongly consistent. */
export function getItem(table: string, key: Item, abort?: AbortSignal): Promise<{ Item?: Item; ConsumedCapacity?: Consumed }> {
  return call("GetItem", getRequest(table, key).input, abort);
}

function getRequest(table: string, key: Item) {
  return { operation: "GetItem", input: { TableName: table, Key: key, ConsistentRead: true, ReturnConsumedCapacity: "TOTAL" } };
}

export function ItemDrawer({ table, itemKey, onClose, onChange }: ItemDrawerProps) {
  const name = table.description.TableName;
  const keys = keyNames(keysOf(table.description.KeySchema));
  const loaded = useLoaded((abort) => getItem(name, itemKey, abort), [name, JSON.stringify(itemKey), undone.value]);
  const item = loaded.value.value?.Item;
  const [editing, edit] = useState(false);
  const [draft, setDraft] = useState<Item | undefined>();
  const [tried, setTried] = useState(false);
  const [ask, setAsk] = useState<"save" | "delete" | "discard" | undefined>();
  const begin = () => { setDraft(item); setTried(false); edit(true); };
  const dirty = editing && (draft === undefined || (item !== undefined && changesOf(item, draft).length > 0));
  useLeaveGuard(() => dirty);
  const leave = () => (dirty ? setAsk("discard") : onClose());
  const review = () => { setTried(true); if (draft) setAsk("save"); };
  const remove = async () => {
    if (!item) return;
    try {
      const done = await call<{ Attributes?: Item }>("DeleteItem", deleteOf(name, itemKey, keys, item));
      wrote({ table: name, keys, items: [{ before: done.Attributes, after: undefined }] }, t("item.deleted"));
      onChange();
      onClose();
    } catch (thrown) {
      const problem = Problem.of(thrown);
      setAsk(undefined);
      if (problem.code === "ConditionalCheckFailedException") {
        toast("warning", t("conflict.delete"));
        void loaded.reload();
      } else {
        toastFault(problem);
      }
    }
  };
  const actions = item && !about.readOnly && (editing
    ? <><Button onPress={() => (dirty ? setAsk("discard") : edit(false))}>{t("cancel")}</Button><Button kind="primary" disabled={!dirty} onPress={review}>{t("item.review")}</Button></>
    : <><Button kind="quiet" icon={Trash} onPress={() => setAsk("delete")}>{t("delete")}</Button><Button icon={CopyPlus} href={link("/tables/:table/new", { table: name, from: JSON.stringify(itemKey) })}>{t("item.duplicate")}</Button><Button kind="primary" icon={Pencil} onPress={begin}>{t("edit")}</Button></>);
  return (
    <Drawer open wide title={Object.values(itemKey).map((v) => brief(v, 200)).join(" · ")} onClose={leave} actions={actions}>
      {loaded.problem.value ? <Fault problem={loaded.problem.value} onRetry={() => loaded.reload()} />
        : !loaded.value.value ? <Skeleton lines={8} />
        : !item ? <Empty icon={SearchX} title={t("item.none")} action={hasPast() && <Button icon={History} href={link("/tables/:table/history", { table: name, item: JSON.stringify(itemKey) })}>{t("tail.history")}</Button>}>{t("item.noneText")}</Empty>
        : editing ? (
          <>
            <Editor start={item} keys={keys} keysFixed tried={tried} onChange={setDraft} />
            {ask === "save" && draft && <Review table={name} itemKey={itemKey} keys={keys} read={item} draft={draft} onClose={() => setAsk(undefined)} onCurrent={(now) => { loaded.set({ Item: now }); setAsk(undefined); edit(false); }}
              onSaved={(now) => { loaded.set({ Item: now }); setAsk(undefined); edit(false); onChange(); }} />}
          </>
        ) : (
          <div class="stack">
            <div class="row small muted item-facts">
              <span>{t("item.size", { size: bytes(itemSize(item)) })}</span>
              {loaded.value.value.ConsumedCapacity?.CapacityUnits !== undefined && <span>{t("item.read", { n: loaded.value.value.ConsumedCapacity.CapacityUnits })}</span>}
              <span>{t("item.write", { n: format.number(Math.max(1, Math.ceil(itemSize(item) / 1024))) })}</span>
              <CopyRequest request={getRequest(name, itemKey)} />
              <Button kind="quiet" size="small" icon={History} href={link(hasPast() ? "/tables/:table/history" : "/tables/:table/stream", { table: name, item: JSON.stringify(itemKey) })}>{t("tail.history")}</Button>
            </div>
            <ItemView table={name} item={item} keys={keys} />
          </div>
        )}
      <Confirm open={ask === "delete"} title={t("item.deleteTitle")} action={t("delete")} danger onConfirm={remove} onClose={() => setAsk(undefined)}>{t("item.deleteText")}</Confirm>
      <Confirm open={ask === "discard"} title={t("discard")} action={t("discard.yes")} danger onConfirm={() => { setAsk(undefined); edit(false); }} onClose={() => setAsk(undefined)}>{t("discard.text")}</Confirm>
    </Drawer>
  );
}

function ItemView({ table, item, keys }: { table: string; item: Item; keys: readonly string[] }) {
  const designed = designOf(table) !== undefined;
  const [chosen, choose] = choice("tab", designed ? ["meaning", "attributes", "json"] as const : ["attributes", "json"] as const, designed ? "meaning" : "attributes");
  return (
    <Tabs label={t("view")} chosen={chosen} onChoose={choose} tabs={[...(designed ? [{ key: "meaning" as const, label: t("item.meaning") }] : []), { key: "attributes", label: t("item.attributes") }, { key: "json", label: "JSON" }]}>
      {chosen === "meaning" ? <Meaning table={table} item={item} /> : chosen === "json" ? <JSONView label="JSON" text={JSON.stringify(item, null, 2)} /> : <Attributes item={item} keys={keys} />}
    </Tabs>
  );
}

interface ReviewProps {
  table: string;
  itemKey: Item;
  keys: readonly string[];
  read: Item;
  draft: Item;
  onClose: () => void;
  onSaved: (now: Item) => void;
  onCurrent: (now: Item) => void;
}

/** A preview of the change, and the choices if someone else has changed the item first. */
function Review({ table, itemKey, keys, read, draft, onClose, onSaved, onCurrent }: ReviewProps) {
  const [base, setBase] = useState(read);
  const [theirs, setTheirs] = useState<{ item: Item | undefined; changes: Change[] } | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const wanted = base === read ? draft : over(base, read, draft);
  const request = { operation: "UpdateItem", input: updateOf(table, itemKey, keys, base, wanted) };
  const save = async () => {
    setProblem(undefined);
    try {
      const done = await call<{ Attributes: Item }>(request.operation, request.input);
      wrote({ table, keys, items: [{ before: beforeUpdate(done.Attributes, base, wanted), after: done.Attributes }] }, t("item.saved"));
      onSaved(done.Attributes);
    } catch (thrown) {
      const refused = Problem.of(thrown);
      if (refused.code !== "ConditionalCheckFailedException") {
        setProblem(refused);
        return;
      }
      const now = (await getItem(table, itemKey).catch((again: unknown) => { setProblem(Problem.of(again)); return undefined; }))?.Item;
      setTheirs({ item: now, changes: now ? changesOf(base, now) : [] });
    }
  };
  if (theirs) {
    const { item } = theirs;
    return (
      <Dialog wide open title={t("conflict")} onClose={onClose} actions={item
        ? <><Button onPress={() => onCurrent(item)}>{t("conflict.theirs")}</Button><Button kind="primary" onPress={() => { setBase(item); setTheirs(undefined); }}>{t("conflict.mine")}</Button></>
        : <Button kind="primary" onPress={onClose}>{t("done")}</Button>}>
        <div class="stack">
          <Notice tone="warning">{t(item ? "conflict.text" : "conflict.gone")}</Notice>
          {item && <Changes changes={theirs.changes} />}
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog wide open title={t("item.reviewTitle")} onClose={onClose} actions={<><Button onPress={onClose}>{t("item.goOn")}</Button><Button kind="primary" onPress={save}>{t("save")}</Button></>}>
      <div class="stack">
        {problem && <Fault problem={problem} />}
        <Changes changes={changesOf(base, wanted)} />
        <div class="row"><p class="small muted grow">{t("item.condition")}</p><CopyRequest request={request} /></div>
      </div>
    </Dialog>
  );
}
