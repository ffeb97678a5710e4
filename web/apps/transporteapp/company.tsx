import { useState } from "preact/hooks";
import { Button, Card, Conflict, Form, Notice, Problem, Select, TextField, ask, format, link, tagged, toast, toastProblem, useTitle, useVersion, type Tagged } from "#ui";
import { api, type Schemas } from "#clients/transporteapp";
import type { Profile } from "./data.ts";
import { Lines, made, texts, type Line } from "./form.tsx";
import { add, show, firm } from "./who.ts";
import { t } from "./words.ts";

const zones = ["America/Mexico_City", "America/Monterrey", "America/Chihuahua", "America/Hermosillo", "America/Mazatlan", "America/Tijuana", "America/Cancun"];
/** Cities whose names the zone spells without accents, or in English. */
const cities: Record<string, "zone.mexicoCity" | "zone.mazatlan" | "zone.cancun"> = { "America/Mexico_City": "zone.mexicoCity", "America/Mazatlan": "zone.mazatlan", "America/Cancun": "zone.cancun" };

function zoneName(zone: string): string {
  const known = cities[zone];
  return known ? t(known) : zone.replace(/^.*\//, "").replaceAll("_", " ");
}

interface Said {
  fullName: string;
  email: string;
  timezone: string;
}

function Names({ said, onInput, problem }: { said: Said; onInput: (said: Said) => void; problem: Problem | undefined }) {
  return (
    <>
      <TextField label={t("company.name")} name="fullName" value={said.fullName} onInput={(fullName) => onInput({ ...said, fullName })} error={problem?.field("fullName")} maxLength={200} autocomplete="organization" />
      <TextField label={t("company.email")} name="email" type="email" value={said.email} onInput={(email) => onInput({ ...said, email })} error={problem?.field("email")} autocomplete="email" />
      <Select label={t("company.timezone")} hint={t("company.timezoneHint")} value={said.timezone} onInput={(timezone) => onInput({ ...said, timezone })}
        choices={[...new Set([...zones, said.timezone])].map((z) => ({ value: z, label: zoneName(z) }))} />
    </>
  );
}

function useSaving(said: Parameters<typeof t>[0], refused?: (problem: Problem) => boolean) {
  const [problem, setProblem] = useState<Problem | undefined>();
  const save = async (call: () => Promise<void>) => {
    try {
      await call();
      setProblem(undefined);
      toast("success", t(said));
    } catch (thrown) {
      const p = Problem.of(thrown);
      setProblem(p);
      if (!refused?.(p) && p.fields.length === 0) toastProblem(p);
    }
  };
  return { problem, save };
}

/** The first form of a new company, which creates it with the starting plan. */
export function Company({ sub }: { sub: string }) {
  const [said, setSaid] = useState<Said>({ fullName: "", email: "", timezone: "America/Mexico_City" });
  const { problem, save } = useSaving("company.saved");
  useTitle(t("company.title"));
  const send = () => save(async () => {
    const p = await ask(api.PUT("/perfil", { body: { ...said, fullName: said.fullName.trim(), email: said.email.trim() } }));
    add({ empresaId: sub, nombre: p.fullName, timezone: p.timezone, rol: "propietario" });
  });
  return (
    <div class="narrow stack">
      <h1>{t("company.title")}</h1>
      <p class="muted">{t("company.text")}</p>
      <Card>
        <Form class="stack" onSubmit={send}>
          <Names said={said} onInput={setSaid} problem={problem} />
          <div class="row"><Button kind="primary" type="submit">{t("company.save")}</Button></div>
        </Form>
      </Card>
      <p class="muted small">{t("company.invited")}</p>
    </div>
  );
}

const fiscal: readonly Line[] = [
  { name: "rfcEmisor", label: "fiscal.rfc", max: 13, upper: true },
  { name: "razonSocial", label: "fiscal.name", hint: "fiscal.nameHint", max: 254, upper: true },
  { name: "regimenFiscal", label: "fiscal.regime", catalog: "regimen_fiscal" },
  { name: "domicilioFiscal.codigoPostal", label: "address.zip", max: 5 },
  { name: "domicilioFiscal.estado", label: "address.state", catalog: "estado" },
  { name: "domicilioFiscal.calle", label: "address.street", max: 100, optional: true },
];

/** The company's name, tax details and plan. */
export function CompanyPage({ seen, onSaved }: { seen: Tagged<Profile>; onSaved: (profile: Tagged<Profile>) => void }) {
  const profile = seen.value;
  const saidOf = (p: Profile): Said => ({ fullName: p.fullName, email: p.email, timezone: p.timezone });
  const [said, setSaid] = useState<Said>(() => saidOf(profile));
  const [config, setConfig] = useState(() => texts(profile.config));
  const version = useVersion<Profile>(seen, () => tagged(api.GET("/perfil")), (now) => {
    setSaid(saidOf(now.value));
    setConfig(texts(now.value.config));
    onSaved(now);
  });
  const { problem, save } = useSaving("fleet.saved", version.refused);
  useTitle(t("nav.company"));
  const given = Object.values(config).some((v) => v.trim() !== "");
  const send = () => save(async () => {
    const saved = await tagged(api.PUT("/perfil", { params: { header: version.header() }, body: {
      ...said, ...(profile.avatarUrl ? { avatarUrl: profile.avatarUrl } : {}), ...(given ? { config: made<Schemas["ConfigFiscal"]>(config, fiscal) } : {}),
    } }));
    const p = saved.value;
    version.is(saved.tag);
    onSaved(saved);
    if (firm.value) show({ ...firm.value, nombre: p.fullName, timezone: p.timezone });
  });
  return (
    <Form class="narrow stack" onSubmit={send}>
      <h1>{t("nav.company")}</h1>
      {!profile.config && <Notice>{t("fiscal.needed")}</Notice>}
      <Card title={t("company.section")} level={2}><div class="stack"><Names said={said} onInput={setSaid} problem={problem} /></div></Card>
      <Card title={t("fiscal.section")} level={2}>
        <Lines lines={given ? fiscal : fiscal.map((l) => ({ ...l, optional: true }))} values={config} onInput={setConfig} wrong={(name) => problem?.field(`config.${name}`)} />
      </Card>
      <Card title={t("plan.section")} level={2}>
        <dl class="facts">
          <div><dt>{t("plan.name")}</dt><dd>{profile.subscription.planName}</dd></div>
          <div><dt>{t("plan.until")}</dt><dd>{format.day(profile.subscription.expiresAt)}</dd></div>
          <div><dt>{t("usage.credits")}</dt><dd><span class="number">{format.number(profile.credits.balance)}</span> <span class="muted">{t("usage.reserved", { n: profile.credits.reserved })}</span></dd></div>
        </dl>
        <p class="small"><a href={link("/fleet")}>{t("plan.usage")}</a></p>
      </Card>
      <Conflict version={version} />
      <div class="row"><Button kind="primary" type="submit">{t("save")}</Button></div>
    </Form>
  );
}
