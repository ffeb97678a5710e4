import DefaultTheme from "vitepress/theme-without-fonts";
import { h, onMounted } from "vue";
import Glance from "./Glance.vue";
import "../../../web/ui/css/tokens.css";
import "./style.css";

/** What VitePress leaves out for the keyboard: the search gives the focus back, and Escape closes the menu of phones. */
function keyboard() {
  let last: HTMLElement | undefined; // had the focus before the search
  addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement && !target.closest(".VPLocalSearchBox")) last = target;
  });
  new MutationObserver((records) => {
    const closed = records.some((r) => [...r.removedNodes].some((n) => n instanceof Element && n.matches(".VPLocalSearchBox")));
    if (closed && document.activeElement === document.body) last?.focus();
  }).observe(document.body, { childList: true });
  addEventListener("keydown", ({ key }) => {
    const open = document.querySelector<HTMLElement>(".VPNavBarHamburger[aria-expanded=true]");
    if (key !== "Escape" || !open) return;
    open.click();
    open.focus();
  });
}

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "home-hero-after": () => h(Glance) }),
  setup: () => onMounted(keyboard),
};
