import { Banknote, Bike, Ellipsis, PackageCheck, Send, Store, Wifi, WifiOff } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { api, type Schemas } from "#clients/catfecito";
import { Button, Confirm, Drawer, Failed, Icon, Menu, Notice, Paged, MoreButton, Problem, Skeleton, Stat, ask, follow, format, link, newKey, toast, toastProblem, useLoaded, usePages, type Following, type Pages } from "#ui";
import { DeliveryText, Status, shortID } from "./orders.tsx";
import { money } from "./money.ts";
import { t } from "./words.ts";

type Open = Schemas["OpenOrder"];
type Column = "pending" | "paid" | "shipped";
const columns: readonly Column[] = ["pending", "paid", "shipped"];

// Ages of orders are updated every 30 seconds.
const now = signal(Date.now());
setInterval(() => { now.value = Date.now(); }, 30_000);

/** Open orders by status, updated live. */
export function Board() {
  const load = (status: Column) => (cursor: string | undefined, abort: AbortSignal) => ask(api.GET("/desk/orders", { params: { query: { status, limit: 50, cursor } }, signal: abort }));
  const lists: Record<Column, Pages<Open>> = { pending: usePages(load("pending"), []), paid: usePages(load("paid"), []), shipped: usePages(load("shipped"), []) };
  const takings = useTakings();
  const [live, setLive] = useState<Following | undefined>();
  const [shown, setShown] = useState<string | undefined>();
  const [leaving, setLeaving] = useState<Open | undefined>();
  const put = (order: Open) => {
    for (const column of columns) {
      const list = lists[column];
      const has = list.items.value.some((o) => o.orderId === order.orderId);
      if (order.status === column) {
        list.change((all) => (has ? all.map((o) => (o.orderId === order.orderId ? order : o)) : [...all, order].sort((a, b) => a.createdAt.localeCompare(b.createdAt))));
      } else if (has) {
        list.change((all) => all.filter((o) => o.orderId !== order.orderId));
      }
    }
  };
  useEffect(() => {
    const f = follow("/orders/events", {
      ready: () => { // load what happened before
        for (const column of columns) void lists[column].reload();
        void takings.reload();
      },
      order: (o: Open) => { put(o); void takings.reload(); },
    });
    setLive(f);
    return f.stop;
  }, []);
  const act = async (order: Open, to: Open["status"], call: Promise<{ data?: unknown; error?: unknown; response: Response }>, said: string) => {
    try {
      await ask(call);
      put({ ...order, status: to });
      toast("success", said);
      void takings.reload();
    } catch (thrown) {
      const problem = Problem.of(thrown);
      toastProblem(problem);
      if (problem.status === 409) for (const column of columns) void lists[column].reload();
    }
  };
  const params = (o: Open) => ({ path: { orderId: o.orderId } });
  const keyed = (o: Open) => ({ ...params(o), header: { "Idempotency-Key": newKey() } });
  const next: Record<Column, (o: Open) => { label: string; icon: typeof Send; run: () => Promise<void> }> = {
    pending: (o) => ({ label: t("desk.takeCash"), icon: Banknote, run: () => act(o, "paid", api.POST("/orders/{orderId}/pay", { params: keyed(o) }), t("desk.paid", { id: shortID(o.orderId) })) }),
    paid: (o) => ({ label: t(o.delivery?.way === "delivery" ? "desk.send" : "desk.ready"), icon: Send, run: () => act(o, "shipped", api.POST("/orders/{orderId}/ship", { params: params(o) }), t("desk.sent", { id: shortID(o.orderId) })) }),
    shipped: (o) => ({ label: t("desk.deliver"), icon: PackageCheck, run: () => act(o, "delivered", api.POST("/orders/{orderId}/deliver", { params: params(o) }), t("desk.delivered", { id: shortID(o.orderId) })) }),
  };
  const cancel = async (o: Open) => {
    await act(o, "cancelled", api.POST("/orders/{orderId}/cancel", { params: keyed(o) }), t("desk.cancelled", { id: shortID(o.orderId) }));
    setLeaving(undefined);
  };
  return (
    <div class="stack">
      <TakingsRow takings={takings} live={live} />
      <FailedRefunds />
      <div class="board">
        {columns.map((column) => (
          <section key={column} class={`column column-${column}`} aria-label={t(`column.${column}`)}>
            <h2 class="column-head">{t(`column.${column}`)}<span class="column-count">{format.number(lists[column].items.value.length)}{lists[column].next.value ? "+" : ""}</span></h2>
            <Paged pages={lists[column]} loading={<div class="stack"><Skeleton height="7rem" /><Skeleton height="7rem" /></div>} empty={<p class="column-empty muted">{t(`column.${column}None`)}</p>}>
              {(orders) => (
                <>
                  <ul class="stack column-list">
                    {orders.map((o) => {
                      const step = next[column](o);
                      return (
                        <li key={o.orderId} class="ticket">
                          <div class="ticket-head">
                            <button type="button" class="ticket-id" onClick={() => setShown(o.orderId)}>{shortID(o.orderId)}</button>
                            <span class={`ticket-age small ${late(o, column) ? "late" : "muted"}`}>{format.relative(o.createdAt, now.value)}</span>
                            <Menu label={t("desk.more", { id: shortID(o.orderId) })} icon={Ellipsis} size="small" items={[
                              { label: t("desk.details"), onPress: () => setShown(o.orderId) },
                              ...(column === "shipped" ? [] : ["line" as const, { label: t("order.cancel"), danger: true, onPress: () => setLeaving(o) }]),
                            ]} />
                          </div>
                          <p class="ticket-lines">{o.summary ?? t("desk.noSummary")}</p>
                          {o.delivery && (
                            <p class="ticket-who small"><Icon of={o.delivery.way === "delivery" ? Bike : Store} size={15} label={t(`way.${o.delivery.way}`)} /><span class="clip">{o.delivery.name}{o.delivery.address ? ` · ${o.delivery.address}` : ""}</span></p>
                          )}
                          {o.delivery?.note && <p class="ticket-note small">{o.delivery.note}</p>}
                          <div class="row ticket-foot"><strong class="money grow">{money(o.total)}</strong><Button kind={column === "pending" ? "secondary" : "primary"} size="small" icon={step.icon} onPress={step.run}>{step.label}</Button></div>
                        </li>
                      );
                    })}
                  </ul>
                  <div class="more"><MoreButton pages={lists[column]} /></div>
                </>
              )}
            </Paged>
          </section>
        ))}
      </div>
      <Drawer open={shown !== undefined} title={shown ? t("order.title", { id: shortID(shown) }) : ""} onClose={() => setShown(undefined)}>{shown && <Details id={shown} />}</Drawer>
      <Confirm open={leaving !== undefined} title={t("order.cancelTitle")} danger action={t("order.cancelDo")} onConfirm={() => leaving && cancel(leaving)} onClose={() => setLeaving(undefined)}>
        <p>{leaving?.status === "paid" ? t("desk.cancelPaidText", { total: money(leaving.total) }) : t("order.cancelText")}</p>
      </Confirm>
    </div>
  );
}

/** Whether an order has waited for staff for a long time. */
function late(o: Open, column: Column): boolean {
  return column === "paid" && now.value - new Date(o.createdAt).getTime() > 20 * 60_000;
}

function Details({ id }: { id: string }) {
  const order = useLoaded((abort) => ask(api.GET("/orders/{orderId}", { params: { path: { orderId: id } }, signal: abort })), [id]);
  const o = order.value.value;
  if (order.problem.value) return <Failed problem={order.problem.value} onRetry={order.reload} />;
  if (!o) return <Skeleton lines={6} />;
  return (
    <div class="stack">
      <div class="row"><Status status={o.status} /><span class="muted small">{format.dateTime(o.createdAt)}</span></div>
      {o.delivery && <div><h3>{t(`way.${o.delivery.way}`)}</h3><DeliveryText delivery={o.delivery} /></div>}
      <ul class="lines small-lines">
        {o.items.map((l) => <li key={l.productId} class="line"><span class="line-text"><span>{l.name}</span><span class="muted small">{t("cart.times", { n: l.quantity, price: money(l.price) })}</span></span><span class="money">{money(l.subtotal)}</span></li>)}
      </ul>
      <hr />
      <div class="row"><strong class="grow">{t("cart.total")}</strong><strong class="money total">{money(o.total)}</strong></div>
      {o.paidAt && <p class="muted small">{t(`pay.${o.paidWith ?? "online"}`)} · {format.dateTime(o.paidAt)}</p>}
    </div>
  );
}

/** Refunds that the payment provider has not made, if there are any. */
function FailedRefunds() {
  const failed = useLoaded((abort) => ask(api.GET("/desk/refunds", { params: { query: { limit: 50 } }, signal: abort })), []);
  const retry = async (orderId: string) => {
    try {
      await ask(api.POST("/desk/refunds/{orderId}", { params: { path: { orderId } } }));
      toast("success", t("refunds.done", { id: shortID(orderId) }));
    } catch (thrown) {
      toastProblem(thrown);
    }
    await failed.reload();
  };
  const list = failed.value.value?.items ?? [];
  if (failed.problem.value) return <Failed problem={failed.problem.value} onRetry={failed.reload} />;
  if (list.length === 0) return null;
  return (
    <Notice tone="danger">
      <p>{t("refunds.failed")}</p>
      <ul class="stack">
        {list.map((f) => (
          <li key={f.orderId} class="row">
            <span class="grow">{t("refunds.one", { id: shortID(f.orderId), payment: f.paymentId, total: money(f.amount), time: format.dateTime(f.failedAt) })}</span>
            <Button size="small" onPress={() => retry(f.orderId)}>{t("refunds.retry")}</Button>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

type Takings = Schemas["Takings"];

/** The takings of a day in the desk's time zone. */
function useTakings() {
  return useLoaded<Takings>((abort) => {
    const from = new Date();
    from.setHours(0, 0, 0, 0);
    const to = new Date(from);
    to.setDate(to.getDate() + 1);
    return ask(api.GET("/desk/takings", { params: { query: { from: from.toISOString(), to: to.toISOString() } }, signal: abort }));
  }, []);
}

function TakingsRow({ takings, live }: { takings: ReturnType<typeof useTakings>; live: Following | undefined }) {
  const x = takings.value.value;
  const state = live?.state.value ?? "connecting";
  const problem = takings.problem.value;
  const out = useLoaded(async (abort) => (await shelfOf(abort)).filter((p) => p.isActive && p.stock <= 0).length, [x?.orders]);
  return (
    <div class="stack">
      {state === "failed" && <Notice tone="danger">{live?.problem.value?.detail ?? t("desk.offline")}</Notice>}
      {problem && !x && <Notice tone="danger">{problem.detail}</Notice>}
      <div class="takings">
        <Stat label={t("takings.today")} value={x ? money(x.total) : <Skeleton width="7rem" height="1.8rem" />} note={<span class={`live ${state}`}><Icon of={state === "open" ? Wifi : WifiOff} size={14} />{t(state === "open" ? "desk.live" : "desk.connecting")}</span>} />
        <Stat label={t("takings.orders")} value={x ? format.number(x.orders) : <Skeleton width="3rem" height="1.8rem" />} note={x && (x.refunds > 0 ? t("takings.refunds", { n: x.refunds, total: money(x.refunded) }) : t("takings.noRefunds"))} />
        <Stat label={t("takings.cash")} value={x ? money(x.cash) : <Skeleton width="5rem" height="1.8rem" />} note={x && t("takings.online", { total: money(x.online) })} />
        <a class="card stat stat-link" href={link("/desk/:part", { part: "products", show: "out" })}>
          <span class="stat-label">{t("takings.out")}</span>
          <span class={`stat-value ${(out.value.value ?? 0) > 0 ? "bad" : ""}`}>{out.value.value === undefined ? <Skeleton width="2rem" height="1.8rem" /> : format.number(out.value.value)}</span>
          <span class="stat-note">{out.value.value !== undefined && t(out.value.value > 0 ? "takings.outSome" : "takings.outNone")}</span>
        </a>
        <div class="card stat"><span class="stat-label">{t("takings.hours")}</span><Hours takings={x} /></div>
      </div>
    </div>
  );
}

/** All products, on sale or not: a few hundred. */
export async function shelfOf(abort: AbortSignal): Promise<Schemas["Product"][]> {
  const all: Schemas["Product"][] = [];
  for (let cursor: string | undefined; ;) {
    const found = await ask(api.GET("/desk/products", { params: { query: { limit: 50, cursor } }, signal: abort }));
    all.push(...found.items);
    cursor = found.next;
    if (!cursor) return all;
  }
}

/** The takings by hour, as bars. */
function Hours({ takings }: { takings: Takings | undefined }) {
  const amounts = (takings?.hours ?? Array.from({ length: 24 }, () => "0")).map(Number);
  const most = Math.max(1, ...amounts);
  const best = amounts.indexOf(Math.max(...amounts));
  const from = takings ? new Date(takings.from) : new Date();
  const label = takings && (amounts[best] ?? 0) > 0 ? t("takings.best", { time: format.time(new Date(from.getTime() + best * 3_600_000)), total: money(String(takings.hours[best])) }) : t("takings.none");
  return (
    <div>
      <svg class="hours" viewBox="0 0 240 48" role="img" aria-label={label} preserveAspectRatio="none">
        {amounts.map((a, n) => <rect key={n} class={n === best && a > 0 ? "best" : a > 0 ? "some" : "zero"} x={n * (240 / amounts.length) + 1} width={240 / amounts.length - 2} y={48 - Math.max(2, (a / most) * 46)} height={Math.max(2, (a / most) * 46)} rx="1.5" />)}
      </svg>
      <span class="stat-note">{label}</span>
    </div>
  );
}
