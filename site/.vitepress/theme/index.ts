import DefaultTheme from "vitepress/theme-without-fonts";
import { h } from "vue";
import Glance from "./Glance.vue";
import "../../../web/ui/css/tokens.css";
import "./style.css";

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "home-hero-after": () => h(Glance) }),
};
