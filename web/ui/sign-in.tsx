import { CircleUser, LogIn, LogOut } from "lucide";
import { useState } from "preact/hooks";
import { Button } from "./parts/button.tsx";
import { Checkbox, TextArea, TextField } from "./parts/field.tsx";
import { Form } from "./parts/form.tsx";
import { Menu, type MenuEntry } from "./parts/menu.tsx";
import { Dialog } from "./parts/overlay.tsx";
import { page } from "./page.ts";
import { Problem } from "./problem.ts";
import { session, signInAtDemo, signInWith, signOut } from "./session.ts";
import { ui } from "./ui-words.ts";

/**
 * The account menu for Shell's tools; with admins if the system has any, the page's own items, and what else it does to sign out. Systems with their own
 * log-in have their own menu.
 */
export function Account({ admins = false, items = [], onSignOut = signOut }: { admins?: boolean; items?: readonly MenuEntry[]; onSignOut?: () => void | Promise<void> }) {
  const [open, setOpen] = useState(false);
  const who = session.value;
  if (who) {
    return <Menu label={ui("account")} icon={CircleUser} items={[{ title: who.sub }, ...items, { label: ui("signOut"), icon: LogOut, onPress: onSignOut }]} />;
  }
  return (
    <>
      <Button kind="primary" size="small" icon={LogIn} onPress={() => setOpen(true)}>{ui("signIn")}</Button>
      <SignIn open={open} admins={admins} onClose={() => setOpen(false)} />
    </>
  );
}

/** On the demo a name is enough; elsewhere a token of the user pool is required. */
export function SignIn({ open, admins, onClose }: { open: boolean; admins: boolean; onClose: () => void }) {
  const [user, setUser] = useState("u-123");
  const [admin, setAdmin] = useState(false);
  const [token, setToken] = useState("");
  const [fault, setFault] = useState<string | undefined>();
  const send = async () => {
    setFault(undefined);
    try {
      if (page.tokens) {
        await signInAtDemo(user.trim(), admin);
        onClose();
      } else if (signInWith(token)) {
        onClose();
      } else {
        setFault(ui("signIn.bad"));
      }
    } catch (thrown) {
      setFault(Problem.of(thrown).detail);
    }
  };
  return (
    <Dialog open={open} title={ui("signIn")} onClose={onClose} actions={
      <>
        <Button onPress={onClose}>{ui("cancel")}</Button>
        <Button kind="primary" type="submit" form="sign-in">{ui("signIn")}</Button>
      </>
    }>
      <Form id="sign-in" class="stack" onSubmit={send}>
        {page.tokens
          ? <TextField label={ui("signIn.user")} hint={ui("signIn.userHint")} error={fault} value={user} onInput={setUser} autocomplete="username" maxLength={100} autofocus />
          : <TextArea label={ui("signIn.token")} hint={ui("signIn.tokenHint")} error={fault} value={token} onInput={setToken} />}
        {page.tokens && admins && <Checkbox label={ui("signIn.admin")} checked={admin} onInput={setAdmin} />}
      </Form>
    </Dialog>
  );
}
