import "./style.css";
import { Armchair, Clapperboard, Heart } from "lucide";
import { NotFound, Shell, here, link, match, session, start, view } from "#ui";
import { History, Home, Join, NewRoom } from "./home.tsx";
import { Room } from "./room.tsx";
import { Enter, Me } from "./who.tsx";
import { t } from "./words.ts";

function App() {
  const joining = match("/join/:code", here.value.path);
  return (
    <Shell brand={t("page.title")} icon={Clapperboard} tools={<Me />}
      nav={session.value ? [{ href: link("/"), label: t("nav.rooms"), icon: Armchair }, { href: link("/matches"), label: t("nav.matches"), icon: Heart }] : []}>
      {session.value ? view({
        "/": () => <Home />, "/new": () => <NewRoom />, "/matches": () => <History />,
        "/join/:code": (v) => <Join code={v["code"] ?? ""} />, "/rooms/:id": (v) => <Room id={v["id"] ?? ""} />,
      }, () => <NotFound />) : <Enter {...(joining ? { title: t("join.coming", { code: joining["code"] ?? "" }) } : {})} />}
    </Shell>
  );
}

void start(<App />, { reading: true });
