// The form that calls an operation, the same request as text, and the response.
import { LogIn, Play, Square } from "lucide";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Badge, Button, Chips, CodeTabs, JSONText, Notice, Select, SignIn, TextArea, TextField, format, here, language, newKey, session } from "#ui";
import { type API, type Entry, type Example, type Parameter, json, resolved, streams, tokenOf, typeOf } from "./document.ts";
import { type Filled, curl, keyOf, requestOf, script } from "./request.ts";
import { sample } from "./sample.ts";
import { admins } from "./admins.ts";
import { t } from "./words.ts";

const key = "header.Idempotency-Key";

/** The examples of an operation, by title; without any, one is built from its types. */
function examplesOf(api: API, e: Entry): { title: string; filled: Filled }[] {
  const parameters = e.operation.parameters ?? [];
  const body = json(e.operation.requestBody?.content);
  const titles = new Set<string>();
  for (const of of [...parameters, body ?? {}]) {
    for (const title of Object.keys((of as { examples?: Record<string, Example> }).examples ?? {})) titles.add(title);
  }
  const text = (value: unknown) => JSON.stringify(value, null, 2);
  const keyed = (values: Record<string, string>) => (parameters.some((p) => keyOf(p) === key) ? { ...values, [key]: newKey() } : values);
  const made = [...titles].map((title) => ({
    title,
    filled: {
      values: keyed(Object.fromEntries(parameters.flatMap((p) => {
        const value = p.examples?.[title]?.value;
        return value === undefined ? [] : [[keyOf(p), String(value)]];
      }))),
      body: text(body?.examples?.[title]?.value ?? (body ? sample(api, body.schema) : null)),
    },
  }));
  return made.length > 0 ? made : [{ title: "", filled: { values: keyed({}), body: text(body ? sample(api, body.schema) : null) } }];
}

interface Received {
  status: number;
  text: string;
  took: number;
  size: number;
  headers: [string, string][];
  /** A response that is not text. */
  file?: { url: string; type: string };
  open: boolean;
}

export function Try({ api, entry: e }: { api: API; entry: Entry }) {
  const examples = useMemo(() => examplesOf(api, e), [e]);
  const asked = examples.find((x) => x.title === here.value.query.get("example")) ?? examples[0];
  const [chosen, choose] = useState(asked?.title ?? "");
  const [filled, fill] = useState<Filled>(asked?.filled ?? { values: {}, body: "" });
  const [received, setReceived] = useState<Received | undefined>();
  const [fault, setFault] = useState<string | undefined>();
  const [signing, sign] = useState(false);
  const running = useRef<AbortController | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  useEffect(() => () => running.current?.abort(), []);

  const take = (title: string) => {
    choose(title);
    const next = examples.find((x) => x.title === title);
    if (next) fill({ ...next.filled, values: { ...next.filled.values, ...(filled.values[key] ? { [key]: newKey() } : {}) } });
  };
  const wanted = (e.operation.parameters ?? []).filter((p) => p.in === "path" && !filled.values[keyOf(p)]);
  const malformed = e.operation.requestBody !== undefined && !isJSON(filled.body);

  const send = async () => {
    if (wanted.length > 0 || malformed) {
      setFault(malformed ? t("try.malformed") : t("try.wanted", { names: format.list(wanted.map((p) => p.name)) }));
      return;
    }
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    setBusy(true);
    setFault(undefined);
    setReceived(undefined);
    const begun = performance.now();
    const r = requestOf(e, filled, tokenOf(e.operation) === "none" ? undefined : session.value?.token);
    try {
      const response = await fetch(r.url, { method: r.method, headers: { ...r.headers, "Accept-Language": language.value }, ...(r.body === undefined ? {} : { body: r.body }), signal: mine.signal, cache: "no-store" });
      const so: Received = { status: response.status, text: "", took: performance.now() - begun, size: 0, headers: [...response.headers], open: true };
      await read(response, so, (next) => { if (!mine.signal.aborted) setReceived({ ...next }); });
      if (response.status < 300 && filled.values[key]) fill({ ...filled, values: { ...filled.values, [key]: newKey() } }); // the next one is another request
    } catch (thrown) {
      if (mine.signal.aborted) setReceived((a) => a && { ...a, open: false });
      else setFault(thrown instanceof TypeError ? t("try.offline") : String(thrown));
    }
    if (running.current === mine) setBusy(false);
  };
  const shown = requestOf(e, filled, tokenOf(e.operation) === "needed" || (tokenOf(e.operation) === "taken" && session.value) ? "$TOKEN" : undefined);

  return (
    <section id="try" class="card try" aria-label={t("try")}>
      <form class="stack" onSubmit={(event) => { event.preventDefault(); void send(); }}
        onKeyDown={(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); void send(); } }}>
        <h2>{t("try")}</h2>
        {tokenOf(e.operation) === "needed" && !session.value && (
          <Notice tone="info"><span class="row">{t("try.signIn")} <Button size="small" icon={LogIn} onPress={() => sign(true)}>{t("signIn")}</Button></span></Notice>
        )}
        {examples.length > 1 && <Chips label={t("try.example")} choices={examples.map((x) => ({ value: x.title, label: x.title }))} chosen={[chosen]} onChoose={([title]) => take(title ?? "")} />}
        {(e.operation.parameters ?? []).map((p) => (
          <Input key={keyOf(p)} api={api} parameter={p} value={filled.values[keyOf(p)] ?? ""} onInput={(value) => fill({ ...filled, values: { ...filled.values, [keyOf(p)]: value } })} />
        ))}
        {e.operation.requestBody && (
          <div class="mono"><TextArea label={t("body")} rows={8} value={filled.body} onInput={(body) => fill({ ...filled, body })} error={malformed ? t("try.malformed") : undefined} /></div>
        )}
        <div class="row">
          <Button kind="primary" type="submit" icon={Play} disabled={busy && !streams(e.operation)}>{t("try.send")}</Button>
          {busy && <Button icon={Square} onPress={() => { running.current?.abort(); setBusy(false); }}>{t("try.stop")}</Button>}
          <span class="muted small wide-only">{t("try.keys")}</span>
        </div>
        {fault && <p class="field-error" role="alert">{fault}</p>}
      </form>
      <div aria-live="polite">{received && <Shown received={received} />}</div>
      <CodeTabs wrap label={t("try.asText")} texts={[{ key: "curl", label: "curl", text: curl(shown) }, { key: "script", label: "JavaScript", text: script(shown) }]} />
      <SignIn open={signing} admins={admins} onClose={() => sign(false)} />
    </section>
  );
}

function Input({ api, parameter: p, value, onInput }: { api: API; parameter: Parameter; value: string; onInput: (value: string) => void }) {
  const schema = resolved(api, p.schema);
  const choices = typeOf(schema) === "boolean" ? ["true", "false"] : schema.enum?.map(String);
  if (choices) {
    return <Select label={p.name} optional={!p.required} value={value} onInput={onInput} empty={schema.default === undefined ? "" : String(schema.default)} choices={choices.map((c) => ({ value: c, label: c }))} />;
  }
  return <TextField label={p.name} optional={!p.required} value={value} onInput={onInput} placeholder={schema.default === undefined ? "" : String(schema.default)} autocomplete="off" />;
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Reads a response as a stream, so that events appear. */
async function read(response: globalThis.Response, received: Received, show: (a: Received) => void): Promise<void> {
  const type = response.headers.get("Content-Type") ?? "";
  if (type !== "" && !/^text\/|json|xml/.test(type)) {
    const file = await response.blob();
    show({ ...received, size: file.size, file: { url: URL.createObjectURL(file), type }, open: false });
    return;
  }
  const decoder = new TextDecoder();
  const events = type.startsWith("text/event-stream");
  if (events) show(received);
  for (const reader = response.body?.getReader(); reader;) {
    const { done, value } = await reader.read();
    if (done) break;
    received.size += value.length;
    received.text += decoder.decode(value, { stream: true });
    if (events) show(received);
  }
  if (isJSON(received.text)) received.text = JSON.stringify(JSON.parse(received.text), null, 2);
  show({ ...received, open: false });
}

function Shown({ received: a }: { received: Received }) {
  return (
    <div class="stack received" data-state={a.open ? "open" : "done"}>
      <div class="row">
        <Badge tone={a.status < 300 ? "success" : a.status < 500 ? "warning" : "danger"}>{String(a.status)}</Badge>
        <span class="muted small">{t("try.took", { took: format.number(Math.round(a.took)), size: format.number(a.size) })}</span>
        {a.open && <Badge tone="info">{t("try.open")}</Badge>}
      </div>
      {a.file ? <a class="button secondary" href={a.file.url} download="response">{t("try.file", { type: a.file.type })}</a> : a.text !== "" && <JSONText text={a.text} label={t("try.response")} />}
      <details class="inner">
        <summary>{t("try.headers")}</summary>
        <dl class="headers">{a.headers.map(([name, value]) => <div key={name}><dt><code>{name}</code></dt><dd><code>{value}</code></dd></div>)}</dl>
      </details>
    </div>
  );
}
