'use strict';
const {spawn, execFile} = require('node:child_process');
const {promisify} = require('node:util');

/** The path of the binary: MONOTABLE_BINARY, or the one in the optional package @monotable/PLATFORM-ARCH. */
function binaryPath() {
  if (process.env.MONOTABLE_BINARY) return process.env.MONOTABLE_BINARY;
  const name = `@monotable/${process.platform}-${process.arch}`;
  const file = `${name}/bin/monotable${process.platform === 'win32' ? '.exe' : ''}`;
  try {
    return require.resolve(file);
  } catch {
    throw new Error(
      `the package ${name} is not installed. Install with optional dependencies (without --omit=optional), ` +
        'or set MONOTABLE_BINARY to the path of a monotable binary.',
    );
  }
}

/** AWS SDKs require these. The server does not check them. */
const region = 'us-east-1';
const credentials = {accessKeyId: 'monotable', secretAccessKey: 'monotable'};

/** The time limit for a server to start listening, in milliseconds. */
const startTimeout = 60_000;

/**
 * Starts a server on a free port of 127.0.0.1. It stops with stop(), or when this process ends for any reason, because the server watches
 * the pipe connected to its standard input.
 */
function start({memory = false, data, args = [], timeout = startTimeout} = {}) {
  if (memory === (data !== undefined)) {
    return Promise.reject(new TypeError('start: pass either memory: true or data: a directory'));
  }
  const place = memory ? ['--memory'] : ['--data', data];
  const child = spawn(
    binaryPath(),
    ['serve', ...place, '--addr', '127.0.0.1:0', '--until-stdin-closes', '--log-level', 'warn', ...args],
    {stdio: ['pipe', 'pipe', 'pipe']},
  );
  // The server must not keep this process alive.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.unref?.();
  child.stdin.on('error', () => {}); // the server ended first

  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  return new Promise((resolve, reject) => {
    let printed = '';
    let errors = '';
    const timer = setTimeout(() => fail(`did not start listening within ${timeout} ms`), timeout);
    const fail = (why) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`monotable ${why}\n${errors}`));
    };
    child.once('error', (error) => fail(`cannot be started: ${error.message}`));
    exited.then((how) => fail(`exited (${how}) before it started listening`));
    child.stderr.setEncoding('utf8').on('data', (text) => (errors = (errors + text).slice(-10_000)));
    child.stdout.setEncoding('utf8').on('data', (text) => {
      if (printed === null) return;
      printed += text;
      const found = /DynamoDB API at (http:\/\/\S+)/.exec(printed);
      if (!found) return;
      printed = null;
      clearTimeout(timer);
      const endpoint = found[1];
      resolve({
        endpoint,
        clientConfig: {endpoint, region, credentials: {...credentials}}, // a copy, because the AWS SDK modifies the object
        async stop() {
          child.ref();
          child.stdin.end();
          await exited;
        },
      });
    });
  });
}

/** Creates tables at an endpoint; each is an input of CreateTable. */
async function createTables(endpoint, tables) {
  for (const table of tables) {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'DynamoDB_20120810.CreateTable'},
      body: JSON.stringify(table),
    });
    if (!response.ok) throw new Error(`CreateTable ${table.TableName}: ${response.status} ${await response.text()}`);
  }
}

/** Creates the tables of a design file at an endpoint. set has the values of placeholders in table names. */
async function provision(endpoint, design, set = {}) {
  const values = Object.entries(set).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  const env = {...process.env, AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey, AWS_REGION: region};
  await promisify(execFile)(binaryPath(), ['provision', design, '--apply', '--endpoint', endpoint, ...values], {env});
}

module.exports = {binaryPath, start, createTables, provision};
