import { readdirSync, readFileSync, existsSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

const root = import.meta.dirname;
const languages = ["en", "es", "pt"];
const apps = readdirSync(`${root}/apps`).filter((name) => existsSync(`${root}/apps/${name}/main.tsx`)).sort();
const services = apps.filter((name) => !["console", "demo", "docs", "gallery"].includes(name));
/** The accents, for what is outside of the page: the tab's icon, the bar of a phone's browser. */
const colours: Record<string, string> = { catfecito: "#5b3a26", transporteapp: "#144a9e", portfolio: "#25282e", appcore: "#006a6b", trinity: "#2b2f72" };
const server = process.env["SERVER"] ?? "http://127.0.0.1:8080";

function wordsOf(app: string, language: string): Record<string, string> {
  return JSON.parse(readFileSync(`${root}/apps/${app}/words/${language}.json`, "utf8")) as Record<string, string>;
}

/** What the Go package web writes into the pages: titles and descriptions. */
function described(): Plugin {
  return {
    name: "described",
    generateBundle() {
      const about = (app: string) => Object.fromEntries(languages.map((l) => {
        const words = wordsOf(app, l);
        return [l, { title: words["page.title"], description: words["page.description"], colour: colours[app] ?? "#4f3fd0" }];
      }));
      this.emitFile({ type: "asset", fileName: "apps.json", source: `${JSON.stringify(Object.fromEntries(apps.map((a) => [a, about(a)])), null, 1)}\n` });
    },
  };
}

/** While pages are developed, the HTML that the Go package writes otherwise. */
function pagesWhileDeveloping(): Plugin {
  return {
    name: "pages-while-developing",
    configureServer(dev) {
      dev.middlewares.use((request, response, next) => {
        const [, product = "", docs] = /^\/([a-z]+)\/(docs)?(\?.*)?$/.exec(request.url ?? "") ?? (request.url === "/" ? ["", "demo"] : []);
        if (!apps.includes(product)) {
          next();
          return;
        }
        const name = docs ?? product;
        const page = { name: product, title: wordsOf(name, "en")["page.title"]?.replace("{product}", product), api: name === "demo" ? "." : `/${product}`, tokens: "/token", home: "/" };
        const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title}</title><meta name="page" content='${JSON.stringify(page)}'><body><div id="app"></div><script type="module" src="/apps/${name}/main.tsx"></script>`;
        void dev.transformIndexHtml(request.url ?? "/", html).then((text) => response.setHeader("Content-Type", "text/html").end(text));
      });
    },
  };
}

export default defineConfig({
  root,
  base: "./", // a page works below any prefix
  appType: "custom",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [described(), pagesWhileDeveloping()],
  server: {
    proxy: Object.fromEntries([`^/(${services.join("|")})/.+`, "^/(token|metrics|health|status)$"].map((path) => [path, { target: server, changeOrigin: false }])),
  },
  build: {
    target: ["chrome123", "firefox120", "safari17.5"],
    outDir: "dist",
    emptyOutDir: true,
    manifest: "manifest.json",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the content policy allows no data: URLs
    reportCompressedSize: false,
    rolldownOptions: {
      input: Object.fromEntries(apps.map((a) => [a, `${root}/apps/${a}/main.tsx`])),
      output: {
        entryFileNames: "assets/[name]-[hash].js",
        // Catalogues say whose they are: catfecito-es.
        chunkFileNames: (chunk) => `assets/${/(\w+)\/words\/\w+\.json$/.exec(chunk.facadeModuleId ?? "")?.[1]?.concat("-") ?? ""}[name]-[hash].js`,
        assetFileNames: "assets/[name]-[hash][extname]",
        codeSplitting: { groups: [
          { name: "preact", test: /node_modules\/(preact|@preact)\//, priority: 3 },
          { name: "ui", test: /\/web\/ui\/(?!events|parts\/(acts|conflict)).*\.tsx?$/, priority: 2 },
          { name: "system", test: /\/web\/(ui\/.*\.tsx?$|node_modules\/(openapi-fetch|eventsource-parser)\/)/, priority: 1 }, // what the console does not need
        ] },
      },
    },
  },
});
