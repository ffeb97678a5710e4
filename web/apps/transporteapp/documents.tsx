import { Code, FileDown } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { Button, Dialog, Form, Notice, Problem, RequestKey, ask, format, go, link, toastProblem } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import { Lines, made, texts, type Line } from "./form.tsx";
import { t } from "./words.ts";

/** The documents of a stamped carta as files: PDF and XML. */
export function Documents({ id, folio, pdfOnly, size = "small" }: { id: string; folio: string; pdfOnly?: boolean; size?: "small" | "medium" }) {
  const path = { params: { path: { id } } };
  return (
    <>
      <Button size={size} icon={FileDown} onPress={() => keepFile(async () => new Blob([await ask(api.GET("/cartas/{id}/pdf", { ...path, parseAs: "arrayBuffer" })) as ArrayBuffer], { type: "application/pdf" }), `${folio}.pdf`)}>{t("carta.pdf")}</Button>
      {!pdfOnly && <Button size={size} icon={Code} onPress={() => keepFile(async () => new Blob([await ask(api.GET("/cartas/{id}/xml", { ...path, parseAs: "text" })) as string], { type: "application/xml" }), `${folio}.xml`)}>{t("carta.xml")}</Button>}
    </>
  );
}

/** Warns if a trip has another vehicle, trailer, driver or times than its carta, and says what to do. taken: a draft has been filled in from the trip again. */
export function Differences({ trip, view, taken }: { trip: Schemas["ViajeConCarta"]; view: "trip" | "carta" | "driver"; taken?: boolean }) {
  const what = trip.discrepancias ?? [];
  if (what.length === 0) return null;
  const status = trip.fiscal?.cartaPorteStatus;
  const timed = what.every((w) => w === "salida" || w === "llegada");
  const draft = status === "borrador" && (trip.carta?.sellada ? "sealed" : timed ? "times" : view === "trip" ? "draft" : taken ? "taken" : undefined);
  const next = view === "driver" ? "office" : draft || (status === "timbrada" && trip.estado === "programado" ? "stamped" : undefined);
  return <Notice tone="warning">{t("differs", { what: format.list(what.map((w) => t(`unit.${w}`))) })}{next && ` ${t(`differs.${next}`)}`}</Notice>;
}

async function keepFile(load: () => Promise<Blob>, name: string): Promise<void> {
  try {
    const url = URL.createObjectURL(await load());
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
    URL.revokeObjectURL(url);
  } catch (thrown) {
    toastProblem(thrown);
  }
}

export const receiverLines: readonly Line[] = [
  { name: "rfc", label: "fiscal.rfc", max: 13, upper: true },
  { name: "nombre", label: "fiscal.name", hint: "fiscal.nameHint", max: 254, upper: true },
  { name: "regimenFiscal", label: "fiscal.regime", catalog: "regimen_fiscal" },
  { name: "usoCfdi", label: "fiscal.use", catalog: "uso_cfdi" },
  { name: "domicilioFiscal.codigoPostal", label: "address.zip", max: 5 },
  { name: "domicilioFiscal.estado", label: "address.state", catalog: "estado" },
];

/** Starts a carta with its receiver; the rest is filled in from the trip and shown in the editor. replaces: the stamped carta that it replaces, with the same goods. */
export function NewCarta({ trip, replaces, onClose }: { trip: Schemas["ViajeConCarta"]; replaces?: Schemas["Carta"]; onClose: () => void }) {
  const [values, setValues] = useState<Record<string, string>>(() => (replaces ? { ...texts(replaces.receptor) } : { usoCfdi: "S01" }));
  const [problem, setProblem] = useState<Problem | undefined>();
  const key = useMemo(() => new RequestKey(), []);
  const send = async () => {
    const body = { receptor: made<Schemas["Receptor"]>(values, receiverLines), ...(replaces ? { sustituye: replaces.cartaId } : {}) };
    try {
      const carta = await ask(api.POST("/viajes/{id}/cartas", { params: { path: { id: trip.viajeId }, header: { "Idempotency-Key": key.for(body) } }, body }));
      key.done();
      go(link("/cartas/:id", { id: carta.cartaId }));
    } catch (thrown) {
      const p = Problem.of(thrown);
      setProblem(p);
      if (p.fields.length === 0) toastProblem(p);
    }
  };
  return (
    <Dialog open wide title={t(replaces ? "carta.replace" : "carta.make")} onClose={onClose} actions={<><Button onPress={onClose}>{t("back")}</Button><Button kind="primary" type="submit" form="new-carta">{t("carta.begin")}</Button></>}>
      <Form id="new-carta" class="stack" onSubmit={send}>
        <p class="muted">{replaces ? t("carta.replaceText", { folio: replaces.folio }) : t("carta.beginText")}</p>
        <Lines lines={receiverLines} values={values} onInput={(v) => setValues({ ...v })} wrong={(name) => problem?.field(`receptor.${name}`)} />
      </Form>
    </Dialog>
  );
}
