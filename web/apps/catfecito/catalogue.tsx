import { Coffee, Minus, PackageX, Plus, SearchX, ShoppingCart } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, type Schemas } from "#clients/catfecito";
import { Badge, Breadcrumb, Button, Empty, Failed, Icon, MoreButton, Paged, SearchField, Skeleton, ask, format, here, go, link, useLoaded, usePages, useTitle } from "#ui";
import { Art } from "./art.tsx";
import { add } from "./cart.ts";
import { categories, categoryName } from "./categories.ts";
import { money, times } from "./money.ts";
import { t } from "./words.ts";

type Offer = Schemas["Offer"];

/** The menu: products of one category or all, and search results while typing. */
export function Menu({ category }: { category?: string }) {
  const typed = here.value.query.get("q") ?? "";
  const [text, setText] = useState(typed);
  const [wanted, setWanted] = useState(typed);
  const shown = useRef(typed); // the search that the address has because of this field
  useEffect(() => { // another address: back, or a link to the menu
    if (typed === shown.current) return;
    shown.current = typed;
    setText(typed);
    setWanted(typed);
  }, [typed]);
  useEffect(() => { // not for every letter
    const timer = setTimeout(() => {
      setWanted(text.trim());
      const q = text.trim();
      shown.current = q;
      if (q !== (here.value.query.get("q") ?? "")) go(q ? link("/", { q }) : link(category ? "/c/:category" : "/", { category }), "replace");
    }, 180);
    return () => clearTimeout(timer);
  }, [text]);
  const searching = wanted !== "";
  useTitle(category && !searching ? categoryName(category) : undefined);
  // The home page shows some products of each category; a shop without categories shows all products.
  const home = !category && !searching && (categories.value?.length ?? 1) > 0;
  const list = usePages<Offer>((cursor, signal) => {
    const query = { limit: 24, cursor };
    if (home) return Promise.resolve({ items: [] });
    if (searching) return ask(api.GET("/products", { params: { query: { ...query, q: wanted } }, signal }));
    if (category) return ask(api.GET("/categories/{categoryId}/products", { params: { path: { categoryId: category }, query }, signal }));
    return ask(api.GET("/products", { params: { query }, signal }));
  }, [wanted, category, home]);
  const chosen = categories.value?.find((c) => c.categoryId === category);
  return (
    <div class="stack shop">
      {!category && !searching && (
        <header class="hero">
          <div class="hero-text">
            <h1>{t("hero.title")}</h1>
            <p>{t("hero.text")}</p>
          </div>
          <div class="hero-art"><Art name="Latte" seed="e" /><Art name="Café en grano" seed="b" /><Art name="Concha" seed="d" /></div>
        </header>
      )}
      {category && !searching && <header><h1>{chosen?.name ?? categoryName(category)}</h1>{chosen?.description && <p class="muted">{chosen.description}</p>}</header>}
      {searching && <h1>{t("search.title", { q: wanted })}</h1>}
      <div class="find">
        <SearchField label={t("search.label")} placeholder={t("search.hint")} value={text} onInput={setText} />
      </div>
      <nav class="rail" aria-label={t("categories")}>
        <a href={link("/")} aria-current={!category ? "page" : undefined} onClick={() => setText("")}>{t("categories.all")}</a>
        {(categories.value ?? []).map((c) => (
          <a key={c.categoryId} href={link("/c/:id", { id: c.categoryId })} aria-current={c.categoryId === category ? "page" : undefined} onClick={() => setText("")}>{c.name}</a>
        ))}
        {categories.value === undefined && Array.from({ length: 5 }, (_, n) => <Skeleton key={n} width="5.5rem" height="2.25rem" />)}
      </nav>
      {home ? (categories.value ?? []).map((c) => <Section key={c.categoryId} category={c} />) : <div aria-live="polite" aria-busy={list.state.value === "loading"}>
        <Paged pages={list} loading={<div class="grid products">{Array.from({ length: 8 }, (_, n) => <div class="product" key={n}><Skeleton height="9rem" /><div class="product-body"><Skeleton lines={2} /></div></div>)}</div>}
          empty={searching
            ? <Empty level={2} icon={SearchX} title={t("search.none", { q: wanted })} action={<Button onPress={() => setText("")}>{t("search.clear")}</Button>}>{t("search.noneText")}</Empty>
            : <Empty level={2} icon={Coffee} title={t("menu.none")}>{t("menu.noneText")}</Empty>}>
          {(offers) => (
            <>
              <ul class="grid products">{offers.map((o) => <OfferCard key={o.productId} offer={o} />)}</ul>
              <div class="more"><MoreButton pages={list} /></div>
            </>
          )}
        </Paged>
      </div>}
    </div>
  );
}

/** The first products of a category, on the home page. Empty categories are left out. */
function Section({ category }: { category: Schemas["Category"] }) {
  const { categoryId } = category;
  const first = useLoaded((signal) => ask(api.GET("/categories/{categoryId}/products", { params: { path: { categoryId }, query: { limit: 4 } }, signal })), [categoryId]);
  const found = first.value.value;
  if (first.problem.value) return <Failed problem={first.problem.value} onRetry={first.reload} />;
  if (found && found.items.length === 0) return null;
  return (
    <section class="stack menu-section" aria-label={category.name}>
      <div class="row"><h2 class="grow">{category.name}</h2><a href={link("/c/:id", { id: categoryId })} aria-label={t("menu.allOf", { name: category.name })}>{t("menu.all")}</a></div>
      <ul class="grid products">{found ? found.items.map((o) => <OfferCard key={o.productId} offer={o} />) : Array.from({ length: 4 }, (_, n) => <li class="product" key={n}><Skeleton height="9rem" /><div class="product-body"><Skeleton lines={2} /></div></li>)}</ul>
    </section>
  );
}

function OfferCard({ offer }: { offer: Offer }) {
  return (
    <li class="product">
      <a class="product-link" href={link("/p/:id", { id: offer.productId })}>
        <Art name={offer.name} category={offer.categoryId} seed={offer.productId} />
        <span class="product-body">
          <span class="product-name">{offer.name}</span>
          <span class="money">{money(offer.price)}</span>
        </span>
      </a>
      <Button class="product-add" kind="primary" icon={Plus} label={t("cart.addOne", { name: offer.name })} onPress={() => add(offer, 1)} />
    </li>
  );
}

/** A product: description, stock, and quantity. */
export function Product({ id }: { id: string }) {
  const product = useLoaded((signal) => ask(api.GET("/products/{productId}", { params: { path: { productId: id } }, signal })), [id]);
  const [count, setCount] = useState(1);
  const p = product.value.value;
  useTitle(p?.name);
  if (product.problem.value) {
    return product.problem.value.status === 404 || product.problem.value.status === 400
      ? <Empty icon={PackageX} title={t("product.gone")} action={<Button href={link("/")}>{t("menu.back")}</Button>} />
      : <Failed problem={product.problem.value} onRetry={product.reload} />;
  }
  if (!p) {
    return <div class="sheet" aria-busy="true"><Skeleton height="18rem" /><div class="stack"><Skeleton width="60%" height="2rem" /><Skeleton lines={3} /></div></div>;
  }
  const most = Math.min(99, Math.max(1, p.stock));
  const sold = p.isActive && p.stock > 0;
  return (
    <div class="stack">
      <Breadcrumb steps={[{ label: t("nav.menu"), href: link("/") }, { label: categoryName(p.categoryId), href: link("/c/:id", { id: p.categoryId }) }, { label: p.name }]} />
      <article class="sheet">
        <div class="sheet-art"><Art name={p.name} category={p.categoryId} seed={p.productId} /></div>
        <div class="stack">
          <div class="row"><h1>{p.name}</h1><Stock stock={p.stock} active={p.isActive} /></div>
          <p class="price money">{money(p.price)}</p>
          {p.description && <p class="reading description">{p.description}</p>}
          {sold && (
            <div class="row">
              <Counter label={t("product.quantity")} value={count} most={most} onChange={setCount} />
              <Button kind="primary" size="large" icon={ShoppingCart} onPress={() => add(p, count)}>{t("product.add", { total: money(times(p.price, count)) })}</Button>
            </div>
          )}
          {!sold && <p class="muted">{t("product.soldOutText")}</p>}
        </div>
      </article>
    </div>
  );
}

const few = 5;

export function Stock({ stock, active }: { stock: number; active: boolean }) {
  if (!active) return <Badge>{t("product.notSold")}</Badge>;
  if (stock <= 0) return <Badge tone="danger">{t("product.soldOut")}</Badge>;
  return stock <= few ? <Badge tone="warning">{t("product.left", { n: stock })}</Badge> : <Badge tone="success">{t("product.inStock")}</Badge>;
}

/** A quantity with buttons. */
export function Counter({ label, value, most = 99, least = 1, onChange }: { label: string; value: number; most?: number; least?: number; onChange: (n: number) => void }) {
  return (
    <span class="counter" role="group" aria-label={label}>
      <button type="button" aria-label={t("counter.less")} disabled={value <= least} onClick={() => onChange(value - 1)}><Icon of={Minus} size={16} /></button>
      <output class="number" aria-live="polite">{format.number(value)}</output>
      <button type="button" aria-label={t("counter.more")} disabled={value >= most} onClick={() => onChange(value + 1)}><Icon of={Plus} size={16} /></button>
    </span>
  );
}
