// Restores: each makes a new table, of a backup or of a second of the past.
import { useState } from "preact/hooks";
import { Button, Checkbox, Dialog, Form, Problem, TextField, format, go, link, toast } from "#ui";
import { call } from "./api.ts";
import { Fault } from "./fault.tsx";
import type { Backup, Recovery } from "./history.ts";
import { loadNames, loadTable } from "./schema.ts";
import { t } from "./words.ts";

/** Asks for the new table's name, and has it made. */
function Restore({ title, start, ready, text, children, input, onClose }: {
  title: string;
  start: string;
  ready: boolean;
  text: string;
  children?: preact.ComponentChildren;
  input: (target: string) => { operation: string; input: object };
  onClose: () => void;
}) {
  const [target, set] = useState(start);
  const [problem, setProblem] = useState<Problem | undefined>();
  const name = target.trim();
  const restore = async () => {
    setProblem(undefined);
    try {
      const request = input(name);
      await call(request.operation, request.input);
    } catch (thrown) {
      setProblem(Problem.of(thrown));
      return;
    }
    toast("success", t("restore.begun", { name }));
    void loadNames();
    loadTable(name);
    go(link("/tables/:table/settings", { table: name })); // which says how far it is
  };
  return (
    <Dialog open title={title} onClose={onClose} actions={<><Button onPress={onClose}>{t("cancel")}</Button><Button kind="primary" type="submit" form="restore" disabled={!ready || name.length < 3}>{t("restore")}</Button></>}>
      <Form id="restore" class="stack" noValidate onSubmit={restore}>
        {problem && <Fault problem={problem} />}
        <p class="muted">{text}</p>
        {children}
        <TextField label={t("restore.target")} name="target" hint={t("create.nameHint")} value={target} onInput={set} maxLength={255} autocomplete="off" />
      </Form>
    </Dialog>
  );
}

export function RestoreBackup({ backup: b, onClose }: { backup: Backup; onClose: () => void }) {
  return (
    <Restore title={t("restore.backupTitle", { name: b.BackupName })} start={`${b.TableName}-restored`} ready text={t("restore.text")} onClose={onClose}
      input={(target) => ({ operation: "RestoreTableFromBackup", input: { BackupArn: b.BackupArn, TargetTableName: target } })} />
  );
}

/** A second in the form of a datetime-local field. */
export function localSecond(seconds: number): string {
  const at = new Date(seconds * 1000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Parses the value of such a field. */
export function secondOf(text: string): number | undefined {
  const at = new Date(text).getTime();
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000);
}

export function TimeField({ value, recovery, disabled = false, onInput }: { value: string; recovery: Recovery; disabled?: boolean; onInput: (value: string) => void }) {
  const at = secondOf(value);
  const { earliest = 0, latest = 0 } = recovery;
  const full = { dateStyle: "medium", timeStyle: "medium" } as const;
  const outside = at === undefined || at < earliest;
  return (
    <TextField label={t("restore.at")} name="at" type="datetime-local" step={1} min={localSecond(earliest)} value={value} disabled={disabled} onInput={onInput}
      hint={t("restore.between", { from: format.dateTime(earliest * 1000, full), to: format.dateTime(latest * 1000, full) })} {...(outside ? { error: t("restore.outside") } : {})} />
  );
}

export function RestoreTime({ table, recovery, onClose }: { table: string; recovery: Recovery; onClose: () => void }) {
  const [latest, useLatest] = useState(true);
  const [at, set] = useState(localSecond(recovery.latest ?? 0));
  const second = secondOf(at);
  return (
    <Restore title={t("restore.timeTitle", { name: table })} start={`${table}-restored`} ready={latest || (second !== undefined && second >= (recovery.earliest ?? 0))} text={t("restore.text")} onClose={onClose}
      input={(target) => ({ operation: "RestoreTableToPointInTime", input: { SourceTableName: table, TargetTableName: target, ...(latest ? { UseLatestRestorableTime: true } : { RestoreDateTime: second }) } })}>
      <Checkbox label={t("restore.latest")} checked={latest} onInput={useLatest} />
      {!latest && <TimeField value={at} recovery={recovery} onInput={set} />}
    </Restore>
  );
}
