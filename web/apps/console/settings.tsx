// A table's settings, and forms to change them.
import { Plus, Trash } from "lucide";
import { useLayoutEffect, useState } from "preact/hooks";
import { Badge, Button, Card, Checkbox, CopyButton, Dialog, Form, Notice, Select, Stat, Switch, Table as Rows, TextField, format, go, link, toast, useTitle } from "#ui";
import { type Throughput, about, call } from "./api.ts";
import { streamViews } from "./create-table.tsx";
import { toastFault } from "./fault.tsx";
import { IndexFields, type NewIndex, definitions, indexInput, newIndex } from "./key-field.tsx";
import { type Index, type Table, forget, indexesOf, keyNames, keyType, keysOf, loadTable, onDemand, useSettled } from "./schema.ts";
import { bytes } from "./show.tsx";
import { TablePlace } from "./table-place.tsx";
import { Status } from "./tables.tsx";
import { Tags } from "./tags.tsx";
import { t } from "./words.ts";

export function SettingsPage({ name }: { name: string }) {
  useTitle(`${name} · ${t("settings")}`);
  return <TablePlace name={name}>{(table) => <Settings table={table} />}</TablePlace>;
}

/** Calls an operation that changes a table, and reloads the table. */
async function change(name: string, operation: string, input: object): Promise<boolean> {
  try {
    await call(operation, { TableName: name, ...input });
    toast("success", t("settings.changed"));
    return true;
  } catch (thrown) {
    toastFault(thrown);
    return false;
  } finally {
    loadTable(name);
  }
}

function Settings({ table }: { table: Table }) {
  const d = table.description;
  useSettled(table);
  return (
    <>
      <div class="grid" style={{ "--column": "11rem" }}>
        <Stat label={t("table.items")} value={format.number(d.ItemCount ?? 0)} />
        <Stat label={t("table.size")} value={bytes(d.TableSizeBytes ?? 0)} />
        <Stat label={t("table.keys")} value={<code class="stat-code">{keyNames(keysOf(d.KeySchema)).join(" · ")}</code>} note={keyNames(keysOf(d.KeySchema)).map((k) => t(`type.${keyType(d, k)}`)).join(" · ")} />
        {d.CreationDateTime !== undefined && <Stat label={t("table.created")} value={<span class="stat-code">{format.day(d.CreationDateTime * 1000)}</span>} note={format.time(d.CreationDateTime * 1000)} />}
      </div>
      <Indexes table={table} />
      <div class="grid settings" style={{ "--column": "26rem" }}>
        <Capacity key={JSON.stringify(capacityOf(d))} table={table} />
        <Stream table={table} />
        {d.TableArn !== undefined && <Tags arn={d.TableArn} />}
        {table.ttl !== undefined && <TimeToLive name={d.TableName} attribute={table.ttl} />}
        <Card level={2} title={t("settings.safety")}>
          <div class="stack" style={{ "--gap": "var(--space-3)" }}>
          {table.pitr !== undefined && <Switch label={t("pitr")} hint={t("pitr.hint")} checked={table.pitr} disabled={about.readOnly} onInput={(on) => void change(d.TableName, "UpdateContinuousBackups", { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: on } })} />}
          <Switch label={t("protect")} hint={t("protect.hint")} checked={d.DeletionProtectionEnabled === true} disabled={about.readOnly} onInput={(on) => void change(d.TableName, "UpdateTable", { DeletionProtectionEnabled: on })} />
          </div>
        </Card>
      </div>
      {d.TableArn && <p class="row fixed small muted arn"><code>{d.TableArn}</code><CopyButton text={d.TableArn} /></p>}
      {!about.readOnly && <Remove table={table} />}
    </>
  );
}

function Indexes({ table }: { table: Table }) {
  const d = table.description;
  const [adding, add] = useState<NewIndex | undefined>();
  const [removing, remove] = useState<string | undefined>();
  const indexes = indexesOf(d);
  const create = async () => {
    if (!adding) return;
    const known = d.AttributeDefinitions.map((a) => ({ name: a.AttributeName, type: a.AttributeType }));
    const done = await change(d.TableName, "UpdateTable", {
      AttributeDefinitions: definitions([...known, adding.pk, adding.sk]),
      GlobalSecondaryIndexUpdates: [{ Create: indexInput(adding, "", onDemand(d) ? undefined : { ReadCapacityUnits: d.ProvisionedThroughput?.ReadCapacityUnits ?? 1, WriteCapacityUnits: d.ProvisionedThroughput?.WriteCapacityUnits ?? 1 }) }],
    });
    if (done) add(undefined);
  };
  const drop = async () => {
    if (removing && await change(d.TableName, "UpdateTable", { GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: removing } }] })) remove(undefined);
  };
  return (
    <div class="stack" style={{ "--gap": "var(--space-2)" }}>
      <div class="row"><h2 class="part grow">{t("table.indexes")}</h2>{!about.readOnly && <Button size="small" icon={Plus} onPress={() => add({ ...newIndex, name: `GSI${indexes.length + 1}` })}>{t("index.add")}</Button>}</div>
      {indexes.length === 0 ? <p class="muted">{t("index.none")}</p> : (
        <Rows caption={t("table.indexes")} rows={indexes} rowKey={(i) => i.IndexName} columns={[
          { key: "name", title: t("table.name"), cell: (i) => <a class="strong" href={link("/tables/:table", { table: d.TableName, index: i.IndexName })}>{i.IndexName}</a> },
          { key: "kind", title: t("index.kind"), cell: (i) => t(i.global ? "index.global" : "index.local") },
          { key: "keys", title: t("table.keys"), cell: (i) => <code>{keyNames(keysOf(i.KeySchema)).join(" · ")}</code> },
          { key: "projection", title: t("index.projection"), cell: (i) => <ProjectionText index={i} /> },
          { key: "status", title: t("table.status"), beside: true, cell: (i) => (i.IndexStatus ? <Status status={i.IndexStatus} /> : null) },
          { key: "items", title: t("table.items"), numeric: true, cell: (i) => format.number(i.ItemCount ?? 0) },
          { key: "size", title: t("table.size"), numeric: true, cell: (i) => bytes(i.IndexSizeBytes ?? 0) },
          ...(about.readOnly ? [] : [{ key: "delete", title: t("delete"), titleHidden: true, cell: (i: Index) => (i.global ? <Button kind="quiet" size="small" icon={Trash} label={t("index.delete", { name: i.IndexName })} onPress={() => remove(i.IndexName)} /> : null) }]),
        ]} />
      )}
      <Dialog open={adding !== undefined} title={t("index.add")} onClose={() => add(undefined)} actions={<><Button onPress={() => add(undefined)}>{t("cancel")}</Button><Button kind="primary" type="submit" form="index" disabled={!adding?.name || !adding.pk.name}>{t("index.add")}</Button></>}>
        {adding && <Form id="index" noValidate onSubmit={create}><IndexFields value={adding} local={false} onInput={add} /></Form>}
      </Dialog>
      <Typed open={removing !== undefined} name={removing ?? ""} title={t("index.deleteTitle")} text={t("index.deleteText")} onConfirm={drop} onClose={() => remove(undefined)} />
    </div>
  );
}

function ProjectionText({ index }: { index: Index }) {
  const { ProjectionType: type = "ALL", NonKeyAttributes: more = [] } = index.Projection ?? {};
  return <>{t(`projection.${type}`)}{more.length > 0 && <> <code>{more.join(", ")}</code></>}</>;
}

/** The form's values for a table as it is. */
function capacityOf(d: Table["description"]) {
  const units = d.ProvisionedThroughput;
  return { demand: onDemand(d), read: String(units?.ReadCapacityUnits || 5), write: String(units?.WriteCapacityUnits || 5), indexes: false };
}

/** Its key is capacityOf, so that a changed table replaces what was typed. */
function Capacity({ table }: { table: Table }) {
  const d = table.description;
  const is = capacityOf(d);
  const [f, set] = useState(is);
  const throughput = { ReadCapacityUnits: Number(f.read), WriteCapacityUnits: Number(f.write) };
  const differs = (of: Throughput | undefined) => is.demand || of?.ReadCapacityUnits !== throughput.ReadCapacityUnits || of.WriteCapacityUnits !== throughput.WriteCapacityUnits; // DynamoDB rejects what changes nothing
  const global = d.GlobalSecondaryIndexes ?? [];
  const indexes = global.filter((i) => (is.demand || f.indexes) && differs(i.ProvisionedThroughput)).map((i) => ({ Update: { IndexName: i.IndexName, ProvisionedThroughput: throughput } }));
  const changes = f.demand ? (is.demand ? {} : { BillingMode: "PAY_PER_REQUEST" }) : {
    ...(is.demand ? { BillingMode: "PROVISIONED" } : {}), ...(differs(d.ProvisionedThroughput) ? { ProvisionedThroughput: throughput } : {}), ...(indexes.length > 0 ? { GlobalSecondaryIndexUpdates: indexes } : {}),
  };
  return (
    <Card level={2} title={t("table.billing")}>
      <div class="stack">
        {about.readOnly ? <p>{t(is.demand ? "billing.onDemand" : "billing.provisioned")}</p> : (
          <Select label={t("billing")} value={f.demand ? "D" : "P"} onInput={(v) => set({ ...f, demand: v === "D" })} choices={[{ value: "D", label: t("billing.onDemand") }, { value: "P", label: t("billing.provisioned") }]} />
        )}
        {!f.demand && (
          <div class="grid" style={{ "--column": "8rem" }}>
            <TextField label={t("capacity.read")} type="number" min={1} value={f.read} disabled={about.readOnly} onInput={(read) => set({ ...f, read })} />
            <TextField label={t("capacity.write")} type="number" min={1} value={f.write} disabled={about.readOnly} onInput={(write) => set({ ...f, write })} />
          </div>
        )}
        {!f.demand && !is.demand && global.length > 0 && !about.readOnly && <Checkbox label={t("capacity.indexes")} checked={f.indexes} onInput={(indexes) => set({ ...f, indexes })} />}
        {!about.readOnly && Object.keys(changes).length > 0 && <div class="row"><Button kind="primary" size="small" onPress={() => change(d.TableName, "UpdateTable", changes)}>{t("save")}</Button><Button size="small" onPress={() => set(is)}>{t("cancel")}</Button></div>}
      </div>
    </Card>
  );
}

function Stream({ table }: { table: Table }) {
  const d = table.description;
  const is = d.StreamSpecification?.StreamEnabled ? d.StreamSpecification.StreamViewType ?? "" : "";
  const [chosen, choose] = useState("");
  const set = (view: string) => change(d.TableName, "UpdateTable", { StreamSpecification: view === "off" ? { StreamEnabled: false } : { StreamEnabled: true, StreamViewType: view } });
  const name = is === "" ? t("off") : t(`stream.${is}` as "stream.KEYS_ONLY");
  return (
    <Card level={2} title={t("stream")} action={<Badge plain {...(is ? { tone: "success" } : {})}>{t(is ? "on" : "off")}</Badge>}>
      <div class="stack" style={{ "--gap": "var(--space-2)" }}>
        <p class="muted small">{t("stream.hint")}</p>
        {is !== "" && <p>{name}</p>}
        {!about.readOnly && (is === "" ? <div class="row fixed field-row"><Select label={t("stream.turnOn")} value={chosen} empty={t("stream.choose")} onInput={choose} choices={streamViews.map((v) => ({ value: v, label: t(`stream.${v}`) }))} /><Button disabled={chosen === ""} onPress={() => set(chosen)}>{t("turnOn")}</Button></div> : <div><Button size="small" onPress={() => set("off")}>{t("turnOff")}</Button></div>)}
        {d.LatestStreamArn && is !== "" && <p class="row fixed small muted"><code class="clip">{d.LatestStreamArn}</code><CopyButton text={d.LatestStreamArn} /></p>}
      </div>
    </Card>
  );
}

function TimeToLive({ name, attribute }: { name: string; attribute: string }) {
  const [typed, type] = useState("");
  const set = (on: boolean) => change(name, "UpdateTimeToLive", { TimeToLiveSpecification: { Enabled: on, AttributeName: on ? typed.trim() : attribute } });
  return (
    <Card level={2} title={t("ttl")} action={<Badge plain {...(attribute ? { tone: "success" } : {})}>{t(attribute ? "on" : "off")}</Badge>}>
      <div class="stack" style={{ "--gap": "var(--space-2)" }}>
        <p class="muted small">{t("ttl.hint")}</p>
        {attribute !== "" && <p><code>{attribute}</code></p>}
        {!about.readOnly && (attribute === "" ? <div class="row fixed field-row"><TextField label={t("ttl.attribute")} value={typed} onInput={type} autocomplete="off" /><Button disabled={typed.trim() === ""} onPress={() => set(true)}>{t("turnOn")}</Button></div> : <div><Button size="small" onPress={() => set(false)}>{t("turnOff")}</Button></div>)}
      </div>
    </Card>
  );
}

function Remove({ table }: { table: Table }) {
  const d = table.description;
  const [open, set] = useState(false);
  const remove = async () => {
    try {
      await call("DeleteTable", { TableName: d.TableName });
      go(link("/tables"), "replace");
      forget(d.TableName);
      toast("success", t("table.deleted", { name: d.TableName }));
    } catch (thrown) {
      toastFault(thrown);
    }
  };
  return (
    <Card level={2} title={t("table.delete")}>
      <div class="row">
        <p class="muted grow">{t(d.DeletionProtectionEnabled ? "table.deleteProtected" : "table.deleteHint")}</p>
        <Button kind="danger" icon={Trash} disabled={d.DeletionProtectionEnabled === true} onPress={() => set(true)}>{t("table.delete")}</Button>
      </div>
      <Typed open={open} name={d.TableName} title={t("table.deleteTitle")} text={t("table.deleteText", { n: d.ItemCount ?? 0 })} onConfirm={remove} onClose={() => set(false)} />
    </Card>
  );
}

/** A confirmation by typing the name of what will be deleted. */
export function Typed({ open, name, title, text, onConfirm, onClose }: { open: boolean; name: string; title: string; text: string; onConfirm: () => Promise<void>; onClose: () => void }) {
  const [typed, type] = useState("");
  useLayoutEffect(() => type(""), [open]); // before anything can be typed
  return (
    <Dialog open={open} title={title} onClose={onClose} actions={<><Button onPress={onClose}>{t("cancel")}</Button><Button kind="danger" disabled={typed !== name} onPress={onConfirm}>{t("delete")}</Button></>}>
      <div class="stack">
        <Notice tone="warning">{text}</Notice>
        <TextField label={t("delete.type", { name })} name="confirm" value={typed} onInput={type} autocomplete="off" autofocus />
      </div>
    </Dialog>
  );
}
