import { pageData } from "#ui";

/** Whether the system has administrators. */
export const admins = pageData<{ admins: boolean }>()?.admins ?? false;
