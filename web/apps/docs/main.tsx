// The page of a system's API, built from its OpenAPI document. The document's content is text, never HTML.
import "./style.css";
import { BookOpen, House, LayoutGrid } from "lucide";
import { Account, Failed, NotFound, Shell, Skeleton, apiURL, page, start, useLoaded, view } from "#ui";
import { admins } from "./admins.ts";
import { load } from "./document.ts";
import { OperationView } from "./operation.tsx";
import { Overview, TypeView } from "./overview.tsx";
import { Sidebar } from "./sidebar.tsx";
import { t } from "./words.ts";

function App() {
  const loaded = useLoaded(load, []);
  const api = loaded.value.value;
  return (
    <Shell wide brand={page.title} icon={BookOpen} tools={<Account admins={admins} />} nav={[
      { href: apiURL("/"), label: t("nav.app"), icon: House }, ...(page.home ? [{ href: new URL(page.home, document.baseURI).href, label: t("nav.all"), icon: LayoutGrid }] : []),
    ]}>
      {loaded.problem.value ? <Failed problem={loaded.problem.value} onRetry={() => loaded.reload()} />
        : !api ? <div class="docs"><div class="sidebar"><Skeleton lines={12} /></div><div class="stack"><Skeleton width="16rem" height="2rem" /><Skeleton lines={6} /></div></div>
        : (
          <div class="docs">
            <Sidebar api={api} />
            <div class="docs-main">
              {view({ "/": () => <Overview api={api} />, "/:id": (v) => <OperationView api={api} id={v["id"] ?? ""} />, "/types/:name": (v) => <TypeView api={api} name={v["name"] ?? ""} /> }, () => <NotFound />)}
            </div>
          </div>
        )}
    </Shell>
  );
}

void start(<App />);
