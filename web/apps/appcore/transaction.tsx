import { ArrowLeft } from "lucide";
import { useEffect } from "preact/hooks";
import { Button, Card, CopyButton, Failed, Skeleton, Timeline, ask, format, link, useLoaded, useTitle } from "#ui";
import { api } from "#clients/appcore";
import { listen } from "./feed.ts";
import { Status, money } from "./money.tsx";
import { t } from "./words.ts";

/** One transaction, updated when it is settled. */
export function Transaction({ id }: { id: string }) {
  useTitle(t("transaction.title"));
  const found = useLoaded((signal) => ask(api.GET("/transactions/{id}", { params: { path: { id } }, signal })), [id]);
  const x = found.value.value;
  useEffect(() => listen({ transaction: (now) => { if (now.txId === id && found.value.value?.status !== "COMPLETED") found.set(now); }, ready: found.reload }), [found, id]);
  if (!x) {
    return found.problem.value ? <Failed problem={found.problem.value} onRetry={found.reload} /> : <Skeleton height="16rem" />;
  }
  const made = { key: "made", title: t("transaction.made"), note: format.dateTime(x.createdAt), state: "done" as const };
  const then = { PENDING: { key: "then", title: t("transaction.pending"), state: "now" as const }, COMPLETED: { key: "then", title: t("transaction.completed"), state: "done" as const }, FAILED: { key: "then", title: t("transaction.failed"), state: "failed" as const } };
  return (
    <div class="stack narrow">
      <Button kind="quiet" icon={ArrowLeft} href={link("/")} class="back">{t("nav.wallet")}</Button>
      <Card>
        <div class="stack">
          <div class="row"><h1 class="grow money">{money(x.amount, x.currency)}</h1><span role="status"><Status of={x.status} /></span></div>
          <Timeline label={t("transaction.title")} steps={[made, then[x.status]]} />
          <div class="row fixed muted small"><span>{t("transaction.id")}</span><code class="grow clip">{x.txId}</code><CopyButton text={x.txId} /></div>
        </div>
      </Card>
    </div>
  );
}
