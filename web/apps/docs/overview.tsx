// The overview: what the API is, how to call it, all operations; and the list of types.
import { ArrowRight, Boxes, SearchX } from "lucide";
import { Badge, Breadcrumb, Button, Code, Empty, Icon, JSONText, Table, apiURL, format, link, page, useTitle } from "#ui";
import { type API, found, json } from "./document.ts";
import { MethodName } from "./operation.tsx";
import { sample } from "./sample.ts";
import { Fields } from "./schema.tsx";
import { Search, searched } from "./sidebar.tsx";
import { t } from "./words.ts";

export function Overview({ api }: { api: API }) {
  useTitle(undefined);
  const { info } = api.document;
  const examples = api.entries.flatMap((e) => {
    const titles = new Set([...(e.operation.parameters ?? []), json(e.operation.requestBody?.content) ?? {}].flatMap((of) => Object.keys((of as { examples?: object }).examples ?? {})));
    return [...titles].map((title) => ({ title, entry: e }));
  });
  const problems = api.document["x-problems"] ?? [];
  return (
    <div class="stack overview">
      <header class="stack">
        <h1 lang="en">{info.title}</h1>
        <p class="lead" lang="en">{info.description}</p>
        <div class="row">
          <Badge plain tone="accent">{t("version", { version: info.version })}</Badge>
          <span class="muted small">{t("counts", { operations: api.entries.length, types: Object.keys(api.document.components.schemas).length })}</span>
          <a class="small" href={apiURL("/openapi.json")}>openapi.json</a>
        </div>
      </header>
      <div class="narrow-only"><Search api={api} /></div>
      {searched.value.trim() !== "" && <div class="narrow-only"><Listed groups={found(api, searched.value)} /></div>}
      <div class="grid pairs">
        <section class="stack">
          <h2>{t("begin")}</h2>
          <p>{t("begin.address")}</p>
          <Code text={apiURL("")} label={t("begin.address")} wrap />
          <p>{page.tokens ? t("begin.tokenDemo") : t("begin.token")}</p>
          {page.tokens && <Code text={`TOKEN=$(curl -sS ${new URL(page.tokens, document.baseURI).href} -d system=${page.name} -d sub=u-123)`} label={t("begin.tokenDemo")} wrap />}
        </section>
        <section class="stack">
          <h2>{t("rules")}</h2>
          <ul class="rules">
            {(["keys", "lists", "problems", "languages", "versions"] as const).map((rule) => <li key={rule}><b>{t(`rules.${rule}`)}</b> {t(`rules.${rule}.text`)}</li>)}
          </ul>
        </section>
      </div>
      {examples.length > 0 && (
        <section class="stack">
          <h2>{t("examples")}</h2>
          <div class="grid">
            {examples.map((x) => (
              <a key={x.title} class="card example" href={link("/:id", { id: x.entry.id, example: x.title })}>
                <span class="row fixed"><MethodName method={x.entry.method} /><code class="clip grow">{x.entry.path}</code><Icon of={ArrowRight} size={16} /></span>
                <span lang="en">{x.title}</span>
              </a>
            ))}
          </div>
        </section>
      )}
      <section class="stack">
        <h2>{t("operations")}</h2>
        <Listed groups={api.groups} />
      </section>
      {problems.length > 0 && (
        <details class="inner problems">
          <summary><h2>{t("problems")}</h2> {format.number(problems.length)}</summary>
          <p class="reading">{t("problems.text")}</p>
          <Table caption={t("problems")} rows={problems} rowKey={(p) => `${p.code} ${p.status}`} columns={[
            { key: "code", title: t("problems.code"), cell: (p) => <code>{p.code}</code> },
            { key: "status", title: t("problems.status"), cell: (p) => <Badge tone="warning">{String(p.status)}</Badge> },
            { key: "detail", title: t("problems.detail"), cell: (p) => <span lang="en">{p.detail}</span> },
          ]} />
        </details>
      )}
      <section class="stack">
        <h2>{t("types")}</h2>
        <ul class="row names">
          {Object.keys(api.document.components.schemas).sort().map((name) => <li key={name}><a class="type" href={link("/types/:name", { name })}>{name}</a></li>)}
        </ul>
      </section>
    </div>
  );
}

function Listed({ groups }: { groups: API["groups"] }) {
  if (groups.length === 0) {
    return <Empty icon={SearchX} title={t("search.none")} />;
  }
  return (
    <div class="cards">
      {groups.map((g) => (
        <section key={g.tag} class="card">
          <h3>{g.tag}</h3>
          <ul class="listed">
            {g.entries.map((e) => (
              <li key={e.id}><a href={link("/:id", { id: e.id })}><MethodName method={e.method} /><span class="grow"><span lang="en">{e.operation.summary}</span><code class="muted small">{e.path}</code></span></a></li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

export function TypeView({ api, name }: { api: API; name: string }) {
  useTitle(name);
  const schema = api.document.components.schemas[name];
  if (!schema) {
    return <Empty level={1} icon={Boxes} title={t("types.none", { name })} action={<Button href={link("/")}>{t("overview")}</Button>} />;
  }
  const reference = `"#/components/schemas/${name}"`;
  const users = api.entries.filter((e) => JSON.stringify(e.operation).includes(reference));
  return (
    <article class="operation">
      <header class="stack operation-head">
        <Breadcrumb steps={[{ label: t("overview"), href: link("/") }, { label: t("types") }]} />
        <h1>{name}</h1>
        {schema.description && <p class="reading" lang="en">{schema.description}</p>}
      </header>
      <div class="columns">
        <div class="stack parts">
          <section><h2>{t("fields")}</h2><Fields api={api} schema={schema} /></section>
        </div>
        <div class="stack">
          <section><h2>{t("example")}</h2><JSONText text={JSON.stringify(sample(api, schema), null, 2)} label={t("example")} /></section>
          {users.length > 0 && (
            <details class="inner" open={users.length < 12}>
              <summary>{t("types.users", { n: users.length })}</summary>
              <ul class="listed">{users.map((e) => <li key={e.id}><a href={link("/:id", { id: e.id })}><MethodName method={e.method} /><span class="grow" lang="en">{e.operation.summary}</span></a></li>)}</ul>
            </details>
          )}
        </div>
      </div>
    </article>
  );
}
