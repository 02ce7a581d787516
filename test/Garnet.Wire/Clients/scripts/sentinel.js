// ioredis behind a Sentinel: sentinel.js PORT. Prints 'failover' and reads a line when that is done. Ends with 77 when something needed is missing.
"use strict";
const assert = require("node:assert").strict;
const readline = require("node:readline");
const { load, waitUntil } = require("./scenario.js");

const Redis = load("ioredis");
const sentinels = [{ host: "127.0.0.1", port: Number(process.argv[2]) }];
const connect = (more) => {
  const client = new Redis({ sentinels, name: "mymaster", retryStrategy: () => 50, reconnectOnError: (e) => e.message.startsWith("READONLY"), ...more });
  client.on("error", () => {});
  return client;
};

(async () => {
  const primary = connect(), replica = connect({ role: "slave" });
  assert.equal(await primary.set("io:s", "1"), "OK");
  await waitUntil(async () => await replica.get("io:s") === "1");
  const lines = readline.createInterface({ input: process.stdin });
  console.log("failover");
  await new Promise((done) => lines.once("line", done));
  lines.close();
  await waitUntil(async () => await primary.set("io:s", "2").catch(() => "") === "OK");
  await waitUntil(async () => await replica.get("io:s").catch(() => "") === "2");
  process.exit(0);
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
