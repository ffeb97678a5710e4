import { Ellipsis, PackagePlus } from "lucide";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button, Conflict, Dialog, Form, Menu, MoreButton, Paged, Problem, RequestKey, Table, ask, format, tagged, toastProblem, usePages, useVersion, type Tagged } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { lines, type Opened } from "./carta-draft.ts";
import { Lines, made, texts, type Texts } from "./form.tsx";
import { t } from "./words.ts";

type Good = Schemas["Mercancia"];

const rows = 50;

/** A line of goods and how many there are, with the tag of their carta. */
interface Line extends Tagged<Good> {
  count: number;
}

/**
 * The goods of a carta. There may be thousands, so each is saved individually and immediately: at its number, and with the tag that the carta had when
 * the list was loaded, because others may have changed the goods or their numbers since.
 */
export function Goods({ opened, editable, onChanged, wrong }: { opened: Opened; editable: boolean; onChanged: () => void; wrong: (path: string) => string | undefined }) {
  const id = opened.carta.cartaId;
  const seen = useRef<Pick<Line, "tag" | "count">>({ tag: undefined, count: 0 });
  const list = usePages<Good>(async (cursor, signal) => {
    if (!cursor) seen.current = await head(id, signal); // first: changes before the list is loaded are noticed
    return ask(api.GET("/cartas/{id}/mercancias", { params: { path: { id }, query: { limit: rows, ...(cursor ? { cursor } : {}) } }, signal }));
  }, [id]);
  const [editing, setEditing] = useState<Line | "new" | undefined>();
  const refresh = () => { if (list.items.value.length <= rows) void list.reload(); }; // not while the user reads further down
  const first = useRef(opened);
  useEffect(() => { if (opened !== first.current) refresh(); }, [opened]);
  const changed = async () => {
    setEditing(undefined);
    await list.reload();
    onChanged();
  };
  const remove = async (good: Good) => {
    const send = (tag: string | undefined) => ask(api.DELETE("/cartas/{id}/mercancias/{orden}", { params: { path: { id, orden: good.orden ?? 0 }, header: match(tag) } }));
    try {
      // With the version, a browser that repeats the request does not remove the good that has moved to this place.
      await unless(seen.current.tag, send, async () => {
        const now = await current(id, good);
        return alike(now.value, good) && now.count === seen.current.count ? now.tag : undefined;
      });
    } catch (thrown) {
      toastProblem(thrown);
    }
    await changed();
  };
  const fault = (good: Good) => ["claveProdServ", "claveUnidad", "descripcion", "cantidad", "pesoKg"].map((f) => wrong(`mercancias[${(good.orden ?? 1) - 1}].${f}`)).find(Boolean);
  return (
    <>
      <Paged pages={list} empty={<p class="muted">{t("good.none")}</p>}>
        {(rows) => (
          <Table caption={t("good.list")} rows={[...rows]} rowKey={(g) => String(g.orden)} foot={list.next.value || list.state.value === "failed" ? <MoreButton pages={list} /> : undefined} columns={[
            { key: "what", title: t("good.what"), cell: (g) => <span><b>{g.descripcion}</b><br /><span class="muted small number">{g.claveProdServ}</span>{fault(g) && <><br /><span class="field-error">{fault(g)}</span></>}</span> },
            { key: "amount", title: t("good.amount"), numeric: true, cell: (g) => `${format.number(g.cantidad)} ${g.claveUnidad}` },
            { key: "weight", title: t("good.weight"), numeric: true, cell: (g) => `${format.number(g.pesoKg)} kg` },
            { key: "value", title: t("good.value"), numeric: true, cell: (g) => (g.valorMercancia === undefined ? "–" : format.money(g.valorMercancia, g.moneda ?? "MXN")) },
            ...(editable ? [{ key: "do", title: t("actions"), titleHidden: true, cell: (g: Good) => <Menu icon={Ellipsis} size="small" label={t("actions.of", { name: g.descripcion })} items={[
              { label: t("edit"), onPress: () => setEditing({ value: g, ...seen.current }) }, { label: t("good.remove"), danger: true, onPress: () => void remove(g) },
            ]} /> }] : []),
          ]} />
        )}
      </Paged>
      {editable && <div class="row"><Button size="small" icon={PackagePlus} onPress={() => setEditing("new")}>{t("good.add")}</Button></div>}
      {editing && <Edit id={id} good={editing === "new" ? undefined : editing} onClose={() => { setEditing(undefined); refresh(); }} onDone={changed} />}
    </>
  );
}

function match(tag: string | undefined): { "If-Match"?: string } {
  return tag ? { "If-Match": tag } : {};
}

async function head(id: string, signal?: AbortSignal): Promise<Pick<Line, "tag" | "count">> {
  const { value, tag } = await tagged(api.GET("/cartas/{id}", { params: { path: { id } }, ...(signal ? { signal } : {}) }));
  return { tag, count: value.totales.numeroTotalMercancias };
}

/** The line that now has the number of a good. */
async function current(id: string, { orden = 0 }: Good): Promise<Line> {
  const of = await head(id);
  for (let cursor: string | undefined; ;) {
    const page = await ask(api.GET("/cartas/{id}/mercancias", { params: { path: { id }, query: { limit: 100, ...(cursor ? { cursor } : {}) } } }));
    const value = page.items.find((g) => g.orden === orden);
    if (value) return { value, ...of };
    if (!page.next) throw gone();
    cursor = page.next;
  }
}

function gone(): Problem {
  return new Problem({ status: 404, code: "not_found", detail: t("good.gone") });
}

function alike(a: Good, b: Good): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Sends a change with a tag. If the carta has changed since, it is sent again with the tag that still returns: undefined if the change concerns it. */
async function unless(tag: string | undefined, send: (tag: string | undefined) => Promise<unknown>, still: () => Promise<string | undefined>): Promise<void> {
  try {
    await send(tag);
  } catch (thrown) {
    const now = Problem.of(thrown).code === "changed_since" ? await still() : undefined;
    if (!now) throw thrown;
    await send(now);
  }
}

/** A line of goods, checked against the tax office's rules while typing; errors appear once a field has been touched. */
function Edit({ id, good: loaded, onClose, onDone }: { id: string; good: Line | undefined; onClose: () => void; onDone: () => Promise<void> }) {
  const good = loaded?.value;
  const [values, setValues] = useState<Texts>(() => (good ? texts(good) : { claveUnidad: "KGM" }));
  const [faults, setFaults] = useState<readonly Schemas["Falta"][]>([]);
  const [problem, setProblem] = useState<Problem | undefined>();
  const version = useVersion<Good>(loaded, () => current(id, good ?? ({} as Good)), (now) => setValues(texts(now.value)));
  const key = useMemo(() => new RequestKey(), []);
  const body = made<Good>({ ...values, orden: "" }, lines.mercancia);
  useEffect(() => {
    const end = new AbortController();
    const timer = setTimeout(() => {
      ask(api.POST("/cartas/{id}/revision", { params: { path: { id } }, body: { mercancias: [body] }, signal: end.signal })).then((r) => setFaults(r.faltas), () => {}); // retried on the next key press
    }, 300);
    return () => { clearTimeout(timer); end.abort(); };
  }, [values]);
  const wrong = (name: string) => (values[name] ? faults.find((f) => f.campo === `mercancias[0].${name}`)?.mensaje : undefined) ?? problem?.field(name) ?? problem?.field(`mercancias[0].${name}`);
  const send = async () => {
    try {
      if (loaded && good) {
        const put = (tag: string | undefined) => ask(api.PUT("/cartas/{id}/mercancias/{orden}", { params: { path: { id, orden: good.orden ?? 0 }, header: match(tag) }, body }));
        await unless(version.header()["If-Match"], put, async () => {
          const now = await current(id, good);
          if (alike(now.value, good)) return now.tag;
          if (now.count < loaded.count) throw gone(); // another one has this number
          return undefined;
        });
      } else {
        const goods = { mercancias: [body] };
        await ask(api.POST("/cartas/{id}/mercancias", { params: { path: { id }, header: { "Idempotency-Key": key.for(goods) } }, body: goods }));
        key.done();
      }
      await onDone();
    } catch (thrown) {
      const p = Problem.of(thrown);
      setProblem(p);
      if (!version.refused(p) && p.fields.length === 0) toastProblem(p);
    }
  };
  return (
    <Dialog open wide title={t(good ? "good.edit" : "good.add")} onClose={onClose} actions={<><Button onPress={onClose}>{t("back")}</Button><Button kind="primary" type="submit" form="good">{t("save")}</Button></>}>
      <Form id="good" class="stack" onSubmit={send}>
        <Conflict version={version} />
        <Lines lines={lines.mercancia} values={values} onInput={(v) => { setValues(v); setProblem(undefined); }} wrong={wrong} />
      </Form>
    </Dialog>
  );
}
