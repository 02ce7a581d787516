// Sessions of a web server (express-session) in connect-redis: sessions.js PORT SCENARIO, over real HTTP requests.
"use strict";
const assert = require("node:assert").strict;
const http = require("node:http");
const { once } = require("node:events");
const { load, run } = require("./scenario.js");

const { createClient } = load("redis");
const { RedisStore } = load("connect-redis");
const session = load("express-session");
const prefix = `sess-${process.pid}:`;

async function website(client) {
  const middleware = session({ store: new RedisStore({ client, prefix, ttl: 300 }), secret: "s", resave: false, saveUninitialized: false });
  const server = http.createServer((request, response) => middleware(request, response, async (error) => {
    if (error) return response.writeHead(500).end(String(error));
    if (request.url === "/leave") return request.session.destroy(() => response.end("bye"));
    request.session.views = (request.session.views ?? 0) + 1;
    response.end(String(request.session.views));
  }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}

run({
  async visits(client) {
    const { server, origin } = await website(client);
    const visitors = Array.from({ length: 20 }, () => ({ cookie: "" }));
    const visit = async (visitor, path = "/") => {
      const response = await fetch(origin + path, { headers: { cookie: visitor.cookie } });
      visitor.cookie = (response.headers.get("set-cookie") ?? visitor.cookie).split(";")[0];
      return response.text();
    };
    for (let i = 1; i <= 5; i++) assert.deepEqual(await Promise.all(visitors.map((v) => visit(v))), Array(20).fill(String(i)));
    const store = new RedisStore({ client, prefix });
    assert.equal(await store.length(), 20);
    assert.ok((await store.all()).every((s) => s.views === 5 && s.id));
    const key = prefix + decodeURIComponent(visitors[0].cookie.split("=")[1]).slice(2).split(".")[0];
    assert.ok(await client.ttl(key) > 290);
    assert.equal(await visit(visitors[0], "/leave"), "bye");
    assert.equal(await store.length(), 19);
    assert.equal(await visit(visitors[0]), "1");
    assert.equal(await visit(visitors[1]), "6");
    await store.clear();
    assert.equal(await store.length(), 0);
    server.closeAllConnections();
    server.close();
  },
}, () => createClient({ url: `redis://127.0.0.1:${process.argv[2]}` }).connect(), async (client) => { client.destroy(); });
