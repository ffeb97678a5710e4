// Every component in all its states, for page authors: `make web-dev`, then /gallery/.
import { signal } from "@preact/signals";
import { Coffee, Copy, ImageUp, LayoutGrid, PackageOpen, Pencil, Plus, Settings, ShoppingCart, Trash2 } from "lucide";
import { useState } from "preact/hooks";
import {
  Acts, Avatar, Badge, Breadcrumb, Button, Card, Checkbox, Code, CodeTabs, Combobox, Confirm, Dialog, Drawer, Empty, Failed, FileButton, Form, JSONText, Menu, Notice, PagedTable, Problem, Progress, SearchField,
  Select, Shell, Skeleton, Stat, Switch, Table, TableSkeleton, Tabs, TextArea, TextField, Timeline, format, link, page, pages, start, toast, toastProblem, useTitle,
} from "#ui";
import { t } from "./words.ts";

type Product = "monotable" | "catfecito" | "transporteapp" | "portfolio" | "appcore" | "trinity";
const roasts = [{ value: "l", label: "light roast" }, { value: "m", label: "medium roast" }, { value: "d", label: "dark roast" }];
const products: Product[] = ["monotable", "catfecito", "transporteapp", "portfolio", "appcore", "trinity"];
const product = signal<Product>("monotable");

const fault = new Problem({ status: 503, code: "unavailable", detail: "The service cannot do that at the moment; try again.", requestId: "R-1" });
const orders = [
  { id: "A-1001", who: "María José Fernández de la Vega", total: "1284.50", state: "paid" as const, at: "2026-03-02T18:20:00Z" },
  { id: "A-1002", who: "Ana", total: "35.00", state: "late" as const, at: "2026-03-02T17:05:00Z" },
  { id: "A-1003", who: "João Guimarães", total: "310.25", state: "failed" as const, at: "2026-03-01T09:40:00Z" },
];
type Order = (typeof orders)[number];
const tones = { paid: "success", late: "warning", failed: "danger" } as const;
const columns = [
  { key: "id", title: "Order", cell: (o: Order) => <code>{o.id}</code> },
  { key: "who", title: "Customer", cell: (o: Order) => <span class="row fixed"><Avatar name={o.who} size={28} />{o.who}</span> },
  { key: "state", title: "Status", cell: (o: Order) => <Badge tone={tones[o.state]}>{o.state}</Badge> },
  { key: "total", title: "Total", numeric: true, cell: (o: Order) => format.money(o.total, "MXN") },
  { key: "actions", title: "Actions", titleHidden: true, cell: (o: Order) => <Button size="small" kind="quiet" icon={Pencil} label={`Edit ${o.id}`} /> },
];

const paged = pages<Order>(async (cursor) => {
  const at = Number(cursor ?? 0);
  return { items: orders.map((o) => ({ ...o, id: `${o.id}-${at}` })), next: at < 2 ? String(at + 1) : undefined };
});
void paged.reload();

function Part({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return <section class="stack" style={{ "--gap": "var(--space-3)", marginBlockEnd: "var(--space-8)" }}><h2>{name}</h2>{children}</section>;
}

function Controls() {
  const [text, setText] = useState("");
  const [roast, setRoast] = useState("m");
  const [size, setSize] = useState<"s" | "m" | "">("");
  const [on, setOn] = useState(true);
  return (
    <>
      <Part name="Button">
        <div class="row">
          <Button kind="primary" icon={Plus}>Add product</Button><Button>Edit</Button><Button kind="quiet">Skip</Button><Button kind="danger" icon={Trash2}>Delete</Button>
          <Button kind="primary" loading>Saving</Button><Button disabled>Not now</Button><Button size="small">Small</Button><Button size="large" kind="primary">Check out</Button>
          <Button icon={Settings} kind="quiet" label="Settings" /><Button href={link("/")}>A link</Button>
          <FileButton icon={ImageUp} accept="image/*" onFile={async () => {}}>Choose a picture</FileButton>
        </div>
      </Part>
      <Part name="Field">
        <div class="grid">
          <TextField label="Name" value={text} onInput={setText} hint="As on your identity card." autocomplete="name" />
          <TextField label="E-mail" type="email" value="ana@" onInput={() => {}} error="An address has something behind the @." />
          <Select label="Size" value={size} empty="Choose" onInput={setSize} choices={[{ value: "s", label: "250 g" }, { value: "m", label: "1 kg" }]} />
          <Combobox label="Roast" value={roast} onInput={setRoast} search={(sought) => Promise.resolve(roasts.filter((r) => `${r.value} ${r.label}`.toLowerCase().includes(sought.toLowerCase())))} />
          <TextArea label="Note" optional value={text} onInput={setText} />
          <SearchField label="Search products" value={text} onInput={setText} />
          <div><Switch label="Visible in the shop" hint="Acts at once." checked={on} onInput={setOn} /><Checkbox label="I have read the terms" checked={on} onInput={setOn} /><Switch label="Not yours to change" disabled checked={false} onInput={() => {}} /></div>
        </div>
      </Part>
    </>
  );
}

function Lists() {
  const [tab, setTab] = useState<"some" | "pages" | "loading" | "empty" | "failed">("some");
  const tabs = [{ key: "some", label: "Rows" }, { key: "pages", label: "Pages" }, { key: "loading", label: "Loading" }, { key: "empty", label: "Empty" }, { key: "failed", label: "Failed" }] as const;
  return (
    <Part name="Tabs, table">
      <Tabs label="States of a table" tabs={tabs} chosen={tab} onChoose={setTab}>
        {tab === "some" && <Table caption="Orders" columns={columns} rows={orders} rowKey={(o) => o.id} foot={t("items", { n: orders.length })} />}
        {tab === "pages" && <PagedTable caption="Orders" columns={columns} pages={paged} rowKey={(o) => o.id} />}
        {tab === "loading" && <TableSkeleton columns={4} />}
        {tab === "empty" && <Empty icon={PackageOpen} title="No orders yet" action={<Button kind="primary">See the shop</Button>}>They appear here as soon as somebody buys.</Empty>}
        {tab === "failed" && <Failed problem={fault} onRetry={() => {}} />}
      </Tabs>
    </Part>
  );
}

const deeds = [undefined, 500, 403, 201].map((status, n) => ({
  at: new Date(Date.now() - n * 60_000).toISOString(), actorId: "u-staff", operation: n === 3 ? "createProduct" : "putProduct", target: n === 3 ? "POST /products" : "PUT /products/11111111-8a2b-4c3d-9e4f-0a1b2c3d4e5f",
  requestId: `R-${n}`, ...(status === undefined ? {} : { status }),
}));

function Deeds() {
  return <Part name="Acts"><Acts load={async () => ({ items: deeds })} names={{ createProduct: "Made a product" }} /></Part>;
}

function Floating() {
  const [open, setOpen] = useState<"dialog" | "drawer" | "confirm" | undefined>();
  const close = () => setOpen(undefined);
  return (
    <Part name="Dialog, drawer, menu, toast">
      <div class="row">
        <Button id="open-dialog" onPress={() => setOpen("dialog")}>Dialog</Button><Button id="open-drawer" icon={ShoppingCart} onPress={() => setOpen("drawer")}>Drawer</Button><Button id="open-confirm" kind="danger" onPress={() => setOpen("confirm")}>Delete …</Button>
        <Menu label="More" kind="secondary" text="Menu" items={[{ title: "Order A-1001" }, { label: "Copy", icon: Copy }, { label: "Edit", icon: Pencil }, "line", { label: "Delete", icon: Trash2, danger: true }]} />
        <Button onPress={() => toast("success", "The order is paid.", { action: { label: "See it", onPress: () => {} } })}>Toast</Button><Button onPress={() => toastProblem(fault)}>Problem</Button>
      </div>
      <Dialog open={open === "dialog"} title="New address" onClose={close} actions={<><Button onPress={close}>Cancel</Button><Button kind="primary" onPress={close}>Save</Button></>}>
        <div class="stack"><TextField label="Street" value="" onInput={() => {}} /><TextField label="City" value="" onInput={() => {}} /></div>
      </Dialog>
      <Drawer open={open === "drawer"} title="Your cart" onClose={close} actions={<Button kind="primary" wide onPress={close}>Check out</Button>}>
        <Empty icon={ShoppingCart} title="Your cart is empty" />
      </Drawer>
      <Confirm open={open === "confirm"} title="Delete the product?" action="Delete" danger onConfirm={close} onClose={close}>It disappears from the shop. Orders keep it.</Confirm>
    </Part>
  );
}

function Filling() {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [sent, setSent] = useState(0);
  const send = async () => {
    setSent((n) => n + 1);
    await new Promise((done) => setTimeout(done, 500));
    setOpen(false);
  };
  return (
    <Part name="Form">
      <div class="row"><Button id="open-form" icon={Plus} onPress={() => { setName(""); setOpen(true); }}>New product</Button><span>Saved <output id="sent">{sent}</output> times</span></div>
      {open && (
        <Dialog open title="New product" onClose={() => setOpen(false)} actions={<Button kind="primary" type="submit" form="filling">Save</Button>}>
          <Form id="filling" onSubmit={send}><TextField label="Name" name="product" value={name} onInput={setName} autofocus /></Form>
        </Dialog>
      )}
    </Part>
  );
}

function Bits() {
  return (
    <>
      <Part name="Badge, notice">
        <div class="row"><Badge>Draft</Badge><Badge tone="accent">New</Badge><Badge tone="success">Paid</Badge><Badge tone="warning">Late</Badge><Badge tone="danger">Failed</Badge><Badge tone="info">On its way</Badge><Badge plain>12</Badge></div>
        <div class="grid"><Notice>Your trial ends on Friday.</Notice><Notice tone="warning">Two trips overlap.</Notice><Notice tone="danger">The payment was refused.</Notice><Notice tone="success">Everything is saved.</Notice></div>
      </Part>
      <Part name="Card, stat, avatar, progress">
        <div class="grid" style={{ "--column": "13rem" }}>
          <Stat label="Takings today" value={format.money("18240.5", "MXN")} note="12 orders" /><Stat label="Out of stock" value={3} note={<Badge tone="warning">Order beans</Badge>} />
          <Card title="Ana Torres" action={<Button size="small">Edit</Button>}><span class="row"><Avatar name="Ana Torres" size={44} /><span class="muted">Joined {format.relative(Date.now() - 864e5 * 3)}</span></span></Card>
          <Card href={link("/")} title="A card that is a link"><p class="muted">All of it can be clicked.</p></Card>
        </div>
        <Progress label="Upload" value={0.62} /><Progress label="Working" />
        <div class="row">{["Ana", "Luis Pérez", "Eva", "João", "Ximena", "Øystein"].map((n) => <Avatar key={n} name={n} />)}</div>
        <Skeleton lines={3} />
      </Part>
      <Part name="Breadcrumb, timeline, code">
        <Breadcrumb steps={[{ label: "Shop", href: link("/") }, { label: "Coffee", href: link("/") }, { label: "Pluma Hidalgo" }]} />
        <Timeline label="Order" steps={[{ key: "1", title: "Paid", state: "done", note: format.dateTime(orders[0]?.at ?? 0) }, { key: "2", title: "Being packed", state: "now" }, { key: "3", title: "Delivered", state: "later" }]} />
        <Code label="Request" text={'curl -sS "http://127.0.0.1:8080/catfecito/products" -H "Authorization: Bearer $TOKEN"'} />
        <JSONText text={'{\n  "name": "Café Premium",\n  "price": "35.00",\n  "stock": 10,\n  "active": true\n}'} />
        <CodeTabs label="Languages" texts={[{ key: "js", label: "JavaScript", text: "await ask(api.GET(\"/products\"))" }, { key: "go", label: "Go", text: "db.Products(ctx)" }]} />
      </Part>
      <Part name="Colours">
        <div class="row">{[1, 2, 3, 4, 5, 6, 7, 8].map((n) => <span key={n} class="badge plain" style={{ color: `var(--kind-${n})` }}>● kind {n}</span>)}</div>
      </Part>
    </>
  );
}

function App() {
  useTitle(undefined);
  document.documentElement.dataset["product"] = product.value;
  return (
    <Shell brand={t("page.title")} icon={LayoutGrid} nav={[{ href: link("/"), label: "All" }, { href: link("/other"), label: "Other", icon: Coffee }]}
      tools={<Menu label="Product" text={product.value} items={products.map((p) => ({ label: p, checked: p === product.value, onPress: () => { product.value = p; } }))} />}>
      <h1 style={{ marginBlockEnd: "var(--space-6)" }}>{t("page.description")}</h1>
      <Controls /><Lists /><Deeds /><Floating /><Filling /><Bits />
    </Shell>
  );
}

product.value = products.find((p) => p === new URLSearchParams(location.search).get("product")) ?? "monotable";
page.name = product.value;
void start(<App />);
