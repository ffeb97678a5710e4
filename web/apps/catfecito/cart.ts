import { computed, effect, signal } from "@preact/signals";
import { api, type Schemas } from "#clients/catfecito";
import { ask, Problem, RequestKey, session, toast, toastProblem } from "#ui";
import { whenLoggedIn } from "./auth.ts";
import { sum, times } from "./money.ts";
import { t } from "./words.ts";

export type Cart = Schemas["Cart"];

/** The cart as stored by the shop, with current prices and stock. */
export const cart = signal<Cart | undefined>(undefined);
export const cartProblem = signal<Problem | undefined>(undefined);
export const cartOpen = signal(false);
export const pieces = computed(() => (cart.value?.items ?? []).reduce((n, line) => n + line.quantity, 0));

/** Quantities that the user has chosen and the shop has not confirmed yet, by product. */
const wanted = new Map<string, number>();
let sending: Promise<void> | undefined;
let loads = 0;

export async function loadCart(): Promise<void> {
  const load = ++loads;
  if (!session.value) {
    cart.value = undefined;
    return;
  }
  try {
    const stored = await ask(api.GET("/cart"));
    if (load !== loads) return; // a later one has newer quantities
    cart.value = [...wanted].reduce(withQuantity, stored);
    cartProblem.value = undefined;
  } catch (thrown) {
    if (load === loads) cartProblem.value = Problem.of(thrown);
  }
}

/** The cart with another quantity of a product. */
function withQuantity(before: Cart, [productId, quantity]: readonly [string, number]): Cart {
  const items = before.items.map((l) => (l.productId === productId ? { ...l, quantity, subtotal: times(l.price, quantity) } : l)).filter((l) => l.quantity > 0);
  return { ...before, items, total: sum(items.map((l) => l.subtotal)) };
}

/** The cart follows the logged-in user. */
export function followSession(): void {
  let last: string | undefined;
  effect(() => {
    const sub = session.value?.sub;
    if (sub !== last) {
      last = sub;
      wanted.clear();
      adding.clear();
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

/** The keys of additions, by product: pressing the button again after a response was lost must not add twice. */
const adding = new Map<string, RequestKey>();

async function put(product: { productId: string; name: string }, quantity: number): Promise<void> {
  const body = { productId: product.productId, quantity };
  const key = adding.get(product.productId) ?? new RequestKey();
  adding.set(product.productId, key);
  try {
    await ask(api.POST("/cart/items", { params: { header: { "Idempotency-Key": key.for(body) } }, body }));
    key.done();
    await loadCart();
    toast("success", t("cart.added", { name: product.name }), { action: { label: t("cart.open"), onPress: () => { cartOpen.value = true; } } });
  } catch (thrown) {
    toastProblem(Problem.of(thrown));
  }
}

/** Sets a line's quantity; 0 removes it. The display changes immediately, one request at a time follows with the latest quantity, and the stored cart corrects the display. */
export function setQuantity(productId: string, quantity: number): Promise<void> {
  wanted.set(productId, quantity);
  if (cart.value) cart.value = withQuantity(cart.value, [productId, quantity]);
  sending ??= send().finally(() => { sending = undefined; });
  return sending;
}

async function send(): Promise<void> {
  while (wanted.size > 0) {
    for (const [productId, quantity] of wanted) {
      const params = { path: { productId } };
      try {
        if (quantity > 0) await ask(api.PUT("/cart/items/{productId}", { params, body: { quantity } }));
        else await ask(api.DELETE("/cart/items/{productId}", { params }));
      } catch (thrown) {
        toastProblem(Problem.of(thrown));
      }
      if (wanted.get(productId) === quantity) wanted.delete(productId); // otherwise it has changed meanwhile
    }
    await loadCart();
  }
}
