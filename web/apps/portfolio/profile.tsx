import { Download, Save, Trash2 } from "lucide";
import { useState } from "preact/hooks";
import { Button, Card, Confirm, Failed, Form, Problem, Skeleton, TextArea, TextField, ask, session, signOut, toast, toastProblem, useLoaded, useTitle } from "#ui";
import { api, type Schemas } from "#clients/portfolio";
import { Picture } from "./images.tsx";
import { t } from "./words.ts";

type Input = Schemas["ProfileInput"];

/** The user's profile and personal data. */
export function Profile() {
  const found = useLoaded<Input>(async (signal) => {
    try {
      const { email, name, bio, avatarId } = await ask(api.GET("/me", { signal }));
      return { email, name, bio, ...(avatarId ? { avatarId } : {}) };
    } catch (thrown) {
      if (Problem.of(thrown).status === 404) return { email: "", name: "", bio: "" }; // no profile yet
      throw thrown;
    }
  }, []);
  useTitle(t("nav.profile"));
  if (found.problem.value) {
    return <Failed problem={found.problem.value} onRetry={found.reload} />;
  }
  return (
    <div class="stack reading" style={{ "--gap": "var(--space-6)" }}>
      <h1>{t("nav.profile")}</h1>
      {found.value.value ? <ProfileForm profile={found.value.value} /> : <Skeleton lines={6} />}
      <YourData />
    </div>
  );
}

function ProfileForm({ profile }: { profile: Input }) {
  const [input, setInput] = useState(profile);
  const [problem, setProblem] = useState<Problem | undefined>();
  const set = (part: Partial<Input>) => setInput((before) => ({ ...before, ...part }));
  const send = async () => {
    setProblem(undefined);
    try {
      await ask(api.PUT("/me", { body: input }));
      toast("success", t("saved"));
    } catch (thrown) {
      const refused = Problem.of(thrown);
      setProblem(refused);
      if (refused.fields.length === 0 && refused.code !== "email_taken") toastProblem(refused);
    }
  };
  const taken = problem?.code === "email_taken" ? problem.detail : undefined;
  return (
    <Form class="stack" onSubmit={send}>
      <Picture round label={t("profile.picture")} id={input.avatarId} onChange={(avatarId) => setInput(({ avatarId: _, ...rest }) => (avatarId ? { ...rest, avatarId } : rest))} />
      <TextField label={t("profile.name")} name="name" hint={t("profile.nameHint")} value={input.name} maxLength={100} autocomplete="name" error={problem?.field("name")} onInput={(name) => set({ name })} />
      <TextField label={t("profile.email")} name="email" type="email" hint={t("profile.emailHint")} value={input.email} maxLength={254} autocomplete="email" error={problem?.field("email") ?? taken} onInput={(email) => set({ email })} />
      <TextArea label={t("profile.bio")} name="bio" optional value={input.bio ?? ""} maxLength={1000} error={problem?.field("bio")} onInput={(bio) => set({ bio })} />
      <div class="row"><Button kind="primary" type="submit" icon={Save}>{t("save")}</Button></div>
    </Form>
  );
}

/** Export and erasure of the user's data. */
function YourData() {
  const [erasing, setErasing] = useState(false);
  const download = async () => {
    try {
      const copy = await ask(api.GET("/me/data"));
      const at = URL.createObjectURL(new Blob([JSON.stringify(copy, undefined, 2)], { type: "application/json" }));
      const a = document.createElement("a");
      a.href = at;
      a.download = `portfolio-${session.value?.sub ?? ""}.json`;
      a.click();
      URL.revokeObjectURL(at);
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  const erase = async () => {
    try {
      await ask(api.DELETE("/me", { params: { header: { Confirm: "erase" } } }));
      setErasing(false);
      signOut();
      toast("success", t("data.erased"));
    } catch (thrown) {
      setErasing(false);
      toastProblem(thrown);
    }
  };
  return (
    <Card title={t("data.title")} level={2}>
      <p class="muted">{t("data.text")}</p>
      <div class="row your-data">
        <Button icon={Download} onPress={download}>{t("data.copy")}</Button>
        <Button kind="danger" icon={Trash2} onPress={() => setErasing(true)}>{t("data.erase")}</Button>
      </div>
      <Confirm open={erasing} title={t("data.ask")} action={t("data.erase")} danger onClose={() => setErasing(false)} onConfirm={erase}>{t("data.askText")}</Confirm>
    </Card>
  );
}
