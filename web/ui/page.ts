/** Data that the server writes into the page: <meta name="page" content="{…}">. */
export interface Page {
  /** The product: catfecito. */
  name: string;
  title: string;
  /** The address of the API, relative to the page. */
  api: string;
  /** The address at which the demo signs tokens; absent elsewhere. */
  tokens?: string;
  /** The demo's page that lists all products. */
  home?: string;
}

function read(): Page {
  const text = document.querySelector<HTMLMetaElement>('meta[name="page"]')?.content;
  const given = text ? (JSON.parse(text) as Partial<Page>) : {};
  return { name: "gallery", title: document.title, api: "", ...given };
}

export const page = read();

/** The server's data for the first view (web.Page.Data), if any. */
export function pageData<T>(): T | undefined {
  const text = document.querySelector<HTMLMetaElement>('meta[name="data"]')?.content;
  return text ? (JSON.parse(text) as T) : undefined;
}
