// Backups, exports and imports, and recovery windows, as the endpoint reports them.
import { useEffect } from "preact/hooks";
import { type Problem, useLoaded } from "#ui";
import { call } from "./api.ts";
import type { Table } from "./schema.ts";

export interface Backup {
  BackupArn: string;
  BackupName: string;
  TableName: string;
  BackupCreationDateTime: number;
  BackupExpiryDateTime?: number;
  BackupStatus: string;
  BackupType: string;
  BackupSizeBytes?: number;
}

/** An export to a bucket or an import from one. */
export interface Transfer {
  arn: string;
  status: string;
  started: number | undefined;
  ended: number | undefined;
  table: string;
  place: string;
  format: string;
  /** The point in time of an export. */
  of: number | undefined;
  items: number | undefined;
  bytes: number | undefined;
  errors: number | undefined;
  failure: string | undefined;
}

export interface Recovery {
  on: boolean;
  days: number | undefined;
  earliest: number | undefined;
  latest: number | undefined;
}

const pagesMax = 20;
const pause = 2000; // milliseconds between polls while something is in progress
const describedAtOnce = 5;

export async function listBackups(table: string | undefined, abort: AbortSignal): Promise<Backup[]> {
  const found: Backup[] = [];
  let after: string | undefined;
  for (let n = 0; n < pagesMax; n++) {
    const page: { BackupSummaries?: Backup[]; LastEvaluatedBackupArn?: string } =
      await call("ListBackups", { BackupType: "ALL", ...(table === undefined ? {} : { TableName: table }), ...(after === undefined ? {} : { ExclusiveStartBackupArn: after }) }, abort);
    found.push(...page.BackupSummaries ?? []);
    after = page.LastEvaluatedBackupArn;
    if (after === undefined) break;
  }
  return found.sort((a, b) => b.BackupCreationDateTime - a.BackupCreationDateTime);
}

export async function recoveryOf(table: string, abort: AbortSignal): Promise<Recovery> {
  const said = await call<{ ContinuousBackupsDescription: { PointInTimeRecoveryDescription?: { PointInTimeRecoveryStatus?: string; RecoveryPeriodInDays?: number; EarliestRestorableDateTime?: number; LatestRestorableDateTime?: number } } }>("DescribeContinuousBackups", { TableName: table }, abort);
  const d = said.ContinuousBackupsDescription.PointInTimeRecoveryDescription ?? {};
  return { on: d.PointInTimeRecoveryStatus === "ENABLED", days: d.RecoveryPeriodInDays, earliest: d.EarliestRestorableDateTime, latest: d.LatestRestorableDateTime };
}

interface ExportOf { ExportArn: string; ExportStatus: string; StartTime?: number; EndTime?: number; TableArn?: string; ExportTime?: number; S3Bucket?: string; S3Prefix?: string; ExportFormat?: string; ItemCount?: number; BilledSizeBytes?: number; FailureCode?: string; FailureMessage?: string }
interface ImportOf { ImportArn: string; ImportStatus: string; StartTime?: number; EndTime?: number; TableArn?: string; TableCreationParameters?: { TableName?: string }; S3BucketSource?: { S3Bucket: string; S3KeyPrefix?: string }; InputFormat?: string; ImportedItemCount?: number; ProcessedSizeBytes?: number; ErrorCount?: number; FailureCode?: string; FailureMessage?: string }

const nameOf = (arn: string | undefined) => arn?.split("table/")[1]?.split("/")[0] ?? "";
const failureOf = (d: { FailureCode?: string; FailureMessage?: string }) => [d.FailureCode, d.FailureMessage].filter(Boolean).join(": ") || undefined;
const placeOf = (bucket: string | undefined, prefix: string | undefined) => `s3://${bucket ?? ""}/${prefix ?? ""}`;
const perPage = 25;

/** The newest exports, each described: the list has neither time nor destination. */
export async function listExports(table: Table | undefined, abort: AbortSignal): Promise<Transfer[]> {
  const { ExportSummaries: list = [] } = await call<{ ExportSummaries?: { ExportArn: string }[] }>("ListExports", { MaxResults: perPage, ...(table?.description.TableArn ? { TableArn: table.description.TableArn } : {}) }, abort);
  return newestFirst(await each(list, async ({ ExportArn }) => {
    const { ExportDescription: d } = await call<{ ExportDescription: ExportOf }>("DescribeExport", { ExportArn }, abort);
    return { arn: d.ExportArn, status: d.ExportStatus, started: d.StartTime, ended: d.EndTime, table: nameOf(d.TableArn), place: placeOf(d.S3Bucket, d.S3Prefix), format: d.ExportFormat ?? "", of: d.ExportTime, items: d.ItemCount, bytes: d.BilledSizeBytes, errors: undefined, failure: failureOf(d) };
  }));
}

export async function listImports(table: Table | undefined, abort: AbortSignal): Promise<Transfer[]> {
  const { ImportSummaryList: list = [] } = await call<{ ImportSummaryList?: { ImportArn: string }[] }>("ListImports", { PageSize: perPage, ...(table?.description.TableArn ? { TableArn: table.description.TableArn } : {}) }, abort);
  return newestFirst(await each(list, async ({ ImportArn }) => {
    const { ImportTableDescription: d } = await call<{ ImportTableDescription: ImportOf }>("DescribeImport", { ImportArn }, abort);
    return { arn: d.ImportArn, status: d.ImportStatus, started: d.StartTime, ended: d.EndTime, table: d.TableCreationParameters?.TableName ?? nameOf(d.TableArn), place: placeOf(d.S3BucketSource?.S3Bucket, d.S3BucketSource?.S3KeyPrefix), format: d.InputFormat ?? "", of: undefined, items: d.ImportedItemCount, bytes: d.ProcessedSizeBytes, errors: d.ErrorCount, failure: failureOf(d) };
  }));
}

const newestFirst = (all: Transfer[]) => all.sort((a, b) => (b.started ?? 0) - (a.started ?? 0));

async function each<In, Out>(list: readonly In[], make: (x: In) => Promise<Out>): Promise<Out[]> {
  const out: Out[] = [];
  for (let n = 0; n < list.length; n += describedAtOnce) out.push(...await Promise.all(list.slice(n, n + describedAtOnce).map(make)));
  return out;
}

export interface Watched<T> {
  value: T | undefined;
  problem: Problem | undefined;
  reload: () => void;
}

/** Loads something, and polls it while it is in progress. */
export function useWatched<T>(load: (abort: AbortSignal) => Promise<T>, moving: (value: T) => boolean, needs: readonly unknown[]): Watched<T> {
  const loaded = useLoaded(load, needs);
  const value = loaded.value.value;
  useEffect(() => {
    const timer = value !== undefined && moving(value) ? setTimeout(() => void loaded.reload(), pause) : undefined;
    return () => clearTimeout(timer);
  }, [value]);
  return { value, problem: loaded.problem.value, reload: () => void loaded.reload() };
}

export const isMoving = (status: string) => ["IN_PROGRESS", "CREATING", "CANCELLING"].includes(status);
