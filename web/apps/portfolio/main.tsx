import "./style.css";
import { Bell, Bookmark, CircleUser, ExternalLink, FolderOpen, History, MessageSquare, PenLine } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Account, Acts, Button, Empty, NotFound, Shell, SignIn, apiURL, ask, here, inGroup, link, session, start, useTitle, view } from "#ui";
import { api } from "#clients/portfolio";
import { Categories } from "./categories.tsx";
import { Editor } from "./editor.tsx";
import { Bookmarks, Notifications, Posts } from "./lists.tsx";
import { Moderation } from "./moderation.tsx";
import { Profile } from "./profile.tsx";
import { t } from "./words.ts";

/** Signs in and returns to the previous post. */
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

const admins = "portfolio-admin";
const acts = ["putCategory", "placeCategory", "deleteCategory", "deleteComment", "hideComment", "showComment"] as const;

function Activity() {
  useTitle(t("nav.acts"));
  return (
    <div class="stack">
      <h1>{t("nav.acts")}</h1>
      <Acts load={(query, signal) => ask(api.GET("/acts", { params: { query }, signal }))} names={Object.fromEntries(acts.map((a) => [a, t(`acts.${a}`)]))} />
    </div>
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
    "/comments": () => <Moderation />,
    "/categories": () => <Categories />,
    ...(inGroup(admins) ? { "/acts": () => <Activity /> } : {}),
    "/profile": () => <Profile />,
    "/notifications": () => <Notifications />,
    "/bookmarks": () => <Bookmarks />,
    "/sign-in": () => <SignInView />,
  }, () => <NotFound />);
}

function App() {
  return (
    <Shell brand={t("brand")} icon={PenLine} tools={<Account admins items={[{ label: t("nav.profile"), icon: CircleUser, href: link("/profile") }]} />} nav={session.value && [
      { href: link("/"), label: t("nav.posts") },
      { href: link("/comments"), label: t("nav.comments"), icon: MessageSquare },
      { href: link("/notifications"), label: t("nav.notifications"), icon: Bell },
      { href: link("/bookmarks"), label: t("nav.bookmarks"), icon: Bookmark },
      ...(inGroup(admins) ? [{ href: link("/categories"), label: t("nav.categories"), icon: FolderOpen }, { href: link("/acts"), label: t("nav.acts"), icon: History }] : []),
      { href: apiURL("/"), label: t("nav.site"), icon: ExternalLink },
    ]}>
      <Views />
    </Shell>
  );
}

void start(<App />, { reading: true });
