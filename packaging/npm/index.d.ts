export interface ClientConfig {
  endpoint: string;
  region: string;
  credentials: {accessKeyId: string; secretAccessKey: string};
}

export interface Server {
  /** URL of DynamoDB's API, on 127.0.0.1. */
  readonly endpoint: string;
  /** For new DynamoDBClient(server.clientConfig). */
  readonly clientConfig: ClientConfig;
  /** Stops the server. In-memory data is lost. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Keep the data in memory. Pass either memory or data. */
  memory?: boolean;
  /** Keep the data in this directory. */
  data?: string;
  /** Additional flags of monotable serve. */
  args?: string[];
  /** Time limit in milliseconds for the server to start listening; 60,000 by default. */
  timeout?: number;
}

/** Starts a server on a free port. It stops with stop(), or when this process ends. */
export function start(options: StartOptions): Promise<Server>;
/** Creates tables; each is an input of CreateTable. */
export function createTables(endpoint: string, tables: object[]): Promise<void>;
/** Creates the tables of a design file. */
export function provision(endpoint: string, design: string, set?: Record<string, string>): Promise<void>;
/** Path of the binary for this platform. */
export function binaryPath(): string;
