import { useState } from "preact/hooks";
import { Button, Card, Problem, Select, TextField, ask, toast, toastProblem, useTitle } from "#ui";
import { api } from "#clients/transporteapp";
import type { Profile } from "./data.ts";
import { t } from "./words.ts";

const zones = ["America/Mexico_City", "America/Monterrey", "America/Chihuahua", "America/Hermosillo", "America/Mazatlan", "America/Tijuana", "America/Cancun"];

/** The first thing a company says of itself; it begins with a plan of its own then. */
export function Company({ onSaved }: { onSaved: (profile: Profile) => void }) {
  const [fullName, setName] = useState("");
  const [email, setEmail] = useState("");
  const [timezone, setZone] = useState("America/Mexico_City");
  const [problem, setProblem] = useState<Problem | undefined>();
  const [busy, setBusy] = useState(false);
  useTitle(t("company.title"));
  const send = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      onSaved(await ask(api.PUT("/perfil", { body: { fullName: fullName.trim(), email: email.trim(), timezone } })));
      toast("success", t("company.saved"));
    } catch (thrown) {
      const p = Problem.of(thrown);
      setProblem(p);
      if (p.fields.length === 0) toastProblem(p);
    }
    setBusy(false);
  };
  return (
    <div class="narrow stack">
      <h1>{t("company.title")}</h1>
      <p class="muted">{t("company.text")}</p>
      <Card>
        <form class="stack" onSubmit={send}>
          <TextField label={t("company.name")} name="fullName" value={fullName} onInput={setName} error={problem?.field("fullName")} maxLength={200} autocomplete="organization" />
          <TextField label={t("company.email")} name="email" type="email" value={email} onInput={setEmail} error={problem?.field("email")} autocomplete="email" />
          <Select label={t("company.timezone")} hint={t("company.timezoneHint")} value={timezone} onInput={setZone} choices={zones.map((z) => ({ value: z, label: z.replace(/^.*\//, "").replaceAll("_", " ") }))} />
          <div class="row"><Button kind="primary" type="submit" loading={busy}>{t("company.save")}</Button></div>
        </form>
      </Card>
    </div>
  );
}
