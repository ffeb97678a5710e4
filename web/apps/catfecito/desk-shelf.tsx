import { FolderPlus, PackagePlus, PackageX, Pencil, Plus, Search, SearchX, UserRound } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { api, type Schemas } from "#clients/catfecito";
import { Badge, Button, Conflict, Dialog, Empty, Failed, Form, Problem, RequestKey, SearchField, Select, Switch, Table, TableSkeleton, TextArea, TextField, ask, format, go, link, tagged, toast, toastProblem, useLoaded, useVersion, type Tagged } from "#ui";
import { Art } from "./art.tsx";
import { me } from "./auth.ts";
import { categories, categoriesProblem, categoryName, loadCategories } from "./categories.ts";
import { Stock } from "./catalogue.tsx";
import { shelfOf } from "./desk-board.tsx";
import { money } from "./money.ts";
import { Panel } from "./panel.tsx";
import { t } from "./words.ts";

type Product = Schemas["Product"];

/** Rows shown at first; a search covers all. */
const rowsAtOnce = 40;

/** All products: stock, price, and whether they are on sale. */
export function Products({ wanted }: { wanted: string }) {
  const shelf = useLoaded(shelfOf, []);
  const [text, setText] = useState("");
  const [edited, setEdited] = useState<Tagged<Product> | "new" | undefined>();
  // A list may be stale, so the form loads the stored version.
  const edit = async (p: Product) => {
    try {
      setEdited(await stored(p));
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  const [most, setMost] = useState(rowsAtOnce);
  const all = shelf.value.value;
  const change = (p: Product) => {
    const rest = (all ?? []).filter((x) => x.productId !== p.productId);
    shelf.set([...rest, p].sort((a, b) => format.compare(a.name, b.name)));
  };
  const plain = (x: string) => x.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const shown = (all ?? []).filter((p) => {
    if (wanted === "out" && !(p.isActive && p.stock <= 0)) return false;
    if (wanted === "low" && !(p.isActive && p.stock > 0 && p.stock <= 5)) return false;
    if (wanted === "off" && p.isActive) return false;
    return plain(`${p.name} ${categoryName(p.categoryId)}`).includes(plain(text));
  });
  const setActive = async (p: Product, isActive: boolean) => {
    change({ ...p, isActive });
    try {
      change(await ask(api.PUT("/products/{productId}/active", { params: { path: { productId: p.productId } }, body: { isActive } })));
    } catch (thrown) {
      change(p);
      toastProblem(thrown);
    }
  };
  return (
    <div class="stack">
      <div class="row">
        <div class="grow desk-find"><SearchField label={t("shelf.find")} value={text} onInput={setText} /></div>
        <Select label={t("shelf.show")} labelHidden value={wanted || "all"} onInput={(v) => go(link("/desk/:part", { part: "products", show: v === "all" ? "" : v }), "replace")}
          choices={(["all", "out", "low", "off"] as const).map((v) => ({ value: v, label: t(`shelf.${v}`) }))} />
        <Button kind="primary" icon={Plus} onPress={() => setEdited("new")}>{t("shelf.new")}</Button>
      </div>
      {shelf.problem.value && !all ? <Failed problem={shelf.problem.value} onRetry={shelf.reload} />
        : !all ? <TableSkeleton columns={6} />
        : shown.length === 0 ? (text || wanted ? <Empty icon={SearchX} title={t("shelf.noneFound")} /> : <Empty icon={PackageX} title={t("shelf.none")} action={<Button kind="primary" icon={Plus} onPress={() => setEdited("new")}>{t("shelf.new")}</Button>} />)
        : (
          <Table caption={t("desk.products")} rows={shown.slice(0, most)} foot={shown.length > most ? <Button onPress={() => setMost(most + rowsAtOnce)}>{t("shelf.more", { n: shown.length - most })}</Button> : undefined} rowKey={(p) => p.productId} columns={[
            { key: "name", title: t("shelf.name"), cell: (p) => <span class="row fixed shelf-name"><span class="shelf-art"><Art name={p.name} category={p.categoryId} seed={p.productId} /></span><strong>{p.name}</strong></span> },
            { key: "category", title: t("shelf.category"), cell: (p) => categoryName(p.categoryId) },
            { key: "price", title: t("shelf.price"), numeric: true, cell: (p) => money(p.price) },
            { key: "stock", title: t("shelf.stock"), numeric: true, cell: (p) => <span class="row fixed shelf-stock">{p.isActive && p.stock <= 5 && <Stock stock={p.stock} active />}<span class="number">{format.number(p.stock)}</span><Restock product={p} onDone={change} /></span> },
            { key: "active", title: t("shelf.sold"), cell: (p) => <Switch label={t(p.isActive ? "shelf.on" : "shelf.offOne")} checked={p.isActive} onInput={(on) => void setActive(p, on)} /> },
            { key: "edit", title: t("shelf.edit"), titleHidden: true, cell: (p) => <Button kind="quiet" size="small" icon={Pencil} label={t("shelf.editOne", { name: p.name })} onPress={() => edit(p)} /> },
          ]} />
        )}
      {edited !== undefined && <ProductForm key={edited === "new" ? "" : edited.tag} loaded={edited === "new" ? undefined : edited} onLoad={setEdited} onClose={() => setEdited(undefined)} onDone={(p) => { change(p); setEdited(undefined); }} />}
    </div>
  );
}

function Restock({ product, onDone }: { product: Product; onDone: (p: Product) => void }) {
  const [open, setOpen] = useState(false);
  const [count, setCount] = useState("10");
  const [problem, setProblem] = useState<Problem | undefined>();
  const key = useMemo(() => new RequestKey(), []);
  const send = async () => {
    const body = { quantity: Number(count) };
    try {
      await ask(api.POST("/products/{productId}/restocks", { params: { path: { productId: product.productId }, header: { "Idempotency-Key": key.for(body) } }, body }));
      onDone(await ask(api.GET("/products/{productId}", { params: { path: { productId: product.productId } } })));
      key.done(); // only now: if loading fails, the user sends the restock again, which must not count twice
      toast("success", t("shelf.restocked", { n: body.quantity, name: product.name }));
      setOpen(false);
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
  };
  return (
    <>
      <Button size="small" icon={PackagePlus} label={t("shelf.restock", { name: product.name })} onPress={() => setOpen(true)} />
      <Dialog open={open} title={t("shelf.restock", { name: product.name })} onClose={() => setOpen(false)} actions={<Button kind="primary" type="submit" form={`restock-${product.productId}`}>{t("shelf.restockDo")}</Button>}>
        <Form id={`restock-${product.productId}`} onSubmit={send}>
          <TextField label={t("shelf.quantity")} type="number" min={1} max={1_000_000} inputMode="numeric" value={count} onInput={setCount} error={problem ? problem.field("quantity") ?? problem.detail : undefined} hint={t("shelf.there", { n: product.stock })} autofocus />
        </Form>
      </Dialog>
    </>
  );
}

/** A product as currently stored. */
function stored(p: Product | undefined): Promise<Tagged<Product>> {
  return tagged(api.GET("/products/{productId}", { params: { path: { productId: p?.productId ?? "" } } }));
}

function ProductForm({ loaded, onLoad, onDone, onClose }: { loaded: Tagged<Product> | undefined; onLoad: (p: Tagged<Product>) => void; onDone: (p: Product) => void; onClose: () => void }) {
  const product = loaded?.value;
  const version = useVersion(loaded, () => stored(product), onLoad);
  const [name, setName] = useState(product?.name ?? "");
  const [categoryId, setCategory] = useState(product?.categoryId ?? "");
  const [price, setPrice] = useState(product?.price ?? "");
  const [stock, setStock] = useState("10");
  const [description, setDescription] = useState(product?.description ?? "");
  const [problem, setProblem] = useState<Problem | undefined>();
  const key = useMemo(() => new RequestKey(), []);
  const send = async () => {
    const body: Schemas["ProductInput"] = { name: name.trim(), categoryId, price: amount(price), description: description.trim() };
    if (product?.imageUrl) body.imageUrl = product.imageUrl;
    setProblem(undefined);
    try {
      if (product) {
        onDone(await ask(api.PUT("/products/{productId}", { params: { path: { productId: product.productId }, header: version.header() }, body })));
      } else {
        const whole = { ...body, stock: Number(stock) };
        const made = await ask(api.POST("/products", { params: { header: { "Idempotency-Key": key.for(whole) } }, body: whole }));
        key.done();
        onDone(made);
      }
      toast("success", t("shelf.saved", { name: body.name }));
    } catch (thrown) {
      const found = Problem.of(thrown);
      setProblem(found);
      if (!version.refused(found) && found.fields.length === 0) toastProblem(found);
    }
  };
  return (
    <Dialog open wide title={product ? t("shelf.editOne", { name: product.name }) : t("shelf.new")} onClose={onClose} actions={<><Button onPress={onClose}>{t("cancel")}</Button><Button kind="primary" type="submit" form="product">{t("save")}</Button></>}>
      <Form id="product" class="product-form" onSubmit={send}>
        <div class="product-preview"><Art name={name} category={categoryId} seed={product?.productId ?? name} /></div>
        <div class="stack">
          <Conflict version={version} />
          <TextField label={t("shelf.name")} name="name" maxLength={100} value={name} onInput={setName} error={problem?.field("name")} autofocus />
          <div class="pair">
            <Select label={t("shelf.category")} name="category" value={categoryId} onInput={setCategory} empty={t("shelf.choose")} choices={(categories.value ?? []).map((c) => ({ value: c.categoryId, label: c.name }))} error={problem?.field("categoryId")} />
            <TextField label={t("shelf.price")} name="price" inputMode="decimal" pattern="[0-9]{1,9}([.,][0-9]{1,2})?" value={price} onInput={setPrice} error={problem?.field("price")} />
          </div>
          {!product && <TextField label={t("shelf.stock")} name="stock" type="number" min={0} max={1_000_000} inputMode="numeric" value={stock} onInput={setStock} error={problem?.field("stock")} />}
          <TextArea label={t("shelf.description")} name="description" optional rows={3} maxLength={2000} value={description} onInput={setDescription} error={problem?.field("description")} />
        </div>
      </Form>
    </Dialog>
  );
}

/** Converts a typed amount to the API's form: 35 and 35,5 become 35.00 and 35.50. */
function amount(typed: string): string {
  const [whole = "0", part = ""] = typed.trim().replace(",", ".").split(".");
  return `${whole.replace(/^0+(?=\d)/, "") || "0"}.${`${part}00`.slice(0, 2)}`;
}

/** The categories, by name. */
export function Categories() {
  const [edited, setEdited] = useState<Schemas["Category"] | "new" | undefined>();
  const list = categories.value;
  const failed = list?.length === 0 ? categoriesProblem.value : undefined;
  return (
    <div class="stack">
      <div class="row"><span class="grow muted">{t("category.text")}</span><Button kind="primary" icon={FolderPlus} onPress={() => setEdited("new")}>{t("category.new")}</Button></div>
      {failed ? <Failed problem={failed} onRetry={() => void loadCategories()} /> : list === undefined ? <TableSkeleton columns={3} /> : list.length === 0 ? <Empty icon={FolderPlus} title={t("category.none")} /> : (
        <Table caption={t("desk.categories")} rows={list} rowKey={(c) => c.categoryId} columns={[
          { key: "name", title: t("shelf.name"), cell: (c) => <span class="row fixed shelf-name"><span class="shelf-art"><Art name={c.name} category={c.categoryId} seed={c.categoryId} /></span><strong>{c.name}</strong></span> },
          { key: "description", title: t("shelf.description"), cell: (c) => c.description },
          { key: "edit", title: t("shelf.edit"), titleHidden: true, cell: (c) => <Button kind="quiet" size="small" icon={Pencil} label={t("shelf.editOne", { name: c.name })} onPress={() => setEdited(c)} /> },
        ]} />
      )}
      {edited !== undefined && <CategoryForm category={edited === "new" ? undefined : edited} onClose={() => setEdited(undefined)} />}
    </div>
  );
}

function CategoryForm({ category, onClose }: { category: Schemas["Category"] | undefined; onClose: () => void }) {
  const [name, setName] = useState(category?.name ?? "");
  const [description, setDescription] = useState(category?.description ?? "");
  const [problem, setProblem] = useState<Problem | undefined>();
  const send = async () => {
    setProblem(undefined);
    try {
      const header: { "If-None-Match"?: "*" } = category ? {} : { "If-None-Match": "*" }; // a new one never replaces another
      await ask(api.PUT("/categories/{categoryId}", { params: { path: { categoryId: category?.categoryId ?? slug(name) }, header }, body: { name: name.trim(), description: description.trim() } }));
      await loadCategories();
      toast("success", t("shelf.saved", { name: name.trim() }));
      onClose();
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
  };
  return (
    <Dialog open title={category ? t("shelf.editOne", { name: category.name }) : t("category.new")} onClose={onClose} actions={<><Button onPress={onClose}>{t("cancel")}</Button><Button kind="primary" type="submit" form="category">{t("save")}</Button></>}>
      <Form id="category" class="stack" onSubmit={send}>
        <TextField label={t("shelf.name")} name="category-name" maxLength={60} value={name} onInput={setName} error={problem ? problem.field("name") ?? problem.detail : undefined} autofocus />
        <TextArea label={t("shelf.description")} optional rows={3} maxLength={2000} value={description} onInput={setDescription} />
      </Form>
    </Dialog>
  );
}

/** A category's slug, derived from its name. Other letters than Latin ones become the numbers of their characters, so that 茶 and コーヒー differ. */
function slug(name: string): string {
  const plain = name.normalize("NFD").replace(/([a-z])\p{M}+/giu, "$1").normalize("NFC").toLowerCase();
  const latin = plain.replace(/(?![a-z0-9])[\p{L}\p{M}\p{N}\p{So}]/gu, (c) => (c.codePointAt(0) ?? 0).toString(36).padStart(4, "0"));
  return latin.replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60).replace(/-+$/, "") || "x";
}

/** A user by e-mail address, with their role. */
export function Users() {
  const [email, setEmail] = useState("");
  const [user, setUser] = useState<Schemas["User"] | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const find = async () => {
    setProblem(undefined);
    setUser(undefined);
    try {
      setUser(await ask(api.GET("/desk/users", { params: { query: { email: email.trim() } } })));
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
  };
  const setRole = async (found: Schemas["User"], admin: boolean) => {
    try {
      setUser(await ask(api.PUT("/users/{userId}/role", { params: { path: { userId: found.userId } }, body: { role: admin ? "admin" : "customer" } })));
      toast("success", t("users.saved", { name: found.name }));
    } catch (thrown) {
      toastProblem(thrown);
      setUser({ ...found });
    }
  };
  return (
    <div class="stack narrow left">
      <Form class="row inline-form" onSubmit={find}>
        <TextField label={t("users.email")} type="email" value={email} onInput={setEmail} hint={t("users.hint")} />
        <Button kind="primary" type="submit" icon={Search}>{t("users.find")}</Button>
      </Form>
      {problem && (problem.status === 404 ? <Empty icon={UserRound} title={t("users.none")} /> : <Failed problem={problem} />)}
      {user && (
        <Panel title={user.name} action={<Badge tone={user.role === "admin" ? "accent" : "info"} plain>{t(`role.${user.role}`)}</Badge>}>
          <div class="stack">
            <p class="muted">{user.email} · {t("users.since", { day: format.day(user.createdAt) })}{user.verifiedAt ? ` · ${t("users.verified")}` : ""}</p>
            <Switch label={t("users.admin")} hint={t(me.value?.userId === user.userId ? "users.self" : "users.adminHint")} checked={user.role === "admin"} disabled={me.value?.userId === user.userId} onInput={(on) => void setRole(user, on)} />
          </div>
        </Panel>
      )}
    </div>
  );
}
