import { CircleCheckBig, RotateCw, Search } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Acts, Badge, Button, Card, Empty, PagedTable, Problem, Tabs, TextField, ask, format, toast, toastProblem, usePages, useTitle, type Column } from "#ui";
import { api, type Schemas } from "#clients/appcore";
import { watchQueue } from "./feed.ts";
import { Status, money } from "./money.tsx";
import { t } from "./words.ts";

type Operated = Schemas["OperatedTransaction"];
type View = Operated["status"] | "acts";

const replay = (id: string) => ask(api.POST("/queue/transactions/{id}/replay", { params: { path: { id } } }));

/** The operators' page: pending, completed and declined transactions, with actions. */
export function Operate() {
  useTitle(t("nav.operate"));
  const [shown, setShown] = useState<View>("PENDING");
  return (
    <div class="stack">
      <h1>{t("nav.operate")}</h1>
      <Find />
      <Tabs<View> label={t("nav.operate")} chosen={shown} onChoose={setShown} tabs={[{ key: "PENDING", label: t("operate.pending") }, { key: "COMPLETED", label: t("operate.completed") }, { key: "FAILED", label: t("operate.failed") }, { key: "acts", label: t("operate.acts") }]}>
        {shown === "acts" ? <Activity /> : <Queue key={shown} status={shown} />}
      </Tabs>
    </div>
  );
}

const columns: () => Column<Operated>[] = () => [
  { key: "id", title: t("transaction.id"), cell: (x) => <code>{x.txId}</code> },
  { key: "user", title: t("operate.user"), cell: (x) => x.userId },
  { key: "amount", title: t("make.amount"), numeric: true, cell: (x) => money(x.amount, x.currency) },
  { key: "made", title: t("transaction.made"), cell: (x) => format.dateTime(x.createdAt) },
  { key: "status", title: t("operate.status"), cell: (x) => (x.overdue ? <Badge tone="danger">{t("operate.overdue")}</Badge> : <Status of={x.status} />) },
];

const captions = { PENDING: "operate.pending", COMPLETED: "operate.completed", FAILED: "operate.failed" } as const;

function Queue({ status }: { status: Operated["status"] }) {
  const list = usePages((cursor, signal) => ask(api.GET("/queue/{status}", { params: { path: { status }, query: { limit: 50, cursor } }, signal })), [status]);
  useEffect(() => watchQueue(async () => { if (list.items.value.length <= 50) await list.reload(); }), [list]); // not while the user reads further down
  const again = async (x: Operated) => {
    try {
      const now = await replay(x.txId);
      toast(now.status === "FAILED" ? "warning" : "success", t("operate.replayed", { status: t(`status.${now.status}`) }));
    } catch (thrown) {
      toastProblem(thrown);
    }
    await list.reload();
  };
  const all = async () => {
    const due = list.items.value.filter((x) => x.overdue);
    const done = await Promise.allSettled(due.map((x) => replay(x.txId)));
    toast("info", t("operate.replayedAll", { n: done.filter((d) => d.status === "fulfilled").length, of: due.length }));
    await list.reload();
  };
  const overdue = list.items.value.filter((x) => x.overdue).length;
  const empty = <Empty level={2} icon={CircleCheckBig} title={t(`operate.none.${status}`)} />;
  return (
    <div class="stack">
      <div class="row"><p class="muted grow">{t(`operate.about.${status}`)}</p>{overdue > 0 && <Button icon={RotateCw} onPress={all}>{t("operate.replayAll", { n: overdue })}</Button>}</div>
      <PagedTable caption={t(captions[status])} pages={list} rowKey={(x) => x.txId} empty={empty}
        columns={status !== "PENDING" ? columns() : [...columns(), { key: "do", title: t("operate.replay"), titleHidden: true, cell: (x) => <Button size="small" icon={RotateCw} onPress={() => again(x)}>{t("operate.replay")}</Button> }]} />
    </div>
  );
}

function Activity() {
  return <Acts load={(query, signal) => ask(api.GET("/acts", { params: { query }, signal }))} names={{ replayTransaction: t("acts.replayTransaction") }} />;
}

/** A transaction of any user, by its id. */
function Find() {
  const [id, setID] = useState("");
  const [found, setFound] = useState<Operated | undefined>();
  const [fault, setFault] = useState<string | undefined>();
  const find = async (event: Event) => {
    event.preventDefault();
    setFound(undefined);
    setFault(undefined);
    try {
      setFound(await ask(api.GET("/queue/transactions/{id}", { params: { path: { id: id.trim().toUpperCase() } } })));
    } catch (thrown) {
      const problem = Problem.of(thrown);
      setFault(problem.status === 404 || problem.status === 400 ? t("operate.notFound") : problem.detail);
    }
  };
  return (
    <>
      <form class="find" onSubmit={find}>
        <TextField label={t("operate.find")} name="find" icon={Search} value={id} onInput={setID} error={fault} autocomplete="off" maxLength={30} />
        <Button type="submit">{t("operate.findAction")}</Button>
      </form>
      {found && <Card><div class="row"><Status of={found.status} /><b class="money">{money(found.amount, found.currency)}</b><span>{found.userId}</span><code class="clip">{found.txId}</code><span class="muted end">{format.dateTime(found.createdAt)}</span></div></Card>}
    </>
  );
}
