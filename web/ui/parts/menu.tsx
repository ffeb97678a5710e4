import { Check, type IconNode } from "lucide";
import { useId, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

export interface MenuItem {
  label: string;
  icon?: IconNode;
  /** One of several choices; the chosen one has a check mark. */
  checked?: boolean;
  danger?: boolean;
  href?: string;
  onPress?: () => void;
}

/** A separator between items, with or without a title. */
export type MenuEntry = MenuItem | { title: string } | "line";

interface MenuProps {
  /** The button's accessible name; also its text if there is no icon. */
  label: string;
  icon?: IconNode;
  text?: string;
  kind?: "secondary" | "quiet";
  size?: "small" | "medium";
  items: readonly MenuEntry[];
}

/** A button with a list of actions: arrow keys, Home, End and first letters move through it, Escape closes it. */
export function Menu({ label, icon, text, kind = "quiet", size = "medium", items }: MenuProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLSpanElement>(null);
  const [expanded, setExpanded] = useState(false);
  const open = () => {
    const menu = list.current;
    const at = opener.current?.getBoundingClientRect();
    if (!menu || !at) {
      return;
    }
    if (menu.matches(":popover-open")) {
      menu.hidePopover();
      return;
    }
    menu.showPopover();
    const size = menu.getBoundingClientRect();
    const below = at.bottom + 4 + size.height <= window.innerHeight;
    menu.style.top = `${Math.max(8, below ? at.bottom + 4 : at.top - 4 - size.height)}px`;
    menu.style.left = `${Math.max(8, Math.min(at.left, window.innerWidth - size.width - 8))}px`;
    targets(menu)[0]?.focus();
  };
  const close = () => {
    list.current?.hidePopover();
    opener.current?.querySelector("button")?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const all = targets(list.current);
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 };
    let next = to[event.key];
    if (next === undefined && event.key.length === 1 && event.key !== " ") {
      const letter = event.key.toLocaleLowerCase();
      const found = all.findIndex((_, n) => all[(at + 1 + n) % all.length]?.textContent?.trim().toLocaleLowerCase().startsWith(letter));
      next = found < 0 ? undefined : at + 1 + found;
    }
    if (event.key === "Tab") {
      close();
    } else if (next !== undefined) {
      event.preventDefault();
      all[next % all.length]?.focus();
    }
  };
  return (
    <span ref={opener}>
      <Button kind={kind} size={size} label={text ? undefined : label} {...(icon ? { icon } : {})} expanded={expanded} onPress={open}>{text ?? (icon ? undefined : label)}</Button>
      <div ref={list} id={id} class="menu" popover="auto" role="menu" aria-label={label} onToggle={(e) => setExpanded(e.newState === "open")} onKeyDown={move}>
        {items.map((item, n) => {
          if (item === "line") {
            return <hr key={n} />;
          }
          if ("title" in item) {
            return <div key={n} class="menu-title" role="presentation">{item.title}</div>;
          }
          return <Item key={n} item={item} close={close} />;
        })}
      </div>
    </span>
  );
}

function Item({ item, close }: { item: MenuItem; close: () => void }) {
  const inside = (
    <>
      {item.icon && <Icon of={item.icon} size={16} />}
      <span class="grow">{item.label}</span>
      {item.checked && <Icon of={Check} size={16} />}
    </>
  );
  const shown = { class: item.danger ? "menu-item danger" : "menu-item", tabIndex: -1 };
  if (item.href !== undefined) {
    return <a {...shown} role="menuitem" href={item.href}>{inside}</a>;
  }
  const press = () => { close(); item.onPress?.(); };
  if (item.checked !== undefined) {
    return <button {...shown} type="button" role="menuitemradio" aria-checked={item.checked} onClick={press}>{inside}</button>;
  }
  return <button {...shown} type="button" role="menuitem" onClick={press}>{inside}</button>;
}

function targets(menu: HTMLElement | null): HTMLElement[] {
  return menu ? [...menu.querySelectorAll<HTMLElement>(".menu-item")] : [];
}
