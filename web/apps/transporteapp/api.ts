import { connect } from "../../clients/transporteapp/index.js";
import { client } from "#ui/client.ts";

export type { Schemas } from "../../clients/transporteapp/index.js";

/** The system's API, with the session of this page. */
export const api = client(connect);
