import { Lock } from "lucide";
import { Acts, Button, Empty, NotFound, ask, here, link, session, useChosenInSight, useTitle } from "#ui";
import { api } from "#clients/catfecito";
import { asking, isStaff } from "./auth.ts";
import { Board } from "./desk-board.tsx";
import { Categories, Products, Users } from "./desk-shelf.tsx";
import { t } from "./words.ts";

const parts = ["board", "products", "categories", "users", "acts"] as const;
const acts = ["putRole", "putCategory", "createProduct", "putProduct", "putProductActive", "restockProduct", "payOrder", "cancelOrder", "shipOrder", "deliverOrder", "retryRefund"] as const;


/** The staff's desk: incoming orders, products, and staff. */
export function Desk({ part }: { part: string }) {
  const known = parts.find((p) => p === part);
  useTitle(t("nav.desk"));
  const rail = useChosenInSight<HTMLElement>(part);
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
        <nav class="rail" ref={rail} aria-label={t("nav.desk")}>
          {parts.map((p) => <a key={p} href={p === "board" ? link("/desk") : link("/desk/:part", { part: p })} aria-current={p === known ? "page" : undefined}>{t(`desk.${p}`)}</a>)}
        </nav>
      </div>
      {known === "board" && <Board />}
      {known === "products" && <Products wanted={here.value.query.get("show") ?? ""} />}
      {known === "categories" && <Categories />}
      {known === "users" && <Users />}
      {known === "acts" && <Acts load={(query, signal) => ask(api.GET("/acts", { params: { query }, signal }))} names={Object.fromEntries(acts.map((a) => [a, t(`acts.${a}`)]))} />}
    </div>
  );
}
