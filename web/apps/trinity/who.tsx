import { CircleUser, LogOut, PencilLine } from "lucide";
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { Button, Dialog, Form, Menu, Problem, TextArea, TextField, apiURL, keep, kept, language, page, pageData, session, signInAtDemo, signInWith, signOut } from "#ui";
import { t } from "./words.ts";

/** What the server tells the page about its location: systems/trinity/play.go. */
export const place = pageData<{ public?: string; guests: boolean }>() ?? { guests: false };

const keptAs = "trinity name";
const known = signal(kept(keptAs) ?? "");

/** The reader's display name in rooms. */
export function ownName(): string {
  return known.value;
}

function call(name: string): void {
  known.value = name;
  keep(keptAs, name);
}

/** A member's name; a guest's id is meaningless to people. */
export function nameOf(person: { userId: string; name?: string | undefined }): string {
  return person.name || (person.userId.startsWith("guest-") ? t("person.guest") : person.userId);
}

async function signInAsGuest(name: string): Promise<void> {
  const response = await fetch(apiURL("/play/token"), { method: "POST", headers: { "Content-Type": "application/json", "Accept-Language": language.value }, body: JSON.stringify({ name }) });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) {
    throw Problem.response(response, body);
  }
  signInWith((body as { token: string }).token);
}

/** A name is enough to play; if guests cannot sign in, a token is also required. */
export function Enter({ title }: { title?: string }) {
  const [name, setName] = useState(ownName());
  const [token, setToken] = useState("");
  const [fault, setFault] = useState<string | undefined>();
  const [byToken, setByToken] = useState(!place.guests && !page.tokens);
  const send = async () => {
    const said = name.trim();
    setFault(undefined);
    try {
      if (byToken) {
        if (!signInWith(token)) {
          setFault(t("enter.badToken"));
          return;
        }
      } else if (place.guests) {
        await signInAsGuest(said);
      } else {
        await signInAtDemo(said);
      }
      call(said);
    } catch (thrown) {
      const problem = Problem.of(thrown);
      if (problem.status === 403 || problem.status === 404) setByToken(true);
      setFault(problem.status === 400 ? t("enter.badName") : problem.detail);
    }
  };
  return (
    <div class="enter stack">
      <div class="enter-art" aria-hidden="true"><span /><span /><span /></div>
      <h1>{title ?? t("page.description")}</h1>
      <p class="muted">{t("enter.about")}</p>
      <Form class="stack" onSubmit={send}>
        <TextField label={t("enter.name")} value={name} onInput={setName} autocomplete="nickname" maxLength={40} autofocus error={byToken ? undefined : fault} name="name" />
        {byToken && <TextArea label={t("enter.token")} hint={t("enter.tokenHint")} value={token} onInput={setToken} error={fault} />}
        <Button kind="primary" size="large" type="submit" wide>{t("enter.go")}</Button>
      </Form>
    </div>
  );
}

/** The account menu, for Shell's tools. */
export function Me() {
  const [renaming, setRenaming] = useState(false);
  const [name, setName] = useState("");
  const who = session.value;
  if (!who) {
    return null;
  }
  const save = (event: Event) => {
    event.preventDefault();
    call(name.trim());
    setRenaming(false);
  };
  return (
    <>
      <Menu label={t("me")} icon={CircleUser} items={[
        { title: ownName() || nameOf({ userId: who.sub }) },
        { label: t("me.rename"), icon: PencilLine, onPress: () => { setName(ownName()); setRenaming(true); } },
        "line",
        { label: t("me.leave"), icon: LogOut, onPress: signOut },
      ]} />
      <Dialog open={renaming} title={t("me.rename")} onClose={() => setRenaming(false)} actions={<Button kind="primary" type="submit" form="rename">{t("me.save")}</Button>}>
        <form id="rename" onSubmit={save}><TextField label={t("enter.name")} hint={t("me.renameHint")} value={name} onInput={setName} maxLength={40} autofocus /></form>
      </Dialog>
    </>
  );
}
