// What the scripts of the Node clients share.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");

function skip(reason) {
  console.log(reason);
  process.exit(77);
}

// From NODE_PATH, or from where test/run.sh installs it: some folder above has artifacts/node.
function load(name) {
  const places = [__dirname];
  for (let folder = __dirname; folder !== path.dirname(folder); folder = path.dirname(folder)) places.push(path.join(folder, "artifacts/node"), path.join(folder, "node"));
  try {
    return require(require.resolve(name, { paths: places }));
  } catch (e) {
    if (e.code !== "MODULE_NOT_FOUND") throw e;
    return skip(`${name} is not installed; test/run.sh installs it`);
  }
}

// With a folder as the last argument: what a client needs to encrypt its connections.
const folder = process.argv[4];
const read = (name) => fs.readFileSync(path.join(folder, name));
const tls = folder ? { ca: read("ca.crt"), cert: read("client.crt"), key: read("client.key") } : undefined;

async function waitUntil(condition) {
  const deadline = Date.now() + 20000;
  while (!await condition()) {
    if (Date.now() > deadline) throw new Error("waited in vain");
    await new Promise(setImmediate);
  }
}

async function restart() {
  const lines = readline.createInterface({ input: process.stdin });
  console.log("restart");
  await new Promise((done) => lines.once("line", done));
  lines.close();
}

async function run(scenarios, connect, close) {
  try {
    const client = await connect();
    await scenarios[process.argv[3]](client);
    await close(client);
    process.exit(0);
  } catch (e) {
    console.error(e);
    process.exit(1);
  }
}

module.exports = { load, run, waitUntil, restart, skip, tls };
