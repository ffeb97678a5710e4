// An error: the endpoint's message, and an explanation of what it means and what to do.
import type { ComponentChildren } from "preact";
import { Button, Notice, type Problem } from "#ui";
import { t } from "./words.ts";

const known = [
  "ValidationException", "ResourceNotFoundException", "ResourceInUseException", "ConditionalCheckFailedException", "ProvisionedThroughputExceededException", "ThrottlingException", "AccessDeniedException",
  "ItemCollectionSizeLimitExceededException", "LimitExceededException", "TransactionConflictException", "DuplicateItemException", "EndpointUnreachable", "CredentialsError", "ExpiredTokenException",
  "UnrecognizedClientException", "InvalidSignatureException", "ReadOnly", "RequestTooLarge", "offline",
] as const;

export function Fault({ problem, onRetry, children }: { problem: Problem; onRetry?: (() => void) | undefined; children?: ComponentChildren }) {
  const ours = known.find((code) => code === problem.code);
  return (
    <Notice tone="danger">
      <div class="fault">
        <div><code class="fault-code">{problem.code}</code><p>{problem.detail}</p>{problem.status >= 500 && problem.requestId && <p class="small"><code>{problem.requestId}</code></p>}</div>
        {(ours || onRetry || children) && <div>{ours && <p class="fault-ours">{t(`ours.${ours}`)}</p>}{children}{onRetry && <Button size="small" onPress={onRetry}>{t("again")}</Button>}</div>}
      </div>
    </Notice>
  );
}
