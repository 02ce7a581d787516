// Drives ioredis against a server: ioredis.js PORT SCENARIO. Ends with 77 when something needed is missing.
"use strict";
const assert = require("node:assert").strict;
const { once } = require("node:events");
const { load, run, waitUntil, restart, skip, tls } = require("./scenario.js");

const Redis = load("ioredis");
const port = Number(process.argv[2]);
const connect = (more) => new Redis({ port, host: "127.0.0.1", tls, ...more });

run({
  async basics(r) {
    assert.equal(await r.ping(), "PONG");
    assert.equal(await r.set("io:a", "1"), "OK");
    assert.equal(await r.incrby("io:a", 41), 42);
    assert.equal(await r.get("io:a"), "42");
    await r.mset("io:b", "x", "io:c", "y");
    assert.deepEqual(await r.mget("io:b", "io:c", "io:none"), ["x", "y", null]);
    assert.deepEqual(await r.getBuffer("io:b"), Buffer.from("x"));
    assert.equal(await r.del("io:a", "io:b", "io:c"), 3);
    assert.match(await r.info(), /redis_version:/);
    await assert.rejects(r.call("NOSUCH"), /unknown command/);
    const ready = connect({ db: 3, connectionName: "worker" });
    assert.equal(await ready.client("GETNAME"), "worker");
    ready.disconnect();
  },
  async expiry(r) {
    await r.set("io:e", "v", "EX", 100);
    assert.ok(await r.ttl("io:e") > 90);
    await r.pexpire("io:e", 30);
    await waitUntil(async () => await r.exists("io:e") === 0);
  },
  async pipelines(r) {
    const p = r.pipeline();
    for (let i = 0; i < 5000; i++) p.set(`io:p:${i}`, i).get(`io:p:${i}`);
    const got = await p.exec();
    assert.equal(got.length, 10000);
    for (let i = 0; i < 5000; i++) assert.deepEqual(got[2 * i + 1], [null, String(i)]);
    const mixed = await r.pipeline().set("io:text", "x").incr("io:text").get("io:text").exec();
    assert.equal(mixed[0][1], "OK");
    assert.match(mixed[1][0].message, /not an integer/);
    assert.equal(mixed[2][1], "x");
    const auto = connect({ enableAutoPipelining: true });
    const values = await Promise.all(Array.from({ length: 1000 }, (_, i) => auto.get(`io:p:${i}`)));
    assert.deepEqual(values, Array.from({ length: 1000 }, (_, i) => String(i)));
    auto.disconnect();
  },
  async pubsub(r) {
    const s = connect();
    const got = [];
    s.on("message", (channel, text) => got.push(`${channel} ${text}`));
    s.on("pmessage", (pattern, channel, text) => got.push(`${pattern} ${channel} ${text}`));
    assert.equal(await s.subscribe("io:ch"), 1);
    assert.equal(await s.psubscribe("io:pat:*"), 2);
    assert.equal(await s.ping(), "PONG");
    assert.equal(await r.publish("io:ch", "one"), 1);
    assert.equal(await r.publish("io:pat:x", "two"), 1);
    await waitUntil(() => got.length === 2);
    assert.deepEqual(got, ["io:ch one", "io:pat:* io:pat:x two"]);
    assert.equal(await s.unsubscribe("io:ch"), 1);
    assert.equal(await s.punsubscribe("io:pat:*"), 0);
    assert.equal(await s.set("io:after", "1"), "OK");
    s.disconnect();
  },
  async scan(r) {
    const p = r.pipeline();
    for (let i = 0; i < 1000; i++) p.set(`io:s:${i}`, "v");
    await p.exec();
    const found = new Set();
    for await (const page of r.scanStream({ match: "io:s:*", count: 100 })) page.forEach((key) => found.add(key));
    assert.equal(found.size, 1000);
  },
  async resp3() {
    skip("ioredis does not know RESP3");
  },
  async big(r) {
    const value = Buffer.alloc(10_000_000, "abc");
    await r.set("io:big", value);
    assert.ok(value.equals(await r.getBuffer("io:big")));
    await r.del("io:big");
  },
  async lock(r) {
    await r.del("io:lock");
    const wins = await Promise.all(Array.from({ length: 20 }, (_, i) => r.set("io:lock", String(i), "PX", 10000, "NX")));
    assert.equal(wins.filter((w) => w === "OK").length, 1);
  },
  async reconnect(r) {
    r.on("error", () => {});
    const s = connect();
    s.on("error", () => {});
    let heard = false;
    s.on("message", () => { heard = true; });
    await s.subscribe("io:again");
    await r.set("io:r", "1");
    await restart();
    assert.equal(await r.get("io:r"), null);
    await waitUntil(async () => { await r.publish("io:again", "x"); return heard; });
    s.disconnect();
  },
}, () => connect(), async (r) => {
  const ended = once(r, "end");
  await r.quit();
  await ended;
});
