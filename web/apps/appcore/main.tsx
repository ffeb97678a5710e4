import "./style.css";
import { Bell, Gauge, LogIn, Wallet as WalletIcon } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Account, Badge, Button, Empty, NotFound, Shell, SignIn, format, inGroup, link, session, start, view } from "#ui";
import { watchOwn } from "./feed.ts";
import { Notifications, unread, watchUnread } from "./notifications.tsx";
import { Operate } from "./operate.tsx";
import { Transaction } from "./transaction.tsx";
import { Wallet } from "./wallet.tsx";
import { t } from "./words.ts";

function Welcome() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Empty level={1} icon={WalletIcon} title={t("page.description")} action={<Button kind="primary" size="large" icon={LogIn} onPress={() => setOpen(true)}>{t("welcome.signIn")}</Button>}>{t("welcome.about")}</Empty>
      <SignIn open={open} admins onClose={() => setOpen(false)} />
    </>
  );
}

function App() {
  const who = session.value;
  const operator = inGroup("appcore-admin");
  useEffect(() => {
    if (!who) return undefined;
    const stops = [watchUnread(), watchOwn()];
    return () => stops.forEach((stop) => stop());
  }, [who?.sub]);
  const count = unread.value;
  return (
    <Shell brand={t("page.title")} icon={WalletIcon} tools={<Account admins />} nav={!who ? [] : [
      { href: link("/"), label: t("nav.wallet"), icon: WalletIcon },
      { href: link("/notifications"), label: t("nav.notifications"), icon: Bell, badge: count > 0 && <Badge tone="accent" plain>{format.number(count)}</Badge> },
      ...(operator ? [{ href: link("/operate"), label: t("nav.operate"), icon: Gauge }] : []),
    ]}>
      {!who ? <Welcome /> : view({
        "/": () => <Wallet key={who.sub} />, "/transactions/:id": (v) => <Transaction id={v["id"] ?? ""} />,
        "/notifications": () => <Notifications key={who.sub} />, ...(operator ? { "/operate": () => <Operate /> } : {}),
      }, () => <NotFound />)}
    </Shell>
  );
}

void start(<App />);
