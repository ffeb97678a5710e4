#!/usr/bin/env node
// Runs the program of this platform with the same arguments, and ends as it ends.
'use strict';
const {spawn} = require('node:child_process');
const {binaryPath} = require('../index.js');

const child = spawn(binaryPath(), process.argv.slice(2), {stdio: 'inherit'});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`monotable: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(signal ? 1 : code));
