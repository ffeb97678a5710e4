import type {ClientConfig, Server} from './index.js';

export interface DatabaseOptions {
  /** Inputs of CreateTable. */
  tables?: object[];
  /** A design file whose tables are created. */
  design?: string;
  /** Values of placeholders in the table names of the design. */
  set?: Record<string, string>;
  /** Additional flags of monotable serve. */
  args?: string[];
}

/** An in-memory database with the given tables. */
export function testDatabase(options?: DatabaseOptions): Promise<Server>;

type Hook = (run: () => Promise<void>) => unknown;

/** A database for the calling test file. Its fields are set once beforeAll has run. */
export function useDatabase(options?: DatabaseOptions & {beforeAll?: Hook; afterAll?: Hook}): {readonly endpoint: string; readonly clientConfig: ClientConfig};
