import { Languages, Moon, Sun, SunMoon, type IconNode } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useChosenInSight } from "../in-sight.ts";
import { page } from "../page.ts";
import { here, leave, leaving, link, stay } from "../router.ts";
import { chooseTheme, theme } from "../theme.ts";
import { chooseLanguage, language, languages } from "../words.ts";
import { ui } from "../ui-words.ts";
import { Icon } from "./icon.tsx";
import { Menu } from "./menu.tsx";
import { Discard } from "./overlay.tsx";
import { Toasts } from "./toast.tsx";

interface ShellProps {
  brand: string;
  icon: IconNode;
  nav?: readonly { href: string; label: string; icon?: IconNode; badge?: ComponentChildren }[];
  /** Next to language and theme: the account, a cart. */
  tools?: ComponentChildren;
  /** Uses the full width, for boards and wide tables. */
  wide?: boolean;
  footer?: ComponentChildren;
  children: ComponentChildren;
}

/** The frame of every view: skip link, product, navigation, language and theme, toasts. */
export function Shell({ brand, icon, nav, tools, wide, footer, children }: ShellProps) {
  const main = useRef<HTMLElement>(null);
  const path = here.value.path;
  const first = useRef(true);
  const menu = useChosenInSight<HTMLElement>(path, nav?.length);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    if (document.activeElement?.matches("main :is(input, textarea, select)")) return; // the view has stayed, and the user types in it
    main.current?.focus({ preventScroll: true }); // a new view is read from its start
    window.scrollTo(0, 0);
  }, [path]);
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>{ui("skip")}</a>
      <header class="shell-header">
        <div class="shell-bar">
          <a class="shell-brand" href={link("/")}><Icon of={icon} size={22} />{brand}</a>
          {nav && nav.length > 0 && (
            <nav class="shell-nav" ref={menu} aria-label={ui("main")}>
              {nav.map((n) => (
                <a key={n.href} href={n.href} aria-current={current(n.href, path) ? "page" : undefined}>{n.icon && <Icon of={n.icon} size={16} />}{n.label}{n.badge}</a>
              ))}
            </nav>
          )}
          <div class="shell-tools">
            {tools}
            <LanguageMenu />
            <ThemeMenu />
          </div>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1} class={wide ? "shell-main wide" : "shell-main"}>{children}</main>
      {footer && <footer class="shell-footer">{footer}</footer>}
      {leaving.value !== undefined && <Discard onDiscard={leave} onKeep={stay} />}
      <Toasts />
    </div>
  );
}

/** A link is current for its subpages too; the home page only for itself. */
function current(href: string, path: string): boolean {
  const at = href.replace(/^#/, "");
  return at === "/" ? path === "/" : path === at || path.startsWith(`${at}/`);
}

export function LanguageMenu() {
  return <Menu label={ui("language")} icon={Languages} items={languages.map((l) => ({ label: l.name, checked: l.key === language.value, onPress: () => void chooseLanguage(l.key) }))} />;
}

export function ThemeMenu() {
  const icons = { auto: SunMoon, light: Sun, dark: Moon };
  return (
    <Menu label={ui("theme")} icon={icons[theme.value]} items={(["auto", "light", "dark"] as const).map((k) => ({ label: ui(`theme.${k}`), icon: icons[k], checked: k === theme.value, onPress: () => chooseTheme(k) }))} />
  );
}

/** Sets the title of the browser's tab: "Cart · CatFecito". */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · ${page.title}` : page.title;
    return () => { document.title = page.title; }; // the next view may have none
  }, [title]);
}
