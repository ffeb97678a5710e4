import { computed, effect, signal } from "@preact/signals";
import { api, type Schemas } from "#clients/catfecito";
import { ask, newKey, Problem, session, toast, toastProblem } from "#ui";
import { whenLoggedIn } from "./auth.ts";
import { t } from "./words.ts";

export type Cart = Schemas["Cart"];

/** The cart as stored by the shop, with current prices and stock. */
export const cart = signal<Cart | undefined>(undefined);
export const cartProblem = signal<Problem | undefined>(undefined);
export const cartOpen = signal(false);
export const pieces = computed(() => (cart.value?.items ?? []).reduce((n, line) => n + line.quantity, 0));

export async function loadCart(): Promise<void> {
  if (!session.value) {
    cart.value = undefined;
    return;
  }
  try {
    cart.value = await ask(api.GET("/cart"));
    cartProblem.value = undefined;
  } catch (thrown) {
    cartProblem.value = Problem.of(thrown);
  }
}

/** The cart follows the logged-in user. */
export function followSession(): void {
  let last: string | undefined;
  effect(() => {
    const sub = session.value?.sub;
    if (sub !== last) {
      last = sub;
      cart.value = undefined;
      void loadCart();
    }
  });
}

/** Adds a quantity of a product to the cart, after a log-in if necessary. */
export function add(product: { productId: string; name: string }, quantity: number): Promise<void> {
  return new Promise((resolve) => {
    if (!session.value) resolve();
    whenLoggedIn(() => void put(product, quantity).finally(resolve));
  });
}

async function put(product: { productId: string; name: string }, quantity: number): Promise<void> {
  try {
    await ask(api.POST("/cart/items", { params: { header: { "Idempotency-Key": newKey() } }, body: { productId: product.productId, quantity } }));
    await loadCart();
    toast("success", t("cart.added", { name: product.name }), { action: { label: t("cart.open"), onPress: () => { cartOpen.value = true; } } });
  } catch (thrown) {
    toastProblem(Problem.of(thrown));
  }
}

/** Sets a line's quantity; 0 removes it. The display changes immediately and is corrected by the response. */
export async function setQuantity(productId: string, quantity: number): Promise<void> {
  const before = cart.value;
  if (before) {
    cart.value = { ...before, items: before.items.map((l) => (l.productId === productId ? { ...l, quantity } : l)).filter((l) => l.quantity > 0) };
  }
  const params = { path: { productId } };
  try {
    if (quantity > 0) await ask(api.PUT("/cart/items/{productId}", { params, body: { quantity } }));
    else await ask(api.DELETE("/cart/items/{productId}", { params }));
  } catch (thrown) {
    toastProblem(Problem.of(thrown));
  }
  await loadCart();
}
