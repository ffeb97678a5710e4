/** What the server wrote into the page: <meta name="page" content="{…}">. */
export interface Page {
  /** The product: catfecito. */
  name: string;
  title: string;
  /** Where the API is, relative to the page. */
  api: string;
  /** Where the demo signs tokens; absent elsewhere. */
  tokens?: string;
  /** The page that lists all products, on the demo. */
  home?: string;
}

function read(): Page {
  const text = document.querySelector<HTMLMetaElement>('meta[name="page"]')?.content;
  const given = text ? (JSON.parse(text) as Partial<Page>) : {};
  return { name: "gallery", title: document.title, api: "", ...given };
}

export const page = read();

/** What the server wrote for the first view: web.Page.Data. Undefined where there is nothing. */
export function pageData<T>(): T | undefined {
  const text = document.querySelector<HTMLMetaElement>('meta[name="data"]')?.content;
  return text ? (JSON.parse(text) as T) : undefined;
}
