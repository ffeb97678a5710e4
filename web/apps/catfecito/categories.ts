import { signal } from "@preact/signals";
import { api, type Schemas } from "#clients/catfecito";
import { ask } from "#ui";

/** All categories, by name; undefined while loading. There are tens of them at most. */
export const categories = signal<readonly Schemas["Category"][] | undefined>(undefined);

export async function loadCategories(): Promise<void> {
  try {
    categories.value = (await ask(api.GET("/categories", { params: { query: { limit: 100 } } }))).items;
  } catch {
    categories.value ??= []; // the menu shows the error
  }
}

export function categoryName(id: string): string {
  return categories.value?.find((c) => c.categoryId === id)?.name ?? id;
}
