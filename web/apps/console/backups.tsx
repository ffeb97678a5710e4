// Backups of tables, recovery windows, exports to buckets and imports from them.
import { Archive, DatabaseBackup, History, Plus, RotateCcw, Trash } from "lucide";
import { useState } from "preact/hooks";
import { Badge, Button, Card, Dialog, Empty, Form, Notice, Switch, Table as Rows, TableSkeleton, TextField, format, link, toast, useTitle } from "#ui";
import { about, call } from "./api.ts";
import { Fault, toastFault } from "./fault.tsx";
import { type Backup, isMoving, listBackups, recoveryOf, useWatched } from "./history.ts";
import { RestoreBackup, RestoreTime } from "./restore.tsx";
import { type Table, loadTable } from "./schema.ts";
import { Typed } from "./settings.tsx";
import { State, bytes } from "./show.tsx";
import { TablePlace } from "./table-place.tsx";
import { Exports, Imports } from "./transfers.tsx";
import { t } from "./words.ts";

/** Of all tables, including deleted ones. */
export function BackupsPage() {
  useTitle(t("backups"));
  return (
    <div class="stack kept-lists">
      <h1>{t("backups.all")}</h1>
      <Backups table={undefined} />
      <Exports table={undefined} />
      <Imports />
    </div>
  );
}

export function TableBackupsPage({ name }: { name: string }) {
  useTitle(`${name} · ${t("backups")}`);
  return (
    <TablePlace name={name}>
      {(table) => (
        <div class="stack kept-lists">
          <RecoveryCard table={table} />
          <Backups table={table} />
          <Exports table={table} />
        </div>
      )}
    </TablePlace>
  );
}

/** The recovery window of the table. */
function RecoveryCard({ table }: { table: Table }) {
  const name = table.description.TableName;
  const recovery = useWatched((abort) => recoveryOf(name, abort), () => false, [name, table]);
  const [restoring, restore] = useState(false);
  const r = recovery.value;
  const set = async (on: boolean) => {
    try {
      await call("UpdateContinuousBackups", { TableName: name, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: on } });
      toast("success", t("settings.changed"));
    } catch (thrown) {
      toastFault(thrown);
    }
    loadTable(name);
    recovery.reload();
  };
  if (recovery.problem) return <Notice tone="warning">{recovery.problem.detail}</Notice>;
  const open = r?.on === true && r.earliest !== undefined && r.latest !== undefined && r.earliest <= r.latest;
  return (
    <Card level={2} title={t("pitr")} action={r && <Badge plain {...(r.on ? { tone: "success" } : {})}>{t(r.on ? "on" : "off")}</Badge>}>
      <div class="stack" style={{ "--gap": "var(--space-3)" }}>
        {r && !r.on && <Switch label={t("pitr.turnOn")} hint={t("pitr.hint")} checked={false} disabled={about.readOnly} onInput={(on) => void set(on)} />}
        {r?.on && (open ? (
          <div class="row">
            <div class="grow window-place"><Window earliest={r.earliest ?? 0} latest={r.latest ?? 0} days={r.days ?? 35} /></div>
            {!about.readOnly && <Button icon={History} onPress={() => restore(true)}>{t("restore.time")}</Button>}
          </div>
        ) : <p class="muted">{t("pitr.soon")}</p>)}
      </div>
      {restoring && r && <RestoreTime table={name} recovery={r} onClose={() => restore(false)} />}
    </Card>
  );
}

/** The window as a part of the recovery period that ends now. */
function Window({ earliest, latest, days }: { earliest: number; latest: number; days: number }) {
  const share = Math.max(0.01, Math.min(1, (latest - earliest) / (days * 86_400)));
  const full = { dateStyle: "medium", timeStyle: "medium" } as const;
  return (
    <div class="window">
      <div class="window-bar" aria-hidden="true"><span style={{ "--share": `${share * 100}%` }} /></div>
      <div class="row window-ends"><span class="number">{format.dateTime(earliest * 1000, full)}</span><span class="muted small">{t("pitr.window", { n: days })}</span><span class="number">{format.dateTime(latest * 1000, full)}</span></div>
    </div>
  );
}

function Backups({ table }: { table: Table | undefined }) {
  const name = table?.description.TableName;
  const list = useWatched((abort) => listBackups(name, abort), (all) => all.some((b) => isMoving(b.BackupStatus)), [name]);
  const [making, make] = useState(false);
  const [restoring, restore] = useState<Backup | undefined>();
  const [removing, remove] = useState<Backup | undefined>();
  const removeIt = async () => {
    if (!removing) return;
    try {
      await call("DeleteBackup", { BackupArn: removing.BackupArn });
      toast("success", t("backup.deleted", { name: removing.BackupName }));
      remove(undefined);
    } catch (thrown) {
      toastFault(thrown);
    }
    list.reload();
  };
  const all = list.value;
  return (
    <div class="stack" style={{ "--gap": "var(--space-2)" }}>
      <div class="row"><h2 class="part grow">{t("backup.list")}</h2>{table && !about.readOnly && all && all.length > 0 && <Button size="small" icon={Plus} onPress={() => make(true)}>{t("backup.create")}</Button>}</div>
      {list.problem ? <Fault problem={list.problem} onRetry={list.reload} />
        : !all ? <TableSkeleton columns={5} rows={2} />
        : all.length === 0 ? <Empty icon={Archive} title={t("backup.none")} action={table && !about.readOnly && <Button kind="primary" icon={DatabaseBackup} onPress={() => make(true)}>{t("backup.create")}</Button>}>{t(table ? "backup.noneText" : "backup.noneAll")}</Empty>
        : (
          <Rows caption={t("backup.list")} rows={all} rowKey={(b) => b.BackupArn} columns={[
            { key: "name", title: t("table.name"), cell: (b) => <span class="breaks">{b.BackupName}</span> },
            ...(table ? [] : [{ key: "table", title: t("of.table"), cell: (b: Backup) => <a href={link("/tables/:table/backups", { table: b.TableName })}>{b.TableName}</a> }]),
            { key: "status", title: t("table.status"), beside: true, cell: (b) => <State status={b.BackupStatus} /> },
            { key: "kind", title: t("index.kind"), cell: (b) => <span class="muted">{b.BackupType === "SYSTEM" ? t("backup.system") : b.BackupType === "AWS_BACKUP" ? "AWS Backup" : t("backup.user")}</span> },
            { key: "at", title: t("table.created"), cell: (b) => format.dateTime(b.BackupCreationDateTime * 1000) },
            { key: "size", title: t("table.size"), numeric: true, cell: (b) => bytes(b.BackupSizeBytes ?? 0) },
            ...(about.readOnly ? [] : [{ key: "do", title: t("backup.actions"), titleHidden: true, cell: (b: Backup) => (b.BackupStatus !== "AVAILABLE" ? null : (
              <span class="row fixed backup-actions">
                <Button size="small" icon={RotateCcw} onPress={() => restore(b)}>{t("restore")}</Button>
                {b.BackupType === "USER" && <Button kind="quiet" size="small" icon={Trash} label={t("index.delete", { name: b.BackupName })} onPress={() => remove(b)} />}
              </span>
            )) }]),
          ]} />
        )}
      {making && name !== undefined && <CreateBackup table={name} onClose={() => make(false)} onDone={() => { make(false); list.reload(); }} />}
      {restoring && <RestoreBackup backup={restoring} onClose={() => restore(undefined)} />}
      <Typed open={removing !== undefined} name={removing?.BackupName ?? ""} title={t("backup.deleteTitle")} text={t("backup.deleteText")} onConfirm={removeIt} onClose={() => remove(undefined)} />
    </div>
  );
}

function CreateBackup({ table, onClose, onDone }: { table: string; onClose: () => void; onDone: () => void }) {
  const [name, set] = useState(`${table}-${new Date().toISOString().slice(0, 19).replace(/[T:]/g, "-")}`);
  const create = async () => {
    try {
      await call("CreateBackup", { TableName: table, BackupName: name.trim() });
      toast("success", t("backup.created", { name: name.trim() }));
      onDone();
    } catch (thrown) {
      toastFault(thrown);
    }
  };
  return (
    <Dialog open title={t("backup.create")} onClose={onClose} actions={<><Button onPress={onClose}>{t("cancel")}</Button><Button kind="primary" type="submit" form="backup" disabled={name.trim().length < 3}>{t("backup.create")}</Button></>}>
      <Form id="backup" noValidate onSubmit={create}><TextField label={t("table.name")} name="backup" hint={t("create.nameHint")} value={name} onInput={set} maxLength={255} autocomplete="off" autofocus /></Form>
    </Dialog>
  );
}
