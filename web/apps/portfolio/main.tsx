import "./style.css";
import { PenLine } from "lucide";
import { Account, ApiLinks, NotFound, Shell, start, view } from "#ui";
import { t } from "./words.ts";

function Home() {
  return (
    <div class="stack">
      <h1>{t("page.title")}</h1>
      <p class="reading muted">{t("page.description")}</p>
      <div class="grid"><ApiLinks /></div>
    </div>
  );
}

function App() {
  return (
    <Shell brand={t("page.title")} icon={PenLine} tools={<Account admins />}>
      {view({ "/": () => <Home /> }, () => <NotFound />)}
    </Shell>
  );
}

void start(<App />, { reading: true });
