import "./style.css";
import { Coffee, LayoutDashboard, Receipt } from "lucide";
import { NotFound, Shell, link, session, start, view, here } from "#ui";
import { AccountMenu, AccountPage, SignIn } from "./account.tsx";
import { isStaff, resume } from "./auth.ts";
import { followSession } from "./cart.ts";
import { loadCategories } from "./categories.ts";
import { Menu, Product } from "./catalogue.tsx";
import { Checkout } from "./checkout.tsx";
import { Desk } from "./desk.tsx";
import { CartButton, CartDrawer } from "./drawer.tsx";
import { Orders, OrderView } from "./orders.tsx";
import { t } from "./words.ts";

function App() {
  const nav = [{ href: link("/"), label: t("nav.menu"), icon: Coffee }];
  if (session.value) nav.push({ href: link("/orders"), label: t("nav.orders"), icon: Receipt });
  if (isStaff.value) nav.push({ href: link("/desk"), label: t("nav.desk"), icon: LayoutDashboard });
  return (
    <Shell brand={t("page.title")} icon={Coffee} nav={nav} wide={here.value.path.startsWith("/desk")} tools={<><CartButton /><AccountMenu /></>}>
      {view({
        "/": () => <Menu key="all" />,
        "/c/:category": (v) => <Menu key={v["category"]} category={v["category"] ?? ""} />,
        "/p/:id": (v) => <Product id={v["id"] ?? ""} />,
        "/checkout": () => <Checkout />,
        "/orders": () => <Orders />,
        "/orders/:id": (v) => <OrderView id={v["id"] ?? ""} />,
        "/account": () => <AccountPage />,
        "/desk": () => <Desk part="board" />,
        "/desk/:part": (v) => <Desk part={v["part"] ?? ""} />,
      }, () => <NotFound />)}
      <CartDrawer />
      <SignIn />
    </Shell>
  );
}

void (async () => {
  await resume();
  followSession();
  void loadCategories();
  await start(<App />, { reading: true, locales: { es: "es-MX" } });
})();
