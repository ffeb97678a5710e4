import { Banknote, Bike, CreditCard, ShoppingBag, Store } from "lucide";
import type { IconNode } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { api, type Schemas } from "#clients/catfecito";
import { Button, Empty, Failed, Icon, Notice, Problem, RequestKey, Skeleton, TextArea, TextField, apiURL, ask, go, keep, kept, link, page, session, toastProblem, useTitle } from "#ui";
import { Art } from "./art.tsx";
import { asking, me } from "./auth.ts";
import { cart, cartProblem, loadCart } from "./cart.ts";
import { money } from "./money.ts";
import { t } from "./words.ts";

type Delivery = Schemas["Delivery"];

// The last delivery address stays in the customer's browser.
const lastName = `delivery /${page.name}/`;

function lastDelivery(): Partial<Delivery> {
  try {
    return JSON.parse(kept(lastName) ?? "{}") as Partial<Delivery>;
  } catch {
    return {};
  }
}

/** The whole checkout on one page: delivery, contact, payment, total. */
export function Checkout() {
  useTitle(t("checkout.title"));
  const last = useMemo(lastDelivery, []);
  const [way, setWay] = useState<Delivery["way"]>(last.way ?? "pickup");
  const [name, setName] = useState(last.name ?? me.value?.name ?? "");
  const [phone, setPhone] = useState(last.phone ?? "");
  const [address, setAddress] = useState(last.address ?? "");
  const [note, setNote] = useState("");
  const [pay, setPay] = useState<"online" | "cash">("online");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const key = useMemo(() => new RequestKey(), []);
  const c = cart.value;
  if (!session.value) {
    return <Empty icon={ShoppingBag} title={t("checkout.signedOut")} action={<Button kind="primary" onPress={() => { asking.value = {}; }}>{t("account.logIn")}</Button>} />;
  }
  if (!c && cartProblem.value) {
    return <Failed problem={cartProblem.value} onRetry={() => void loadCart()} />;
  }
  if (!c) {
    return <div class="checkout"><Skeleton height="20rem" /><Skeleton height="14rem" /></div>;
  }
  if (c.items.length === 0 && !busy) {
    return <Empty icon={ShoppingBag} title={t("cart.empty")} action={<Button kind="primary" href={link("/")}>{t("cart.toMenu")}</Button>}>{t("cart.emptyText")}</Empty>;
  }
  const cash = way === "pickup" && pay === "cash";
  const send = async (event: Event) => {
    event.preventDefault();
    const delivery: Delivery = { way, name: name.trim(), phone: phone.trim() };
    if (way === "delivery") delivery.address = address.trim();
    if (note.trim()) delivery.note = note.trim();
    const body = { total: c.total, delivery };
    setBusy(true);
    setProblem(undefined);
    try {
      const order = await ask(api.POST("/orders", { params: { header: { "Idempotency-Key": key.for(body) } }, body }));
      key.done();
      keep(lastName, JSON.stringify({ way, name: delivery.name, phone: delivery.phone, address: delivery.address }));
      void loadCart();
      const show = (placed?: 1) => go(link("/orders/:id", { id: order.orderId, placed }), "replace");
      show(cash ? 1 : undefined); // the back button of the payment page returns to the order
      if (!cash && !(await payOnline(order.orderId))) show(1);
    } catch (thrown) {
      const found = Problem.of(thrown);
      setProblem(found);
      if (!found.fields.some((f) => f.field.startsWith("body."))) toastProblem(found);
      if (found.status === 409) void loadCart(); // the displayed cart may be outdated
      setBusy(false);
    }
  };
  return (
    <div class="stack">
      <h1>{t("checkout.title")}</h1>
      <form class="checkout" onSubmit={send}>
        <div class="stack">
          <fieldset class="card stack">
            <legend class="hidden-visually">{t("checkout.way")}</legend>
            <h2>{t("checkout.way")}</h2>
            <div class="options">
              <Option name="way" icon={Store} label={t("way.pickup")} hint={t("way.pickupHint")} checked={way === "pickup"} onChoose={() => setWay("pickup")} />
              <Option name="way" icon={Bike} label={t("way.delivery")} hint={t("way.deliveryHint")} checked={way === "delivery"} onChoose={() => setWay("delivery")} />
            </div>
            <div class="pair">
              <TextField label={t("checkout.name")} name="name" autocomplete="name" maxLength={100} value={name} onInput={setName} error={problem?.field("delivery.name")} />
              <TextField label={t("checkout.phone")} name="phone" type="tel" autocomplete="tel" maxLength={30} value={phone} onInput={setPhone} error={problem?.field("delivery.phone")} />
            </div>
            {way === "delivery" && <TextField label={t("checkout.address")} name="address" autocomplete="street-address" maxLength={300} value={address} onInput={setAddress} error={problem?.field("delivery.address")} />}
            <TextArea label={t("checkout.note")} name="note" optional rows={2} maxLength={300} value={note} onInput={setNote} placeholder={t("checkout.noteHint")} />
          </fieldset>
          <fieldset class="card stack">
            <legend class="hidden-visually">{t("checkout.pay")}</legend>
            <h2>{t("checkout.pay")}</h2>
            <div class="options">
              <Option name="pay" icon={CreditCard} label={t("pay.online")} hint={t("pay.onlineHint")} checked={!cash} onChoose={() => setPay("online")} />
              <Option name="pay" icon={Banknote} label={t("pay.cash")} hint={way === "pickup" ? t("pay.cashHint") : t("pay.cashPickup")} checked={cash} disabled={way !== "pickup"} onChoose={() => setPay("cash")} />
            </div>
          </fieldset>
        </div>
        <aside class="card stack summary" aria-label={t("checkout.summary")}>
          <h2>{t("checkout.summary")}</h2>
          <ul class="lines small-lines">
            {c.items.map((l) => (
              <li key={l.productId} class="line">
                <span class="line-art"><Art name={l.name} seed={l.productId} /></span>
                <span class="line-text"><span>{l.name}</span><span class="muted small">{t("cart.times", { n: l.quantity, price: money(l.price) })}</span></span>
                <span class="money">{money(l.subtotal)}</span>
              </li>
            ))}
          </ul>
          <hr />
          <div class="row"><strong class="grow">{t("cart.total")}</strong><strong class="money total">{money(c.total)}</strong></div>
          {!c.orderable && <Notice tone="warning">{t("checkout.notOrderable")}</Notice>}
          <Button kind="primary" size="large" wide type="submit" loading={busy} disabled={!c.orderable && !busy}>{cash ? t("checkout.order") : t("checkout.orderAndPay")}</Button>
          <p class="muted small">{t("checkout.hold")}</p>
        </aside>
      </form>
    </div>
  );
}

/** Navigates to the payment page of an order. Returns false if the shop has none. */
export async function payOnline(orderId: string): Promise<boolean> {
  try {
    const { url } = await ask(api.POST("/orders/{orderId}/payments", { params: { path: { orderId } } }));
    location.assign(new URL(url, `${apiURL("")}/`));
    return true;
  } catch (thrown) {
    toastProblem(thrown);
    return false;
  }
}

function Option({ name, icon, label, hint, checked, disabled, onChoose }: { name: string; icon: IconNode; label: string; hint: string; checked: boolean; disabled?: boolean; onChoose: () => void }) {
  return (
    <label class="option">
      <input type="radio" name={name} checked={checked} disabled={disabled} onInput={onChoose} />
      <Icon of={icon} size={22} />
      <span class="choice-text">{label}<span class="field-hint">{hint}</span></span>
    </label>
  );
}
