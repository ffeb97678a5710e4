import { Lock } from "lucide";
import { Button, Empty, NotFound, here, link, session, useTitle } from "#ui";
import { asking, isStaff } from "./auth.ts";
import { Board } from "./desk-board.tsx";
import { Categories, Products, Users } from "./desk-shelf.tsx";
import { t } from "./words.ts";

const parts = ["board", "products", "categories", "users"] as const;

/** The desk of staff: orders as they come in, what is on the shelf, and who works here. */
export function Desk({ part }: { part: string }) {
  const known = parts.find((p) => p === part);
  useTitle(t("nav.desk"));
  if (!session.value || !isStaff.value) {
    return (
      <Empty icon={Lock} title={t("desk.staffOnly")} action={session.value ? <Button href={link("/")}>{t("menu.back")}</Button> : <Button kind="primary" onPress={() => { asking.value = {}; }}>{t("account.logIn")}</Button>}>
        {t("desk.staffOnlyText")}
      </Empty>
    );
  }
  if (!known) return <NotFound />;
  return (
    <div class="stack desk">
      <div class="desk-head">
        <h1>{t("nav.desk")}</h1>
        <nav class="rail" aria-label={t("nav.desk")}>
          {parts.map((p) => <a key={p} href={p === "board" ? link("/desk") : link("/desk/:part", { part: p })} aria-current={p === known ? "page" : undefined}>{t(`desk.${p}`)}</a>)}
        </nav>
      </div>
      {known === "board" && <Board />}
      {known === "products" && <Products wanted={here.value.query.get("show") ?? ""} />}
      {known === "categories" && <Categories />}
      {known === "users" && <Users />}
    </div>
  );
}
