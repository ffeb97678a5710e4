import { CreditCard, PackageX, Receipt } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { api, type Schemas } from "#clients/catfecito";
import { Badge, Breadcrumb, Button, Confirm, Empty, Failed, Notice, Paged, MoreButton, Problem, Skeleton, Timeline, ask, follow, format, here, link, newKey, session, toast, toastProblem, useLoaded, usePages, useTitle, type Step, type Tone } from "#ui";
import { Art } from "./art.tsx";
import { asking } from "./auth.ts";
import { payOnline } from "./checkout.tsx";
import { money } from "./money.ts";
import { t } from "./words.ts";

export type Order = Schemas["Order"];
type WholeOrder = Schemas["WholeOrder"];

const tones: Record<Order["status"], Tone | undefined> = { pending: "warning", paid: "info", shipped: "info", delivered: "success", cancelled: undefined };

export function Status({ status }: { status: Order["status"] }) {
  const tone = tones[status];
  return tone ? <Badge tone={tone}>{t(`status.${status}`)}</Badge> : <Badge>{t(`status.${status}`)}</Badge>;
}

/** A short order number that people can say aloud. */
export function shortID(orderId: string): string {
  return orderId.slice(0, 6).toUpperCase();
}

/** A customer's orders, updated live. */
export function Orders() {
  useTitle(t("nav.orders"));
  const list = usePages<Order>((cursor, signal) => ask(api.GET("/orders", { params: { query: { limit: 20, cursor } }, signal })), [session.value?.sub]);
  useEffect(() => {
    if (!session.value) return;
    const live = follow("/orders/events", {
      ready: () => void list.reload(),
      order: (o: Order) => {
        if (list.items.value.some((x) => x.orderId === o.orderId)) list.change((all) => all.map((x) => (x.orderId === o.orderId ? { ...x, status: o.status } : x)));
        else void list.reload();
      },
    });
    return live.stop;
  }, [session.value?.sub]);
  if (!session.value) {
    return <Empty icon={Receipt} title={t("orders.signedOut")} action={<Button kind="primary" onPress={() => { asking.value = {}; }}>{t("account.logIn")}</Button>} />;
  }
  return (
    <div class="stack narrow">
      <h1>{t("nav.orders")}</h1>
      <Paged pages={list} empty={<Empty icon={Receipt} title={t("orders.none")} action={<Button kind="primary" href={link("/")}>{t("cart.toMenu")}</Button>}>{t("orders.noneText")}</Empty>}>
        {(orders) => (
          <>
            <ul class="stack orders">
              {orders.map((o) => (
                <li key={o.orderId}>
                  <a class="card order-row" href={link("/orders/:id", { id: o.orderId })}>
                    <span class="grow">
                      <strong class="clip">{o.summary ?? t("order.title", { id: shortID(o.orderId) })}</strong>
                      <span class="muted small">{format.dateTime(o.createdAt)}</span>
                    </span>
                    <span class="order-end"><strong class="money">{money(o.total)}</strong><Status status={o.status} /></span>
                  </a>
                </li>
              ))}
            </ul>
            <div class="more"><MoreButton pages={list} /></div>
          </>
        )}
      </Paged>
    </div>
  );
}

/** One order: its progress, live, and the available actions. */
export function OrderView({ id }: { id: string }) {
  const order = useLoaded<WholeOrder>((signal) => ask(api.GET("/orders/{orderId}", { params: { path: { orderId: id } }, signal })), [id, session.value?.sub]);
  const [asked, setAsked] = useState(false);
  useTitle(t("order.title", { id: shortID(id) }));
  useEffect(() => {
    if (!session.value) return;
    const live = follow("/orders/events", { ready: () => void order.reload(), order: (o: Order) => { if (o.orderId === id) void order.reload(); } });
    return live.stop;
  }, [id, session.value?.sub]);
  const o = order.value.value;
  if (!o && !session.value) {
    return <Empty icon={Receipt} title={t("orders.signedOut")} action={<Button kind="primary" onPress={() => { asking.value = {}; }}>{t("account.logIn")}</Button>} />;
  }
  if (!o && order.problem.value) {
    return order.problem.value.status === 404 || order.problem.value.status === 403
      ? <Empty icon={PackageX} title={t("order.gone")} action={<Button href={link("/orders")}>{t("nav.orders")}</Button>} />
      : <Failed problem={order.problem.value} onRetry={order.reload} />;
  }
  if (!o) {
    return <div class="stack narrow"><Skeleton width="50%" height="2rem" /><Skeleton height="16rem" /></div>;
  }
  const cancel = async () => {
    try {
      await ask(api.POST("/orders/{orderId}/cancel", { params: { path: { orderId: id }, header: { "Idempotency-Key": newKey() } } }));
      toast("success", o.paidWith === "online" ? t("order.cancelledRefund") : t("order.cancelled"));
    } catch (thrown) {
      toastProblem(Problem.of(thrown));
    }
    setAsked(false);
    await order.reload();
  };
  const open = o.status === "pending" || o.status === "paid";
  return (
    <div class="stack narrow">
      <Breadcrumb steps={[{ label: t("nav.orders"), href: link("/orders") }, { label: shortID(id) }]} />
      <div class="row"><h1 class="grow">{t("order.title", { id: shortID(id) })}</h1><Status status={o.status} /></div>
      {here.value.query.get("placed") && open && <Notice tone="success">{o.status === "pending" ? t("order.placedCash") : t("order.placed")}</Notice>}
      {o.status === "pending" && (
        <div class="card row pay-now">
          <div class="grow"><strong>{t("order.unpaid")}</strong><div class="muted small">{t("order.unpaidText", { time: format.time(new Date(new Date(o.createdAt).getTime() + 30 * 60_000)) })}</div></div>
          <Button kind="primary" icon={CreditCard} onPress={() => payOnline(id)}>{t("order.payNow", { total: money(o.total) })}</Button>
        </div>
      )}
      <section class="card" aria-live="polite"><Timeline label={t("order.progress")} steps={stepsOf(o)} /></section>
      <section class="card stack">
        <h2>{t("order.lines")}</h2>
        <ul class="lines small-lines">
          {o.items.map((l) => (
            <li key={l.productId} class="line">
              <span class="line-art"><Art name={l.name} seed={l.productId} /></span>
              <span class="line-text"><a href={link("/p/:id", { id: l.productId })}>{l.name}</a><span class="muted small">{t("cart.times", { n: l.quantity, price: money(l.price) })}</span></span>
              <span class="money">{money(l.subtotal)}</span>
            </li>
          ))}
        </ul>
        <hr />
        <div class="row"><strong class="grow">{t("cart.total")}</strong><strong class="money total">{money(o.total)}</strong></div>
      </section>
      {o.delivery && <section class="card"><h2>{t(`way.${o.delivery.way}`)}</h2><DeliveryText delivery={o.delivery} /></section>}
      {open && <div><Button kind="quiet" onPress={() => setAsked(true)}>{t("order.cancel")}</Button></div>}
      <Confirm open={asked} title={t("order.cancelTitle")} danger action={t("order.cancelDo")} onConfirm={cancel} onClose={() => setAsked(false)}>
        <p>{o.paidWith === "online" ? t("order.cancelRefundText", { total: money(o.total) }) : t("order.cancelText")}</p>
      </Confirm>
    </div>
  );
}

export function DeliveryText({ delivery }: { delivery: Schemas["Delivery"] }) {
  return (
    <address class="delivery">
      <span>{delivery.name} · <a href={`tel:${delivery.phone.replace(/[^+\d]/g, "")}`}>{delivery.phone}</a></span>
      {delivery.address && <span>{delivery.address}</span>}
      {delivery.note && <span class="muted">{delivery.note}</span>}
    </address>
  );
}

function stepsOf(o: WholeOrder): Step[] {
  const way = o.delivery?.way ?? "pickup";
  const place: Step = { key: "placed", title: t("step.placed"), note: format.dateTime(o.createdAt), state: "done" };
  if (o.status === "cancelled") {
    const paid: Step[] = o.paidAt ? [{ key: "paid", title: t("step.paid"), note: format.dateTime(o.paidAt), state: "done" }] : [];
    return [place, ...paid, { key: "cancelled", title: t("status.cancelled"), note: o.paidWith === "online" ? t("step.refunded") : undefined, state: "failed" }];
  }
  const at = ["pending", "paid", "shipped", "delivered"].indexOf(o.status);
  const state = (n: number): Step["state"] => (n < at || at === 3 ? "done" : n === at ? "done" : n === at + 1 ? "now" : "later");
  return [
    place,
    { key: "paid", title: t("step.paid"), note: o.paidAt ? `${format.dateTime(o.paidAt)} · ${t(`pay.${o.paidWith ?? "online"}`)}` : undefined, state: state(1) },
    { key: "shipped", title: t(`step.shipped.${way}`), state: state(2) },
    { key: "delivered", title: t(`step.delivered.${way}`), state: state(3) },
  ];
}

