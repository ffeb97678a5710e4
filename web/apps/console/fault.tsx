// An error: the endpoint's message, and an explanation of what it means and what to do.
import type { ComponentChildren } from "preact";
import { Button, Notice, Problem, toast, toastProblem } from "#ui";
import { t } from "./words.ts";

const known = [
  "ValidationException", "ResourceNotFoundException", "ResourceInUseException", "ConditionalCheckFailedException", "ProvisionedThroughputExceededException", "ThrottlingException", "AccessDeniedException",
  "ItemCollectionSizeLimitExceededException", "LimitExceededException", "TransactionConflictException", "DuplicateItemException", "EndpointUnreachable", "CredentialsError", "ExpiredTokenException",
  "UnrecognizedClientException", "InvalidSignatureException", "ReadOnly", "RequestTooLarge", "offline", "TransactionCanceledException", "TableAlreadyExistsException", "TableNotFoundException",
  "BackupInUseException", "InvalidRestoreTimeException", "PointInTimeRecoveryUnavailableException", "ExportConflictException", "InvalidExportTimeException",
] as const;

/** Our explanation of an error, if there is one. */
function oursOf(problem: Problem): string | undefined {
  const ours = known.find((code) => code === problem.code);
  return ours && t(`ours.${ours}`);
}

/** Shows an error as a message above the page. */
export function toastFault(thrown: unknown): void {
  const problem = Problem.of(thrown);
  const ours = oursOf(problem);
  if (ours === undefined) toastProblem(problem);
  else toast("danger", problem.status === 0 ? problem.detail : `${problem.code}: ${problem.detail}`, { note: ours });
}

export function Fault({ problem, onRetry, children }: { problem: Problem; onRetry?: (() => void) | undefined; children?: ComponentChildren }) {
  const ours = oursOf(problem);
  return (
    <Notice tone="danger">
      <div class="fault">
        <div>{problem.status !== 0 && <code class="fault-code">{problem.code}</code>}<p>{problem.detail}</p>{problem.status >= 500 && problem.requestId && <p class="small"><code>{problem.requestId}</code></p>}</div>
        {(ours || onRetry || children) && <div>{ours && <p class="fault-ours">{ours}</p>}{children}{onRetry && <Button size="small" onPress={onRetry}>{t("again")}</Button>}</div>}
      </div>
    </Notice>
  );
}
