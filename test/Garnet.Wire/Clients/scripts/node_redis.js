// Drives node-redis against a server: node_redis.js PORT SCENARIO. Ends with 77 when something needed is missing.
"use strict";
const assert = require("node:assert").strict;
const { load, run, waitUntil, restart, tls } = require("./scenario.js");

const { createClient } = load("redis");
const url = `${tls ? "rediss" : "redis"}://127.0.0.1:${process.argv[2]}`;

async function connect(more) {
  const client = createClient({ url, ...(tls ? { socket: { tls: true, ...tls } } : {}), ...more });
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function basics(r) {
  assert.equal(await r.ping(), "PONG");
  assert.equal(await r.set("nr:a", "1"), "OK");
  assert.equal(await r.incrBy("nr:a", 41), 42);
  assert.equal(await r.get("nr:a"), "42");
  await r.mSet({ "nr:b": "x", "nr:c": "y" });
  assert.deepEqual(await r.mGet(["nr:b", "nr:c", "nr:none"]), ["x", "y", null]);
  assert.equal(await r.del(["nr:a", "nr:b", "nr:c"]), 3);
  assert.match(await r.info(), /redis_version:/);
  assert.ok(await r.clientId() > 0);
  await assert.rejects(r.sendCommand(["NOSUCH"]), /unknown command/);
}

async function pubsub(r) {
  const s = r.duplicate();
  s.on("error", () => {});
  await s.connect();
  const got = [];
  await s.subscribe("nr:ch", (text, channel) => got.push(`${channel} ${text}`));
  await s.pSubscribe("nr:pat:*", (text, channel) => got.push(`${channel} ${text}`));
  assert.equal(await r.publish("nr:ch", "one"), 1);
  assert.equal(await r.publish("nr:pat:x", "two"), 1);
  await waitUntil(() => got.length === 2);
  assert.deepEqual(got, ["nr:ch one", "nr:pat:x two"]);
  await s.unsubscribe("nr:ch");
  await s.pUnsubscribe("nr:pat:*");
  assert.equal(await s.set("nr:after", "1"), "OK");
  s.destroy ? s.destroy() : await s.disconnect();
}

run({
  basics,
  pubsub,
  async expiry(r) {
    await r.set("nr:e", "v", { EX: 100 });
    assert.ok(await r.ttl("nr:e") > 90);
    await r.pExpire("nr:e", 30);
    await waitUntil(async () => await r.exists("nr:e") === 0);
  },
  async pipelines(r) {
    const all = [];
    for (let i = 0; i < 5000; i++) all.push(r.set(`nr:p:${i}`, String(i)), r.get(`nr:p:${i}`));
    const got = await Promise.all(all);
    for (let i = 0; i < 5000; i++) assert.equal(got[2 * i + 1], String(i));
  },
  async scan(r) {
    await Promise.all(Array.from({ length: 1000 }, (_, i) => r.set(`nr:s:${i}`, "v")));
    const found = new Set();
    for await (const page of r.scanIterator({ MATCH: "nr:s:*", COUNT: 100 })) [page].flat().forEach((key) => found.add(key));
    assert.equal(found.size, 1000);
  },
  async resp3() {
    const three = await connect({ RESP: 3, name: "three" });
    await basics(three);
    await pubsub(three);
    assert.equal(await three.clientGetName(), "three");
    three.destroy ? three.destroy() : await three.disconnect();
  },
  async cache(r) {
    const cached = await connect({ RESP: 3, clientSideCache: { ttl: 0, maxEntries: 1000, evictPolicy: "LRU" } });
    assert.ok(cached.clientSideCache, "this version has no cache of its own");
    const calls = async () => Number((/cmdstat_get:calls=(\d+)/.exec(await r.info("commandstats")) ?? [0, 0])[1]);
    await r.mSet({ "nr:cache:a": "1", "nr:cache:b": "1" });
    assert.equal(await cached.get("nr:cache:a"), "1");
    const before = await calls();
    for (let i = 0; i < 10; i++) assert.equal(await cached.get("nr:cache:a"), "1");
    assert.equal(await calls(), before, "what it holds it does not ask for");
    await r.set("nr:cache:a", "2");
    await waitUntil(async () => await cached.get("nr:cache:a") === "2");
    await cached.get("nr:cache:b");
    await cached.set("nr:cache:b", "own");
    await waitUntil(async () => await cached.get("nr:cache:b") === "own");
    await r.multi().set("nr:cache:a", "3").expire("nr:cache:a", 100).del("nr:cache:b").exec();
    await waitUntil(async () => await cached.get("nr:cache:a") === "3" && await cached.get("nr:cache:b") === null);
    await r.pExpireAt("nr:cache:a", 1);
    await waitUntil(async () => await cached.get("nr:cache:a") === null);
    await r.set("nr:cache:a", "4");
    await waitUntil(async () => await cached.get("nr:cache:a") === "4");
    await r.flushDb();
    await waitUntil(async () => await cached.get("nr:cache:a") === null);
    assert.ok(cached.clientSideCache.stats().hitCount >= 10);
    cached.destroy();
  },
  async big(r) {
    const value = "abc".repeat(3_000_000);
    await r.set("nr:big", value);
    assert.equal(await r.get("nr:big"), value);
    await r.del("nr:big");
  },
  async lock(r) {
    await r.del("nr:lock");
    const wins = await Promise.all(Array.from({ length: 20 }, (_, i) => r.set("nr:lock", String(i), { NX: true, PX: 10000 })));
    assert.equal(wins.filter((w) => w === "OK").length, 1);
  },
  async reconnect(r) {
    await r.set("nr:r", "1");
    const s = r.duplicate();
    s.on("error", () => {});
    await s.connect();
    let heard = false;
    await s.subscribe("nr:again", () => { heard = true; });
    await restart();
    await waitUntil(async () => await r.get("nr:r").catch(() => "not yet") === null);
    await waitUntil(async () => { await r.publish("nr:again", "x"); return heard; });
    s.destroy ? s.destroy() : await s.disconnect();
  },
}, connect, async (r) => { r.close ? await r.close() : await r.quit(); });
