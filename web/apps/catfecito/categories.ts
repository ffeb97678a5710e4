import { signal } from "@preact/signals";
import { api, type Schemas } from "#clients/catfecito";
import { Problem, ask } from "#ui";

/** All categories, by name; undefined while loading. There are tens of them at most. */
export const categories = signal<readonly Schemas["Category"][] | undefined>(undefined);

/** Why they could not be loaded. */
export const categoriesProblem = signal<Problem | undefined>(undefined);

export async function loadCategories(): Promise<void> {
  try {
    categories.value = (await ask(api.GET("/categories", { params: { query: { limit: 100 } } }))).items;
    categoriesProblem.value = undefined;
  } catch (thrown) {
    categories.value ??= []; // the menu shows all products, or the error
    categoriesProblem.value = Problem.of(thrown);
  }
}

export function categoryName(id: string): string {
  return categories.value?.find((c) => c.categoryId === id)?.name ?? id;
}
