import { Ellipsis, PackagePlus } from "lucide";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Button, Dialog, Form, Menu, Paged, Problem, RequestKey, Table, ask, format, tagged, toastProblem, usePages } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { lines } from "./carta-draft.ts";
import { Lines, made, texts, type Texts } from "./form.tsx";
import { t } from "./words.ts";

type Good = Schemas["Mercancia"];

/** The goods of a carta. There may be thousands, so each is saved individually and immediately. */
export function Goods({ id, editable, onChanged, wrong }: { id: string; editable: boolean; onChanged: () => void; wrong: (path: string) => string | undefined }) {
  const list = usePages<Good>((cursor, signal) => ask(api.GET("/cartas/{id}/mercancias", { params: { path: { id }, query: { limit: 50, ...(cursor ? { cursor } : {}) } }, signal })), [id]);
  const [editing, setEditing] = useState<Good | "new" | undefined>();
  const changed = async () => {
    setEditing(undefined);
    await list.reload();
    onChanged();
  };
  const remove = async (good: Good) => {
    try {
      // With the version, a browser that repeats the request does not remove the good that has moved to this place.
      const { tag } = await tagged(api.GET("/cartas/{id}", { params: { path: { id } } }));
      await ask(api.DELETE("/cartas/{id}/mercancias/{orden}", { params: { path: { id, orden: good.orden ?? 0 }, header: tag ? { "If-Match": tag } : {} } }));
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
          <Table caption={t("good.list")} rows={[...rows]} rowKey={(g) => String(g.orden)} columns={[
            { key: "what", title: t("good.what"), cell: (g) => <span><b>{g.descripcion}</b><br /><span class="muted small number">{g.claveProdServ}</span>{fault(g) && <><br /><span class="field-error">{fault(g)}</span></>}</span> },
            { key: "amount", title: t("good.amount"), numeric: true, cell: (g) => `${format.number(g.cantidad)} ${g.claveUnidad}` },
            { key: "weight", title: t("good.weight"), numeric: true, cell: (g) => `${format.number(g.pesoKg)} kg` },
            { key: "value", title: t("good.value"), numeric: true, cell: (g) => (g.valorMercancia === undefined ? "–" : format.money(g.valorMercancia, g.moneda ?? "MXN")) },
            ...(editable ? [{ key: "do", title: t("actions"), titleHidden: true, cell: (g: Good) => <Menu icon={Ellipsis} size="small" label={t("actions.of", { name: g.descripcion })} items={[
              { label: t("edit"), onPress: () => setEditing(g) }, { label: t("good.remove"), danger: true, onPress: () => void remove(g) },
            ]} /> }] : []),
          ]} />
        )}
      </Paged>
      {editable && <div class="row"><Button size="small" icon={PackagePlus} onPress={() => setEditing("new")}>{t("good.add")}</Button></div>}
      {editing && <Edit id={id} good={editing === "new" ? undefined : editing} onClose={() => setEditing(undefined)} onDone={changed} />}
    </>
  );
}

/** A line of goods, checked against the tax office's rules while typing; errors appear once a field has been touched. */
function Edit({ id, good, onClose, onDone }: { id: string; good: Good | undefined; onClose: () => void; onDone: () => Promise<void> }) {
  const [values, setValues] = useState<Texts>(() => (good ? texts(good) : { claveUnidad: "KGM" }));
  const [faults, setFaults] = useState<readonly Schemas["Falta"][]>([]);
  const [problem, setProblem] = useState<Problem | undefined>();
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
      if (good) {
        await ask(api.PUT("/cartas/{id}/mercancias/{orden}", { params: { path: { id, orden: good.orden ?? 0 } }, body }));
      } else {
        const goods = { mercancias: [body] };
        await ask(api.POST("/cartas/{id}/mercancias", { params: { path: { id }, header: { "Idempotency-Key": key.for(goods) } }, body: goods }));
        key.done();
      }
      await onDone();
    } catch (thrown) {
      const p = Problem.of(thrown);
      setProblem(p);
      if (p.fields.length === 0) toastProblem(p);
    }
  };
  return (
    <Dialog open wide title={t(good ? "good.edit" : "good.add")} onClose={onClose} actions={<><Button onPress={onClose}>{t("back")}</Button><Button kind="primary" type="submit" form="good">{t("save")}</Button></>}>
      <Form id="good" onSubmit={send}>
        <Lines lines={lines.mercancia} values={values} onInput={(v) => { setValues(v); setProblem(undefined); }} wrong={wrong} />
      </Form>
    </Dialog>
  );
}
