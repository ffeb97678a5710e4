import { ShoppingBag, ShoppingCart, Trash2, TriangleAlert } from "lucide";
import { useEffect } from "preact/hooks";
import { Button, Drawer, Empty, Failed, Icon, Skeleton, format, go, link, session } from "#ui";
import { Art } from "./art.tsx";
import { cart, cartOpen, cartProblem, loadCart, pieces, setQuantity } from "./cart.ts";
import { Counter } from "./catalogue.tsx";
import { money } from "./money.ts";
import { whenLoggedIn } from "./auth.ts";

import { t } from "./words.ts";

/** Opens the cart and shows how many items it has. */
export function CartButton() {
  const n = pieces.value;
  return (
    <span class="cart-button">
      <Button kind="quiet" icon={ShoppingCart} label={t("cart.label", { n })} onPress={() => { cartOpen.value = true; }} />
      {n > 0 && <span class="cart-count" aria-hidden="true">{format.number(n)}</span>}
    </span>
  );
}

export function CartDrawer() {
  const open = cartOpen.value;
  const close = () => { cartOpen.value = false; };
  useEffect(() => { if (open) void loadCart(); }, [open]);
  const c = cart.value;
  const checkout = () => { close(); go(link("/checkout")); };
  return (
    <Drawer open={open} title={t("cart.title")} onClose={close} actions={c && c.items.length > 0 ? (
      <div class="cart-foot">
        <div class="row"><span class="grow">{t("cart.total")}</span><strong class="money total">{money(c.total)}</strong></div>
        <Button kind="primary" size="large" wide disabled={!c.orderable} onPress={checkout}>{t("cart.checkout")}</Button>
      </div>
    ) : undefined}>
      {!session.value ? (
        <Empty icon={ShoppingBag} title={t("cart.signedOut")} action={<Button kind="primary" onPress={() => { close(); whenLoggedIn(() => { cartOpen.value = true; }); }}>{t("account.logIn")}</Button>}>{t("cart.signedOutText")}</Empty>
      ) : cartProblem.value ? (
        <Failed problem={cartProblem.value} onRetry={loadCart} />
      ) : !c ? (
        <Skeleton lines={5} />
      ) : c.items.length === 0 ? (
        <Empty icon={ShoppingBag} title={t("cart.empty")} action={<Button kind="primary" onPress={() => { close(); go(link("/")); }}>{t("cart.toMenu")}</Button>}>{t("cart.emptyText")}</Empty>
      ) : (
        <ul class="lines">
          {c.items.map((l) => (
            <li key={l.productId} class="line">
              <a class="line-art" href={link("/p/:id", { id: l.productId })} onClick={close} tabIndex={-1} aria-hidden="true"><Art name={l.name} seed={l.productId} /></a>
              <div class="line-text">
                <a href={link("/p/:id", { id: l.productId })} onClick={close}>{l.name}</a>
                <span class="muted small money">{t("cart.each", { price: money(l.price) })}</span>
                {!l.available && <span class="line-problem"><Icon of={TriangleAlert} size={14} />{l.stock > 0 ? t("cart.onlyLeft", { n: l.stock }) : t("cart.gone")}</span>}
                <span class="row fixed line-tools">
                  <Counter label={t("cart.quantityOf", { name: l.name })} value={l.quantity} most={Math.max(1, Math.min(99, l.stock))} onChange={(n) => void setQuantity(l.productId, n)} />
                  <Button kind="quiet" size="small" icon={Trash2} label={t("cart.remove", { name: l.name })} onPress={() => setQuantity(l.productId, 0)} />
                </span>
              </div>
              <strong class="money">{money(l.subtotal)}</strong>
            </li>
          ))}
        </ul>
      )}
    </Drawer>
  );
}
