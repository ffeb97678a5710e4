// A new table with all its settings. Those that need an existing table are applied once it is created.
import { Plus, X } from "lucide";
import { useState } from "preact/hooks";
import { Breadcrumb, Button, Card, Checkbox, Problem, Select, TextField, go, link, toast, useTitle } from "#ui";
import { type TableDescription, call } from "./api.ts";
import { Fault, toastFault } from "./fault.tsx";
import { IndexFields, type KeyAttribute, KeyField, type NewIndex, definitions, indexInput, newIndex, tableKeys } from "./key-field.tsx";
import { CopyRequest } from "./request.tsx";
import { loadNames, loadTable } from "./schema.ts";
import { t } from "./words.ts";

export const streamViews = ["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"] as const;
const pause = 700; // milliseconds between polls of a table that is being created

interface Form {
  name: string;
  pk: KeyAttribute;
  sk: KeyAttribute;
  provisioned: boolean;
  read: string;
  write: string;
  indexes: NewIndex[];
  ttl: string;
  stream: "" | (typeof streamViews)[number];
  pitr: boolean;
  protect: boolean;
  /** As typed: name=value, separated by commas, which no tag has. */
  tags: string;
}

const empty: Form = { name: "", pk: { name: "PK", type: "S" }, sk: { name: "SK", type: "S" }, provisioned: false, read: "5", write: "5", indexes: [], ttl: "", stream: "", pitr: false, protect: false, tags: "" };

function tagsOf(text: string): { Key: string; Value: string }[] {
  return text.split(",").map((tag) => tag.trim()).filter(Boolean).map((tag) => {
    const [Key = "", ...value] = tag.split("=");
    return { Key: Key.trim(), Value: value.join("=").trim() };
  });
}

function inputOf(f: Form): Record<string, unknown> {
  const throughput = f.provisioned ? { ReadCapacityUnits: Number(f.read), WriteCapacityUnits: Number(f.write) } : undefined;
  const global = f.indexes.filter((i) => i.global);
  const local = f.indexes.filter((i) => !i.global);
  const tags = tagsOf(f.tags);
  return {
    TableName: f.name.trim(), KeySchema: tableKeys(f.pk, f.sk), AttributeDefinitions: definitions([f.pk, f.sk, ...f.indexes.flatMap((i) => (i.global ? [i.pk, i.sk] : [i.sk]))]),
    BillingMode: f.provisioned ? "PROVISIONED" : "PAY_PER_REQUEST", ...(throughput ? { ProvisionedThroughput: throughput } : {}),
    ...(global.length > 0 ? { GlobalSecondaryIndexes: global.map((i) => indexInput(i, f.pk.name, throughput)) } : {}), ...(local.length > 0 ? { LocalSecondaryIndexes: local.map((i) => indexInput(i, f.pk.name, undefined)) } : {}),
    ...(f.stream !== "" ? { StreamSpecification: { StreamEnabled: true, StreamViewType: f.stream } } : {}), ...(f.protect ? { DeletionProtectionEnabled: true } : {}), ...(tags.length > 0 ? { Tags: tags } : {}),
  };
}

async function active(name: string): Promise<void> {
  while ((await call<{ Table: TableDescription }>("DescribeTable", { TableName: name })).Table.TableStatus === "CREATING") {
    await new Promise((done) => setTimeout(done, pause));
  }
}

export function CreateTable() {
  useTitle(t("create"));
  const [f, set] = useState(empty);
  const [problem, setProblem] = useState<Problem | undefined>();
  const [busy, setBusy] = useState(false);
  const change = (by: Partial<Form>) => set({ ...f, ...by });
  const input = inputOf(f);
  const create = async (event: Event) => {
    event.preventDefault();
    const name = f.name.trim();
    setBusy(true);
    setProblem(undefined);
    try {
      await call("CreateTable", input);
    } catch (thrown) {
      setProblem(Problem.of(thrown));
      setBusy(false);
      return;
    }
    try { // the table exists, whatever happens to the other settings
      if (f.ttl !== "" || f.pitr) await active(name);
      if (f.ttl !== "") await call("UpdateTimeToLive", { TableName: name, TimeToLiveSpecification: { Enabled: true, AttributeName: f.ttl.trim() } });
      if (f.pitr) await call("UpdateContinuousBackups", { TableName: name, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } });
      toast("success", t("create.done", { name }));
    } catch (thrown) {
      toastFault(thrown);
    }
    void loadNames();
    loadTable(name);
    go(link("/tables/:table", { table: name }));
  };
  return (
    <form class="stack create" onSubmit={create}>
      <Breadcrumb steps={[{ label: t("tables"), href: link("/tables") }, { label: t("create") }]} />
      <h1>{t("create")}</h1>
      <Card level={2} title={t("create.keys")}>
        <div class="stack">
          <TextField label={t("table.name")} hint={t("create.nameHint")} name="name" value={f.name} onInput={(name) => change({ name })} pattern="[a-zA-Z0-9_.\-]{3,255}" autocomplete="off" autofocus />
          <KeyField label={t("key.pk")} value={f.pk} onInput={(pk) => change({ pk })} />
          <KeyField label={t("key.sk")} optional value={f.sk} onInput={(sk) => change({ sk })} />
          <p class="field-hint">{t("create.keysHint")}</p>
        </div>
      </Card>
      <Card level={2} title={t("table.indexes")} action={<Button size="small" icon={Plus} onPress={() => change({ indexes: [...f.indexes, { ...newIndex, name: `GSI${f.indexes.length + 1}`, pk: { name: `GSI${f.indexes.length + 1}PK`, type: "S" }, sk: { name: `GSI${f.indexes.length + 1}SK`, type: "S" } }] })}>{t("index.add")}</Button>}>
        {f.indexes.length === 0 ? <p class="muted">{t("index.none")}</p> : (
          <div class="stack">
            {f.indexes.map((i, n) => (
              <fieldset class="index-form" key={n}>
                <legend class="row fixed"><span class="strong">{i.name || t("index")}</span><Button kind="quiet" size="small" icon={X} label={t("edit.remove", { name: i.name })} onPress={() => change({ indexes: f.indexes.filter((_, at) => at !== n) })} /></legend>
                <IndexFields value={i} local onInput={(now) => change({ indexes: f.indexes.map((x, at) => (at === n ? now : x)) })} />
              </fieldset>
            ))}
          </div>
        )}
      </Card>
      <Card level={2} title={t("table.billing")}>
        <div class="stack">
          <Select label={t("billing")} value={f.provisioned ? "P" : "D"} onInput={(v) => change({ provisioned: v === "P" })} choices={[{ value: "D", label: t("billing.onDemand") }, { value: "P", label: t("billing.provisioned") }]} />
          {f.provisioned && (
            <div class="grid" style={{ "--column": "10rem" }}>
              <TextField label={t("capacity.read")} type="number" min={1} value={f.read} onInput={(read) => change({ read })} />
              <TextField label={t("capacity.write")} type="number" min={1} value={f.write} onInput={(write) => change({ write })} />
            </div>
          )}
        </div>
      </Card>
      <Card level={2} title={t("create.more")}>
        <div class="stack">
          <TextField label={t("ttl.attribute")} hint={t("ttl.hint")} optional value={f.ttl} onInput={(ttl) => change({ ttl })} autocomplete="off" />
          <Select label={t("stream")} hint={t("stream.hint")} optional value={f.stream} onInput={(stream) => change({ stream })} empty={t("off")} choices={streamViews.map((v) => ({ value: v, label: t(`stream.${v}`) }))} />
          <Checkbox label={t("pitr")} hint={t("pitr.hint")} checked={f.pitr} onInput={(pitr) => change({ pitr })} />
          <Checkbox label={t("protect")} hint={t("protect.hint")} checked={f.protect} onInput={(protect) => change({ protect })} />
          <TextField label={t("tags")} hint={t("tags.createHint")} name="tags" optional value={f.tags} onInput={(tags) => change({ tags })} autocomplete="off" />
        </div>
      </Card>
      {problem && <Fault problem={problem} />}
      <div class="row">
        <Button kind="primary" type="submit" loading={busy}>{t("create")}</Button>
        <Button href={link("/tables")}>{t("cancel")}</Button>
        <CopyRequest request={{ operation: "CreateTable", input }} />
      </div>
    </form>
  );
}
