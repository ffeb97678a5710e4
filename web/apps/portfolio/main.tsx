import "./style.css";
import { Bell, Bookmark, ExternalLink, PenLine } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Account, Button, Empty, NotFound, Shell, SignIn, apiURL, here, link, session, start, useTitle, view } from "#ui";
import { Editor } from "./editor.tsx";
import { Bookmarks, Notifications, Posts } from "./lists.tsx";
import { t } from "./words.ts";

/** Signs in, and goes back to the post that one came from. */
function SignInView() {
  const back = here.value.query.get("back") ?? "";
  const [open, setOpen] = useState(true);
  const signedIn = session.value !== undefined;
  useTitle(t("signIn"));
  useEffect(() => {
    if (signedIn) location.assign(/^p\/[a-z0-9-]+$/.test(back) ? apiURL(`/${back}`) : link("/"));
  }, [signedIn]);
  return (
    <>
      <Empty icon={PenLine} title={t("signIn")} action={<Button kind="primary" onPress={() => setOpen(true)}>{t("signIn")}</Button>}>{t("signIn.text")}</Empty>
      <SignIn open={open} admins onClose={() => setOpen(false)} />
    </>
  );
}

function Views() {
  if (session.value === undefined) {
    return <SignInView />;
  }
  return view({
    "/": () => <Posts />,
    "/write": () => <Editor />,
    "/posts/:id": (v) => <Editor id={v["id"] ?? ""} />,
    "/notifications": () => <Notifications />,
    "/bookmarks": () => <Bookmarks />,
    "/sign-in": () => <SignInView />,
  }, () => <NotFound />);
}

function App() {
  return (
    <Shell brand={t("brand")} icon={PenLine} tools={<Account admins />} nav={session.value && [
      { href: link("/"), label: t("nav.posts") },
      { href: link("/notifications"), label: t("nav.notifications"), icon: Bell },
      { href: link("/bookmarks"), label: t("nav.bookmarks"), icon: Bookmark },
      { href: apiURL("/"), label: t("nav.site"), icon: ExternalLink },
    ]}>
      <Views />
    </Shell>
  );
}

void start(<App />, { reading: true });
