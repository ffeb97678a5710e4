// One operation: its inputs and responses, and the form that calls it.
import { ChevronDown, KeyRound, LockOpen, Play, Radio, SearchX } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Badge, Breadcrumb, CopyButton, Empty, Button, Icon, JSONText, Tabs, apiURL, link, useTitle } from "#ui";
import { type API, type Entry, type Method, type Response, type Schema, json, nameOf, responsesOf, shortType, streams, tokenOf } from "./document.ts";
import { sample } from "./sample.ts";
import { Fields, Parameters } from "./schema.tsx";
import { Try } from "./try.tsx";
import { t } from "./words.ts";

export function MethodName({ method }: { method: Method }) {
  return <span class={`method ${method}`}>{method === "delete" ? "DEL" : method.toUpperCase()}</span>;
}

export function OperationView({ api, id }: { api: API; id: string }) {
  const e = api.entries.find((o) => o.id === id);
  useTitle(e?.operation.summary);
  if (!e) {
    return <Empty level={1} icon={SearchX} title={t("operation.none", { id })} action={<Button href={link("/")}>{t("overview")}</Button>} />;
  }
  return <Operation key={e.id} api={api} entry={e} />;
}

function Operation({ api, entry: e }: { api: API; entry: Entry }) {
  const o = e.operation;
  const body = json(o.requestBody?.content)?.schema;
  const token = tokenOf(o);
  return (
    <article class="operation">
      <header class="stack operation-head">
        <Breadcrumb steps={[{ label: t("overview"), href: link("/") }, { label: e.tag }]} />
        <h1 lang="en">{o.summary ?? e.id}</h1>
        <div class="row fixed address">
          <MethodName method={e.method} />
          <code class="grow">{new URL(apiURL("")).pathname.replace(/\/$/, "")}<Path path={e.path} /></code>
          <CopyButton text={apiURL(e.path)} label={t("copyAddress")} />
        </div>
        <div class="row">
          {token === "none" ? <Badge plain><Icon of={LockOpen} size={12} />{t("token.none")}</Badge> : <Badge plain tone={token === "needed" ? "accent" : "info"}><Icon of={KeyRound} size={12} />{t(`token.${token}`)}</Badge>}
          {streams(o) && <Badge plain tone="info"><Icon of={Radio} size={12} />{t("events")}</Badge>}
          <code class="muted small">{e.id}</code>
          <Button class="jump" size="small" icon={Play} onPress={() => document.getElementById("try")?.scrollIntoView()}>{t("try")}</Button>
        </div>
        {o.description?.split("\n\n").map((p) => <p key={p} class="reading" lang="en">{p}</p>)}
      </header>
      <div class="columns">
        <div class="stack parts">
          {(o.parameters ?? []).length > 0 && <section><h2>{t("parameters")}</h2><Parameters api={api} parameters={o.parameters ?? []} /></section>}
          {body && <section><h2>{t("body")}</h2><Fields api={api} schema={body} /></section>}
          <Responses api={api} entry={e} />
        </div>
        <div class="stack sticky">
          <Try api={api} entry={e} />
          <Examples api={api} entry={e} />
        </div>
      </div>
    </article>
  );
}

/** A path with highlighted parameters. */
function Path({ path }: { path: string }) {
  return <>{path.split(/(\{\w+\})/).map((part, n) => (part.startsWith("{") ? <span key={n} class="place">{part}</span> : part))}</>;
}

function Responses({ api, entry: e }: { api: API; entry: Entry }) {
  const { good, own, common } = responsesOf(e.operation);
  return (
    <section>
      <h2>{t("responses")}</h2>
      <ul class="responses">
        {good.map(([status, r], n) => {
          const schema = json(r.content)?.schema ?? r.content?.["text/event-stream"]?.schema;
          const name = schema && (nameOf(schema) ?? shortType(api, schema));
          const before = n > 0 && name !== undefined && name === nameOf(json(good[n - 1]?.[1].content)?.schema);
          return (
            <li key={status}>
              <div class="row"><Badge tone="success">{status}</Badge><span lang="en">{r.description}</span>{name && <span class="type">{name}</span>}</div>
              {schema?.["x-events"] && <Events events={schema["x-events"]} />}
              {schema && !before && json(r.content) && <Fields api={api} schema={schema} />}
            </li>
          );
        })}
        {own.map(([status, r]) => (
          <li key={status}>
            <div class="row"><Badge tone="warning">{status}</Badge><span lang="en">{r.description}</span><a class="type" href={link("/types/:name", { name: "Problem" })}>Problem</a></div>
            <Codes api={api} status={status} codes={r["x-problems"]} />
          </li>
        ))}
      </ul>
      {common.length > 0 && (
        <details class="inner">
          <summary><Icon of={ChevronDown} size={14} />{t("responses.common", { list: common.map(([status]) => status).join(", ") })}</summary>
          <ul class="responses">
            {common.map(([status, r]) => (
              <li key={status}>
                <div class="row"><Badge>{status}</Badge><span lang="en">{r.description}</span></div>
                <Codes api={api} status={status} codes={r["x-problems"]} />
              </li>
            ))}
          </ul>
          <p class="small muted">{t("responses.commonText")} <a href={link("/types/:name", { name: "Problem" })}>Problem</a></p>
        </details>
      )}
    </section>
  );
}

/** The codes of a status, with what they mean. */
function Codes({ api, status, codes = [] }: { api: API; status: string; codes?: string[] | undefined }) {
  return (
    <ul class="fields codes">
      {codes.map((code) => <li key={code}><code class="field-name">{code}</code> <span class="small muted" lang="en">{meaningOf(api, code, Number(status))}</span></li>)}
    </ul>
  );
}

function meaningOf(api: API, code: string, status: number): string | undefined {
  return api.document["x-problems"]?.find((p) => p.code === code && p.status === status)?.detail;
}

/** The events of a stream, by name. */
function Events({ events }: { events: Record<string, Schema> }) {
  return (
    <ul class="fields">
      {Object.entries(events).map(([name, schema]) => {
        const type = nameOf(schema);
        return <li key={name} class="row"><code class="field-name">{name}</code>{type && <a class="type" href={link("/types/:name", { name: type })}>{type}</a>}</li>;
      })}
    </ul>
  );
}

/** Example responses. */
function Examples({ api, entry: e }: { api: API; entry: Entry }) {
  const { good, own } = responsesOf(e.operation);
  const texts = [...good, ...own].flatMap(([status, r]) => {
    const content = json(r.content) ?? r.content?.["application/problem+json"];
    if (!content?.schema) return [];
    const value = sample(api, content.schema) as Record<string, unknown>;
    if (status >= "400") Object.assign(value, problemOf(api, Number(status), r));
    return [{ key: status, label: status, text: JSON.stringify(value, null, 2) }];
  });
  const [chosen, choose] = useState(texts[0]?.key ?? "");
  useEffect(() => choose(texts[0]?.key ?? ""), [e.id]);
  const text = texts.find((x) => x.key === chosen) ?? texts[0];
  if (!text) return null;
  return (
    <section>
      <h2>{t("example.response")}</h2>
      <Tabs label={t("example.response")} tabs={texts} chosen={text.key} onChoose={choose}>
        <JSONText text={text.text} label={t("example.response")} />
      </Tabs>
    </section>
  );
}

/** An example problem of a status. */
function problemOf(api: API, status: number, { description, "x-problems": codes = [] }: Response): Record<string, unknown> {
  const code = codes[0] ?? "error";
  return { title: description, status, detail: meaningOf(api, code, status) ?? "…", code, requestId: "0123456789abcdef", errors: undefined };
}
