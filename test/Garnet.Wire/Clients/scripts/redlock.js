// Drives redlock, whose locks are taken, extended and given back by Lua scripts, against a server: redlock.js PORT SCENARIO.
"use strict";
const assert = require("node:assert").strict;
const { load, run } = require("./scenario.js");

const Redis = load("ioredis");
const Redlock = load("redlock");
const connect = () => new Redis({ port: Number(process.argv[2]), host: "127.0.0.1" });
const own = `redlock-${process.pid}`;

run({
  async exclusion(r) {
    const clients = Array.from({ length: 4 }, connect);
    await r.set(`${own}:count`, "0");
    await Promise.all(clients.map(async (client) => {
      const locks = new Redlock([client], { retryCount: -1, retryDelay: 2, retryJitter: 3 });
      for (let i = 0; i < 25; i++) {
        const lock = await locks.lock([`${own}:a`, `${own}:b`], 10_000);
        await client.set(`${own}:count`, Number(await client.get(`${own}:count`)) + 1);
        await lock.unlock();
      }
      client.disconnect();
    }));
    assert.equal(await r.get(`${own}:count`), "100");
    assert.equal(await r.exists(`${own}:a`, `${own}:b`), 0);
  },
  async ownership(r) {
    const locks = new Redlock([r], { retryCount: 0 });
    const lock = await locks.lock(`${own}:c`, 5_000);
    await assert.rejects(locks.lock(`${own}:c`, 5_000), { name: "LockError" });
    const longer = await lock.extend(60_000);
    assert.ok(await r.pttl(`${own}:c`) > 50_000);
    await r.set(`${own}:c`, "somebody else's");
    await assert.rejects(longer.unlock(), { name: "LockError" });
    assert.equal(await r.get(`${own}:c`), "somebody else's");
    const short = await locks.lock(`${own}:d`, 500); // of less, nothing may be left when the reply has come
    const next = await new Redlock([r], { retryCount: -1, retryDelay: 5 }).lock(`${own}:d`, 5_000);
    await assert.rejects(short.extend(100), { name: "LockError" });
    await next.unlock();
  },
}, connect, async (r) => { await r.quit(); });
