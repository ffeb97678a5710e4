import { pageData } from "#ui";

/** Whether the system has users with more rights. */
export const admins = pageData<{ admins: boolean }>()?.admins ?? false;
