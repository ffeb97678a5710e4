'use strict';
const {start, createTables, provision} = require('./index.js');

/** Starts an in-memory database with the given tables: inputs of CreateTable, the tables of a design file, or both. */
async function testDatabase({tables = [], design, set, args} = {}) {
  const server = await start({memory: true, args});
  try {
    await createTables(server.endpoint, tables);
    if (design !== undefined) await provision(server.endpoint, design, set);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/**
 * Gives the calling test file its own database, from its first test to its last. The returned object has the fields endpoint and clientConfig
 * once beforeAll has run. With Jest, and with Vitest's globals option, beforeAll and afterAll are found automatically; otherwise pass them.
 */
function useDatabase({beforeAll = globalThis.beforeAll, afterAll = globalThis.afterAll, ...options} = {}) {
  if (typeof beforeAll !== 'function' || typeof afterAll !== 'function') {
    throw new TypeError('useDatabase: pass beforeAll and afterAll, as in useDatabase({beforeAll, afterAll, tables: […]})');
  }
  const database = {};
  let stop = async () => {};
  beforeAll(async () => {
    const server = await testDatabase(options);
    stop = server.stop;
    Object.assign(database, {endpoint: server.endpoint, clientConfig: server.clientConfig});
  });
  afterAll(() => stop());
  return database;
}

module.exports = {testDatabase, useDatabase};
