import { ArrowLeftRight, ChevronRight, Plus } from "lucide";
import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Button, Chips, Dialog, Empty, Form, Icon, MoreButton, Paged, Problem, RequestKey, Skeleton, Stat, TextField, ask, format, link, toast, toastProblem, usePages } from "#ui";
import { api, type Schemas } from "#clients/appcore";
import { Status, currencies, money, units, type Currency } from "./money.tsx";
import { listen } from "./feed.ts";
import { t } from "./words.ts";

type Transaction = Schemas["Transaction"];

/** Merges loaded transactions into the shown ones, but never a pending one over a settled one: it was read earlier. */
function merged(shown: readonly Transaction[], read: readonly Transaction[]): readonly Transaction[] {
  const fresh = new Map(read.map((x) => [x.txId, x]));
  const known = new Set(shown.map((x) => x.txId));
  return [...read.filter((x) => !known.has(x.txId)), ...shown.map((x) => (x.status === "PENDING" ? fresh.get(x.txId) ?? x : x))];
}

export function Wallet() {
  const [making, setMaking] = useState(false);
  const list = usePages((cursor, signal) => ask(api.GET("/transactions", { params: { query: { limit: 30, cursor } }, signal })), []);
  const refresh = async () => {
    const page = await ask(api.GET("/transactions", { params: { query: { limit: 30 } } }));
    list.change((items) => merged(items, page.items));
  };
  useEffect(() => listen({ transaction: (x) => list.change((items) => merged(items, [x])), ready: () => refresh().catch(() => undefined) }), [list]);
  return (
    <div class="stack wallet">
      <div class="row"><h1 class="grow">{t("nav.wallet")}</h1><Button kind="primary" icon={Plus} onPress={() => setMaking(true)}>{t("make.title")}</Button></div>
      <Summary items={list.items.value} more={list.next.value !== undefined} ready={list.state.value === "ready" || list.items.value.length > 0} />
      <Paged pages={list} empty={<Empty level={2} icon={ArrowLeftRight} title={t("wallet.none")} action={<Button kind="primary" icon={Plus} onPress={() => setMaking(true)}>{t("make.title")}</Button>}>{t("wallet.noneAbout")}</Empty>}>
        {(items) => <Days items={items} />}
      </Paged>
      <div class="more"><MoreButton pages={list} /></div>
      <Make open={making} onClose={() => setMaking(false)} onMade={(x) => list.change((items) => merged(items, [x]))} />
    </div>
  );
}

/** Settled totals by currency, of the shown transactions. */
function Summary({ items, more, ready }: { items: readonly Transaction[]; more: boolean; ready: boolean }) {
  if (!ready) {
    return <div class="grid"><Skeleton height="6rem" /><Skeleton height="6rem" /></div>;
  }
  const used = currencies.filter((c) => items.some((x) => x.currency === c));
  return (
    <div class="grid summary">
      {used.map((c) => {
        const of = items.filter((x) => x.currency === c);
        const total = of.filter((x) => x.status === "COMPLETED").reduce((sum, x) => sum + x.amount, 0);
        const pending = of.filter((x) => x.status === "PENDING").length;
        return <Stat key={c} label={t(more ? "summary.latest" : "summary.all", { currency: c })} value={money(total, c)} note={pending > 0 ? t("summary.pending", { n: pending }) : t("summary.settled", { n: of.length })} />;
      })}
    </div>
  );
}

/** Transactions grouped by day in the reader's time zone. */
function Days({ items }: { items: readonly Transaction[] }) {
  const days = new Map<string, Transaction[]>();
  for (const x of items) {
    const day = new Date(x.createdAt).toDateString();
    days.set(day, [...(days.get(day) ?? []), x]);
  }
  const today = new Date().toDateString();
  return (
    <>
      {[...days].map(([day, of]) => (
        <section key={day} class="day">
          <h2>{day === today ? t("wallet.today") : format.day(of[0]?.createdAt ?? day, { dateStyle: "full" })}</h2>
          <ul class="lines">
            {of.map((x) => (
              <li key={x.txId}>
                <a class="line" href={link("/transactions/:id", { id: x.txId })}>
                  <span class={`line-mark ${x.status.toLowerCase()}`} aria-hidden="true"><Icon of={ArrowLeftRight} /></span>
                  <span class="grow"><b class="money">{money(x.amount, x.currency)}</b><span class="muted small">{format.time(x.createdAt)}</span></span>
                  <Status of={x.status} />
                  <Icon of={ChevronRight} />
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

const last = signal<Currency>("USD");

function Make({ open, onClose, onMade }: { open: boolean; onClose: () => void; onMade: (made: Transaction) => void }) {
  const [amount, setAmount] = useState("");
  const [fault, setFault] = useState<string | undefined>();
  const key = useMemo(() => new RequestKey(), []);
  const send = async () => {
    const value = units(amount);
    setFault(value === undefined ? t("make.bad") : undefined);
    if (value === undefined) {
      return;
    }
    const body = { amount: value, currency: last.value };
    try {
      onMade(await ask(api.POST("/transactions", { params: { header: { "Idempotency-Key": key.for(body) } }, body })));
      key.done();
      setAmount("");
      onClose();
      toast("info", t("make.made", { amount: money(value, last.value) }));
    } catch (thrown) {
      const problem = Problem.of(thrown);
      setFault(problem.field("amount"));
      if (problem.fields.length === 0) toastProblem(problem);
    }
  };
  return (
    <Dialog open={open} title={t("make.title")} onClose={onClose} actions={<Button kind="primary" size="large" wide type="submit" form="make">{t("make.action")}</Button>}>
      <Form id="make" class="stack" onSubmit={send} noValidate>
        <Chips<Currency> label={t("make.currency")} chosen={[last.value]} onChoose={([c]) => { last.value = c ?? "USD"; }} choices={currencies.map((c) => ({ value: c, label: c }))} />
        <TextField label={t("make.amount")} hint={t("make.hint")} name="amount" inputMode="decimal" autocomplete="off" value={amount} onInput={setAmount} error={fault} autofocus />
      </Form>
    </Dialog>
  );
}
