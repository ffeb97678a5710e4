'use strict';
const {spawn, execFile} = require('node:child_process');
const {promisify} = require('node:util');

/** The program for this platform: MONOTABLE_BINARY, or the one of the optional package @monotable/PLATFORM-PROCESSOR. */
function binaryPath() {
  if (process.env.MONOTABLE_BINARY) return process.env.MONOTABLE_BINARY;
  const name = `@monotable/${process.platform}-${process.arch}`;
  const file = `${name}/bin/monotable${process.platform === 'win32' ? '.exe' : ''}`;
  try {
    return require.resolve(file);
  } catch {
    throw new Error(
      `the package ${name} is not installed. Install with optional dependencies (without --omit=optional), ` +
        'or set MONOTABLE_BINARY to the path of a monotable program.',
    );
  }
}

/** What AWS SDKs need besides the endpoint. The server does not check it. */
const region = 'us-east-1';
const credentials = {accessKeyId: 'monotable', secretAccessKey: 'monotable'};

/** How long a server may take until it listens, in milliseconds. */
const startTimeout = 60_000;

/**
 * Starts a server on a free port of 127.0.0.1. It ends with stop(), or when this process ends in whatever way: the server watches the pipe
 * that is its standard input.
 */
function start({memory = false, data, args = [], timeout = startTimeout} = {}) {
  if (memory === (data !== undefined)) {
    return Promise.reject(new TypeError('start: give either memory: true or data: a directory'));
  }
  const place = memory ? ['--memory'] : ['--data', data];
  const child = spawn(
    binaryPath(),
    ['serve', ...place, '--addr', '127.0.0.1:0', '--until-stdin-closes', '--log-level', 'warn', ...args],
    {stdio: ['pipe', 'pipe', 'pipe']},
  );
  // The server does not keep a program running that has nothing else to do.
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.unref?.();
  child.stdin.on('error', () => {}); // it ended first

  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  return new Promise((resolve, reject) => {
    let printed = '';
    let complaints = '';
    const timer = setTimeout(() => fail(`did not listen within ${timeout} ms`), timeout);
    const fail = (why) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`monotable ${why}\n${complaints}`));
    };
    child.once('error', (error) => fail(`cannot be started: ${error.message}`));
    exited.then((how) => fail(`ended (${how}) before it listened`));
    child.stderr.setEncoding('utf8').on('data', (text) => (complaints = (complaints + text).slice(-10_000)));
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
        clientConfig: {endpoint, region, credentials: {...credentials}}, // the AWS SDK writes to the object
        async stop() {
          child.ref();
          child.stdin.end();
          await exited;
        },
      });
    });
  });
}

/** Creates tables at an endpoint: each is the input of CreateTable. */
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

/** Creates the tables of a design file at an endpoint. set gives values to placeholders of table names. */
async function provision(endpoint, design, set = {}) {
  const values = Object.entries(set).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  const env = {...process.env, AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey, AWS_REGION: region};
  await promisify(execFile)(binaryPath(), ['provision', design, '--apply', '--endpoint', endpoint, ...values], {env});
}

module.exports = {binaryPath, start, createTables, provision};
