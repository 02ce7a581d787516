// Drives rate-limiter-flexible, which counts in a Lua script or in MULTI, against a server: rate_limiter.js PORT SCENARIO.
"use strict";
const assert = require("node:assert").strict;
const { load, run } = require("./scenario.js");

const Redis = load("ioredis");
const { RateLimiterRedis, RateLimiterRedisNonAtomic, RateLimiterUnion, RateLimiterQueue, BurstyRateLimiter } = load("rate-limiter-flexible");
const { createClient } = load("redis");
const port = Number(process.argv[2]);
const keyPrefix = `rl-${process.pid}`;

// Of many takers at once exactly as many get through as there are points.
async function only(limiter, key, points, takers) {
  const outcomes = await Promise.allSettled(Array.from({ length: takers }, () => limiter.consume(key)));
  const won = outcomes.filter((o) => o.status === "fulfilled").map((o) => o.value);
  assert.equal(won.length, points);
  assert.deepEqual(won.map((o) => o.remainingPoints).sort((a, b) => a - b), Array.from({ length: points }, (_, i) => i));
  for (const lost of outcomes.filter((o) => o.status === "rejected")) assert.equal(lost.reason.remainingPoints, 0);
}

run({
  async script(storeClient) {
    const limiter = new RateLimiterRedis({ storeClient, keyPrefix, points: 40, duration: 60 });
    await only(limiter, "a", 40, 200);
    assert.equal((await limiter.get("a")).consumedPoints, 200);
    assert.equal((await limiter.reward("a", 170)).consumedPoints, 30);
    assert.equal((await limiter.penalty("a", 5)).consumedPoints, 35);
    await limiter.block("a", 30);
    await assert.rejects(limiter.consume("a"), (rejected) => rejected.msBeforeNext > 25_000);
    assert.equal(await limiter.delete("a"), true);
    assert.equal(await limiter.get("a"), null);
    await only(limiter, "a", 40, 41);
  },
  async node_redis() {
    const storeClient = await createClient({ url: `redis://127.0.0.1:${port}` }).connect();
    await only(new RateLimiterRedis({ storeClient, useRedisPackage: true, keyPrefix: `${keyPrefix}n`, points: 10, duration: 60 }), "b", 10, 50);
    storeClient.destroy();
  },
  async multi(storeClient) {
    const limiter = new RateLimiterRedisNonAtomic({ storeClient, keyPrefix: `${keyPrefix}m`, points: 7, duration: 60 });
    for (let i = 1; i <= 7; i++) assert.equal((await limiter.consume("c")).consumedPoints, i);
    await assert.rejects(limiter.consume("c"), { remainingPoints: 0, consumedPoints: 8 });
  },
  async window(storeClient) {
    const limiter = new RateLimiterRedis({ storeClient, keyPrefix: `${keyPrefix}w`, points: 1, duration: 1 });
    const from = Date.now();
    await limiter.consume("d");
    const refused = await limiter.consume("d").catch((rejected) => rejected);
    assert.ok(refused.msBeforeNext > 0 && refused.msBeforeNext <= 1000);
    const queue = new RateLimiterQueue(limiter);
    await queue.removeTokens(1, "d");
    assert.ok(Date.now() - from >= 990, `let through after ${Date.now() - from} ms`);
  },
  async combined(storeClient) {
    const slow = new RateLimiterRedis({ storeClient, keyPrefix: `${keyPrefix}s`, points: 5, duration: 60 });
    const burst = new RateLimiterRedis({ storeClient, keyPrefix: `${keyPrefix}b`, points: 3, duration: 60 });
    const bursty = new BurstyRateLimiter(slow, burst);
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => bursty.consume("e")));
    assert.equal(outcomes.filter((o) => o.status === "fulfilled").length, 8);
    const union = new RateLimiterUnion(slow, burst);
    await assert.rejects(union.consume("e"));
  },
}, () => new Redis({ port, host: "127.0.0.1" }), async (r) => { await r.quit(); });
