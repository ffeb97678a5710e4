// Signing in with the server's own identities: an access key signs the console's requests.
import { KeyRound, LogIn, LogOut } from "lucide";
import { useState } from "preact/hooks";
import { Button, Card, Dialog, Menu, Notice, Problem, TextField } from "#ui";
import { about, sessionEnded, signIn, signOut, user } from "./api.ts";
import { t } from "./words.ts";

export function Who() {
  return user.value === undefined ? null : <Menu label={t("signIn.who")} icon={KeyRound} items={[{ title: user.value }, { label: t("signOut"), icon: LogOut, onPress: () => void signOut() }]} />;
}

/** AWS's message is too long for a form: it contains what should have been signed. */
const wrong = ["InvalidSignatureException", "UnrecognizedClientException"];

export function SignInPage() {
  return (
    <div class="sign-in">
      <h1>{t("signIn")}</h1>
      <Card>{about.signIn === "insecure" ? <Notice tone="warning">{t("signIn.insecure")}</Notice> : <SignInForm text={t("signIn.text")} />}</Card>
    </div>
  );
}

/** Over the view in which the session has ended. If it is closed, the next request shows it again. */
export function SignInAgain() {
  return <Dialog open title={t("signIn.ended")} onClose={() => { sessionEnded.value = false; }}><SignInForm text={t("signIn.endedText")} /></Dialog>;
}

function SignInForm({ text }: { text: string }) {
  const [key, set] = useState({ accessKeyId: "", secretAccessKey: "", sessionToken: "" });
  const [problem, setProblem] = useState<Problem | undefined>();
  const [busy, setBusy] = useState(false);
  const send = async (event: Event) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget as HTMLFormElement); // the current text: the last key press may not have been rendered yet
    const field = (name: string) => String(typed.get(name) ?? "").trim();
    setBusy(true);
    setProblem(undefined);
    try {
      await signIn({ accessKeyId: field("id"), secretAccessKey: field("secret"), sessionToken: field("token") });
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
    setBusy(false);
  };
  return (
    <form class="stack" onSubmit={send}>
      <p class="muted">{text}</p>
      {problem && <Notice tone="danger">{wrong.includes(problem.code) ? t("signIn.wrong") : problem.detail}</Notice>}
      <TextField label={t("signIn.id")} name="id" value={key.accessKeyId} onInput={(accessKeyId) => set({ ...key, accessKeyId })} autocomplete="username" autofocus />
      <TextField label={t("signIn.secret")} name="secret" type="password" value={key.secretAccessKey} onInput={(secretAccessKey) => set({ ...key, secretAccessKey })} autocomplete="current-password" />
      <TextField label={t("signIn.token")} hint={t("signIn.tokenHint")} name="token" optional value={key.sessionToken} onInput={(sessionToken) => set({ ...key, sessionToken })} autocomplete="off" />
      <Button kind="primary" icon={LogIn} type="submit" loading={busy}>{t("signIn")}</Button>
      <p class="field-hint">{t("signIn.kept")}</p>
    </form>
  );
}
