import { BadgeCheck, CircleUser, KeyRound, LogIn, LogOut, MailCheck, Monitor, Receipt, UserRound } from "lucide";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api, type Schemas } from "#clients/catfecito";
import { Avatar, Badge, Button, Dialog, Empty, Failed, Form, Menu, MoreButton, Paged, Problem, RequestKey, Skeleton, TextField, ask, Icon, deviceOf, format, link, page, session, signInAtDemo, toast, toastProblem, usePages, useTitle } from "#ui";
import { asking, hasAccount, loadMe, logOut, me, meProblem, opened } from "./auth.ts";
import { Panel } from "./panel.tsx";
import { t } from "./words.ts";

/** The logged-in user, for the header. */
export function AccountMenu() {
  const who = session.value;
  if (!who) {
    return <Button size="small" icon={LogIn} label={t("account.logIn")} onPress={() => { asking.value = {}; }}><span class="log-in-text">{t("account.logIn")}</span></Button>;
  }
  return (
    <Menu label={t("account.menu")} icon={CircleUser} items={[
      { title: me.value?.name ?? who.sub },
      { label: t("nav.account"), icon: UserRound, href: link("/account") },
      { label: t("nav.orders"), icon: Receipt, href: link("/orders") },
      "line",
      { label: t("account.logOut"), icon: LogOut, onPress: () => void logOut() },
    ]} />
  );
}

type Mode = "logIn" | "signUp" | "forgot" | "reset";

/** Log in, sign up, or set a new password with a code, in one dialog. */
export function SignIn() {
  const open = asking.value !== undefined;
  const [mode, setMode] = useState<Mode>("logIn");
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [problem, setProblem] = useState<Problem | undefined>();
  const key = useMemo(() => new RequestKey(), []);
  useEffect(() => {
    if (!open) return;
    setMode("logIn");
    setPassword("");
    setCode("");
    setProblem(undefined);
  }, [open]);
  const to = (next: Mode) => { setMode(next); setProblem(undefined); };
  const done = () => {
    const then = asking.value?.then;
    asking.value = undefined;
    then?.();
  };
  const steps: Record<Mode, () => Promise<void>> = {
    logIn: async () => { opened(await ask(api.POST("/login", { body: { email, password } }))); done(); },
    signUp: async () => {
      const body = { email, name: name.trim(), password };
      await ask(api.POST("/users", { params: { header: { "Idempotency-Key": key.for(body) } }, body }));
      opened(await ask(api.POST("/login", { body: { email, password } })));
      key.done();
      void api.POST("/me/verification"); // the code is entered on the account page
      if (!asking.value?.then) toast("success", t("account.welcome", { name: body.name }));
      done();
    },
    forgot: async () => {
      await ask(api.POST("/password-resets", { body: { email } }));
      to("reset");
    },
    reset: async () => {
      await ask(api.PUT("/password-resets", { body: { email, code: code.trim(), password } }));
      opened(await ask(api.POST("/login", { body: { email, password } })));
      toast("success", t("account.passwordSet"));
      done();
    },
  };
  const send = async () => {
    setProblem(undefined);
    try {
      await steps[mode]();
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
  };
  const demo = async (user: string, admin: boolean) => {
    try {
      await signInAtDemo(user, admin);
      done();
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  const fresh = mode === "signUp" || mode === "reset";
  const loose = problem && !["email", "name", "password", "code"].some((f) => problem.field(f)) ? problem.detail : undefined;
  return (
    <Dialog open={open} title={t(`signIn.${mode}`)} onClose={() => { asking.value = undefined; }}>
      <Form class="stack" onSubmit={send}>
        {mode === "forgot" && <p class="muted">{t("signIn.forgotText")}</p>}
        {mode === "reset" && <p class="muted">{t("signIn.resetText", { email })}</p>}
        {mode === "signUp" && <TextField label={t("account.name")} name="name" autocomplete="name" maxLength={100} value={name} onInput={setName} error={problem?.field("name")} />}
        {mode !== "reset" && <TextField label={t("account.email")} name="email" type="email" autocomplete="email" maxLength={254} value={email} onInput={setEmail} error={problem?.field("email")} />}
        {mode === "reset" && <TextField label={t("account.code")} name="code" inputMode="numeric" autocomplete="one-time-code" maxLength={6} value={code} onInput={setCode} error={problem?.field("code")} />}
        {mode !== "forgot" && (
          <TextField label={t(mode === "reset" ? "account.newPassword" : "account.password")} name="password" type="password" autocomplete={fresh ? "new-password" : "current-password"}
            {...(fresh ? { minLength: 8, hint: t("account.passwordHint") } : {})} maxLength={128} value={password} onInput={setPassword} error={problem?.field("password")} />
        )}
        {loose && <p class="field-error" role="alert">{loose}</p>}
        <Button kind="primary" size="large" wide type="submit">{t(`signIn.${mode}Do`)}</Button>
        <div class="row sign-in-more">
          {mode === "logIn" && <><Button kind="quiet" onPress={() => to("signUp")}>{t("signIn.toSignUp")}</Button><Button kind="quiet" onPress={() => to("forgot")}>{t("signIn.toForgot")}</Button></>}
          {mode !== "logIn" && <Button kind="quiet" onPress={() => to("logIn")}>{t("signIn.toLogIn")}</Button>}
        </div>
        {page.tokens && mode === "logIn" && (
          <div class="demo-in">
            <span class="muted small">{t("signIn.demo")}</span>
            <div class="row"><Button onPress={() => demo("u-123", false)}>{t("signIn.demoCustomer")}</Button><Button onPress={() => demo("u-1", true)}>{t("signIn.demoStaff")}</Button></div>
          </div>
        )}
      </Form>
    </Dialog>
  );
}

/** The user's account: e-mail address, password, sessions. */
export function AccountPage() {
  useTitle(t("nav.account"));
  const user = me.value;
  if (!session.value) {
    return <Empty icon={CircleUser} title={t("account.signedOut")} action={<Button kind="primary" onPress={() => { asking.value = {}; }}>{t("account.logIn")}</Button>} />;
  }
  if (!user && meProblem.value) {
    return <Failed problem={meProblem.value} onRetry={() => void loadMe()} />;
  }
  if (!user && hasAccount()) {
    return <Skeleton lines={6} />;
  }
  if (!user) {
    return <Empty icon={CircleUser} title={session.value.sub}>{t("account.noUser")}</Empty>;
  }
  return (
    <div class="stack narrow">
      <div class="row"><Avatar name={user.name} size={48} /><div class="grow"><h1>{user.name}</h1><span class="muted">{user.email}</span></div>{user.role === "admin" && <Badge tone="accent">{t("role.admin")}</Badge>}</div>
      <Verification user={user} />
      <PasswordForm />
      <Devices />
    </div>
  );
}

function Verification({ user }: { user: Schemas["User"] }) {
  const [code, setCode] = useState("");
  const [problem, setProblem] = useState<Problem | undefined>();
  if (user.verifiedAt) {
    return <Panel title={<span class="row"><BadgeCheckIcon />{t("verify.done")}</span>}><p class="muted">{t("verify.doneText", { day: format.day(user.verifiedAt) })}</p></Panel>;
  }
  const again = async () => {
    try {
      await ask(api.POST("/me/verification"));
      toast("success", t("verify.sent", { email: user.email }));
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  const send = async () => {
    try {
      me.value = await ask(api.PUT("/me/verification", { body: { code: code.trim() } }));
      toast("success", t("verify.done"));
    } catch (thrown) {
      setProblem(Problem.of(thrown));
    }
  };
  return (
    <Panel title={t("verify.title")} action={<Button size="small" icon={MailCheck} onPress={again}>{t("verify.send")}</Button>}>
      <Form class="row inline-form" onSubmit={send}>
        <TextField label={t("account.code")} inputMode="numeric" autocomplete="one-time-code" maxLength={6} pattern="[0-9]{6}" value={code} onInput={setCode} error={problem ? problem.field("code") ?? problem.detail : undefined} hint={t("verify.hint", { email: user.email })} />
        <Button kind="primary" type="submit">{t("verify.do")}</Button>
      </Form>
    </Panel>
  );
}

function BadgeCheckIcon() {
  return <Icon of={BadgeCheck} />;
}

function PasswordForm() {
  const [old, setOld] = useState("");
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState<Problem | undefined>();
  const send = async () => {
    setProblem(undefined);
    try {
      opened(await ask(api.PUT("/me/password", { body: { oldPassword: old, password } })));
      setOld("");
      setPassword("");
      toast("success", t("account.passwordSet"));
    } catch (thrown) {
      const found = Problem.of(thrown);
      setProblem(found);
      if (found.fields.length === 0) toastProblem(found);
    }
  };
  return (
    <Panel title={t("password.title")}>
      <Form class="stack" onSubmit={send}>
        <div class="pair">
          <TextField label={t("password.old")} type="password" autocomplete="current-password" value={old} onInput={setOld} error={problem?.field("oldPassword")} />
          <TextField label={t("account.newPassword")} type="password" autocomplete="new-password" minLength={8} maxLength={128} value={password} onInput={setPassword} error={problem?.field("password")} hint={t("account.passwordHint")} />
        </div>
        <div><Button icon={KeyRound} type="submit">{t("password.do")}</Button></div>
      </Form>
    </Panel>
  );
}

function Devices() {
  const list = usePages<Schemas["Device"]>((cursor, signal) => ask(api.GET("/me/sessions", { params: { query: { cursor } }, signal })), [session.value?.sub]);
  const end = async (sessionId: string) => {
    try {
      await ask(api.DELETE("/me/sessions/{sessionId}", { params: { path: { sessionId } } }));
      list.change((all) => all.filter((d) => d.sessionId !== sessionId));
    } catch (thrown) {
      toastProblem(thrown);
    }
  };
  return (
    <Panel title={t("devices.title")}>
      <Paged pages={list}>
        {(devices) => (
          <ul class="stack devices">
            {devices.map((d) => (
              <li key={d.sessionId} class="row fixed">
                <Icon of={Monitor} />
                <span class="grow"><span>{deviceOf(d.device) ?? t("devices.unknown")}</span><br /><span class="muted small">{t("devices.used", { when: format.relative(d.usedAt) })}</span></span>
                <Button size="small" onPress={() => end(d.sessionId)}>{t("account.logOut")}</Button>
              </li>
            ))}
          </ul>
        )}
      </Paged>
      <div class="row"><MoreButton pages={list} /></div>
    </Panel>
  );
}
