// Drives BullMQ, a queue of jobs built of Lua scripts, against a server: bullmq.js PORT SCENARIO. No job may be lost or run twice.
"use strict";
const assert = require("node:assert").strict;
const { once } = require("node:events");
const { load, run, waitUntil } = require("./scenario.js");

const { Queue, QueueEvents, Worker, FlowProducer, UnrecoverableError } = load("bullmq");
const Redis = load("ioredis");
const connection = { port: Number(process.argv[2]), host: "127.0.0.1" };
const open = [];
const name = `bull-${process.argv[3]}-${process.pid}`;

function kept(thing) {
  thing.on("error", (e) => { throw e; });
  open.push(thing);
  return thing;
}

const queue = (more) => kept(new Queue(name, { connection, ...more }));
const worker = (work, more) => kept(new Worker(name, work, { connection, ...more }));

async function events() {
  const e = kept(new QueueEvents(name, { connection }));
  await e.waitUntilReady();
  return e;
}

// Works until as many jobs have completed as are wanted; the results in the order of completion.
function completed(w, wanted) {
  const results = [];
  return new Promise((done) => w.on("completed", (job, result) => {
    results.push(result);
    if (results.length === wanted) done(results);
  }));
}

async function states(q, expected) {
  const { waiting, active, delayed, prioritized, completed, failed } = await q.getJobCounts();
  assert.deepEqual({ waiting, active, delayed, prioritized, completed, failed }, { waiting: 0, active: 0, delayed: 0, prioritized: 0, completed: 0, failed: 0, ...expected });
}

run({
  async thousand() {
    const q = queue(), heard = new Set(), e = await events();
    e.on("completed", ({ jobId }) => heard.add(jobId));
    const jobs = await q.addBulk(Array.from({ length: 500 }, (_, i) => ({ name: "add", data: { a: i, text: "ü\0" } })));
    jobs.push(...await Promise.all(Array.from({ length: 500 }, (_, i) => q.add("add", { a: 500 + i, text: "ü\0" }))));
    assert.equal(new Set(jobs.map((j) => j.id)).size, 1000);
    await states(q, { waiting: 1000 });
    const ran = new Map();
    const work = async (job) => {
      assert.equal(job.data.text, "ü\0");
      ran.set(job.data.a, (ran.get(job.data.a) ?? 0) + 1);
      await job.updateProgress(50);
      return job.data.a * 2;
    };
    await Promise.all([1, 2].map(() => worker(work, { concurrency: 25 })).map((w) => new Promise((done) => w.on("drained", done))));
    await waitUntil(() => heard.size === 1000);
    await states(q, { completed: 1000 });
    assert.equal(ran.size, 1000);
    assert.ok([...ran.values()].every((times) => times === 1));
    for (const job of await q.getJobs(["completed"], 0, -1)) {
      assert.equal(job.returnvalue, job.data.a * 2);
      assert.equal(job.progress, 50);
    }
  },
  async delayed() {
    const q = queue();
    const late = [90, 30, 60].map((delay) => q.add("late", { delay }, { delay }));
    const far = await q.add("far", {}, { delay: 3_600_000 });
    const added = await Promise.all(late);
    const order = [];
    await completed(worker(async (job) => {
      if (job.name === "far") return;
      assert.ok(Date.now() >= job.timestamp + job.data.delay, "too early");
      order.push(job.data.delay);
    }), 3);
    assert.deepEqual(order, [30, 60, 90]);
    assert.equal(added.length, 3);
    await states(q, { delayed: 1, completed: 3 });
    await far.promote();
    await waitUntil(() => far.isCompleted());
    await states(q, { completed: 4 });
  },
  async repeated() {
    const q = queue();
    await q.upsertJobScheduler("every", { every: 40, limit: 5 }, { name: "tick", data: { from: "scheduler" } });
    assert.equal((await q.getJobSchedulers()).length, 1);
    await q.upsertJobScheduler("nightly", { pattern: "0 3 * * *", tz: "UTC" }, { name: "night" });
    const seen = [], w = worker(async (job) => { seen.push(job.data.from); });
    await completed(w, 5);
    assert.deepEqual(seen, Array(5).fill("scheduler"));
    const nightly = await q.getJobScheduler("nightly");
    assert.equal(new Date(nightly.next).getUTCHours(), 3);
    assert.ok(await q.removeJobScheduler("nightly"));
    await states(q, { completed: 5 });
  },
  async prioritised() {
    const q = queue();
    for (let i = 0; i < 60; i++) await q.add("p", { priority: i % 6 }, { priority: i % 6 });
    assert.equal((await q.getJobCounts()).prioritized, 50);
    const order = [], w = worker(async (job) => { order.push(job.data.priority); }, { autorun: false });
    const all = completed(w, 60);
    w.run();
    await all;
    assert.deepEqual(order, [...order].sort((a, b) => a - b));
    await states(q, { completed: 60 });
  },
  async flows() {
    const flow = kept(new FlowProducer({ connection }));
    const children = Array.from({ length: 20 }, (_, i) => ({
      name: "part", queueName: name, data: { i }, children: [{ name: "leaf", queueName: name, data: { i } }],
    }));
    const tree = await flow.add({ name: "sum", queueName: name, data: {}, children });
    assert.equal(await tree.job.getState(), "waiting-children");
    const values = async (job) => Object.values(await job.getChildrenValues());
    const w = worker(async (job) => {
      if (job.name === "leaf") return job.data.i;
      return (await values(job)).reduce((a, b) => a + b, 0);
    }, { concurrency: 5 });
    await completed(w, 41);
    const read = await flow.getFlow({ id: tree.job.id, queueName: name, maxChildren: 100 });
    assert.equal(read.job.returnvalue, 190);
    assert.equal(read.children.length, 20);
    assert.deepEqual(await read.job.getDependenciesCount(), { processed: 20, unprocessed: 0, failed: 0, ignored: 0 });
  },
  async failures() {
    const q = queue();
    const again = await q.add("again", {}, { attempts: 3, backoff: { type: "exponential", delay: 10 } });
    const never = await q.add("never", {}, { attempts: 5 });
    const w = worker(async (job) => {
      await job.log(`attempt ${job.attemptsMade}`);
      if (job.name === "never") throw new UnrecoverableError("hopeless");
      if (job.attemptsMade < 2) throw new Error("not yet");
      return "done";
    });
    await completed(w, 1);
    await waitUntil(() => never.isFailed());
    assert.deepEqual((await q.getJobLogs(again.id)).logs, ["attempt 0", "attempt 1", "attempt 2"]);
    const dead = await q.getJob(never.id);
    assert.deepEqual([dead.failedReason, dead.attemptsMade], ["hopeless", 1]);
    await states(q, { completed: 1, failed: 1 });
    await w.close();
    await q.retryJobs();
    await states(q, { completed: 1, waiting: 1 });
    await q.obliterate();
    await states(q, {});
  },
  async stalled() {
    const q = queue(), e = await events(), stalls = [];
    e.on("stalled", ({ jobId }) => stalls.push(jobId));
    // Whoever holds the job first never comes back and never extends its lock.
    const dead = worker(null, { lockDuration: 1000, skipLockRenewal: true, skipStalledCheck: true });
    const job = await q.add("once", {});
    assert.equal((await dead.getNextJob("token")).id, job.id);
    await waitUntil(async () => await job.isActive());
    const r = new Redis(connection);
    await r.del(`bull:${name}:${job.id}:lock`);
    r.disconnect();
    await completed(worker(async () => "second", { stalledInterval: 50 }), 1);
    assert.equal((await q.getJob(job.id)).returnvalue, "second");
    await waitUntil(() => stalls.length > 0);
    assert.deepEqual(stalls, [job.id]);
  },
  async limits() {
    const q = queue();
    await q.pause();
    await q.addBulk(Array.from({ length: 12 }, (_, i) => ({ name: "l", data: i, opts: { deduplication: { id: `d${i % 6}` } } })));
    const at = [], w = worker(async () => { at.push(Date.now()); }, { limiter: { max: 2, duration: 100 } });
    assert.equal(await q.count(), 6);
    await q.resume();
    await completed(w, 6);
    assert.ok(at[5] - at[0] >= 190, `6 jobs at 2 in 100 ms took ${at[5] - at[0]} ms`);
    await states(q, { completed: 6 });
    assert.equal((await q.clean(0, 100, "completed")).length, 6);
    await states(q, {});
  },
}, async () => null, async () => { await Promise.all(open.map((thing) => thing.close())); });
