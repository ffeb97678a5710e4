import "./css/index.css";
import { BookOpen, CircleAlert, SearchX } from "lucide";
import { Component, render, type ComponentChildren, type VNode } from "preact";
import { apiURL } from "./client.ts";
import { keepFocus } from "./focus.ts";
import { Button } from "./parts/button.tsx";
import { Card, Empty } from "./parts/bits.tsx";
import { Icon } from "./parts/icon.tsx";
import { page } from "./page.ts";
import { link } from "./router.ts";
import { ui } from "./ui-words.ts";
import { loadWords, setLocales, type Language } from "./words.ts";

interface Start {
  /** A font size of 16 instead of 14, for shops and reading. */
  reading?: boolean;
  /** The country of a language, for products tied to one. */
  locales?: Partial<Record<Language, string>>;
}

/** Shows a page once its texts are loaded. */
export async function start(app: VNode, o: Start = {}): Promise<void> {
  const root = document.documentElement;
  root.dataset["product"] = page.name;
  if (o.reading) root.dataset["reading"] = "";
  if (o.locales) setLocales(o.locales);
  await loadWords();
  const at = document.getElementById("app");
  if (at) {
    at.textContent = "";
    keepFocus();
    render(<Guard>{app}</Guard>, at);
  }
}

/** Shows an error in the page's own code instead of a blank page. */
class Guard extends Component<{ children: ComponentChildren }, { failed: boolean }> {
  override state = { failed: false };

  static override getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) {
      return this.props.children;
    }
    return <Empty icon={CircleAlert} title={ui("crashed")} action={<Button onPress={() => location.reload()}>{ui("reload")}</Button>} />;
  }
}

/** The view of unknown addresses. */
export function NotFound() {
  return <Empty icon={SearchX} title={ui("notFound")} action={<Button href={link("/")}>{ui("notFound.home")}</Button>} />;
}

/** A link to the system's API page, for its footer or home page. */
export function ApiLinks() {
  return (
    <Card level={2} href={apiURL("/docs")} title={<span class="row"><Icon of={BookOpen} />{ui("start.api")}</span>}>
      <p class="muted">{ui("start.apiText")}</p>
    </Card>
  );
}
