"use strict";
// What the page knows is what the stream says: one event a second, with everything in it. Texts are put in as texts, never as markup.
const KEPT = 120; // events that the charts go back
const history = [];
let before = null;
let settings = null;
const shown = new Map(); // what a table was made of: it is made anew when that changes, so that a selection outlasts a second

const at = (id) => document.getElementById(id);
const node = (name, text, className) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};

const count = (n) => Math.abs(n) >= 1e9 ? (n / 1e9).toFixed(2) + " G" : Math.abs(n) >= 1e6 ? (n / 1e6).toFixed(2) + " M" : Math.abs(n) >= 1e4 ? (n / 1e3).toFixed(1) + " k" : String(Math.round(n));
const bytes = (n) => {
  for (const [unit, size] of [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
    if (n >= size) return (n / size).toFixed(n / size < 10 ? 2 : 1) + " " + unit;
  return Math.round(n) + " B";
};
const micros = (n) => n === 0 ? "–" : n >= 1e6 ? (n / 1e6).toFixed(1) + " s" : n >= 1e3 ? (n / 1e3).toFixed(1) + " ms" : n.toFixed(n < 10 ? 1 : 0) + " µs";
const seconds = (n) => n >= 172800 ? Math.floor(n / 86400) + " days" : n >= 7200 ? Math.floor(n / 3600) + " h" : n >= 120 ? Math.floor(n / 60) + " min" : Math.floor(n) + " s";
const clock = (unix) => new Date(unix * 1000).toLocaleTimeString();

function table(id, columns, rows, none) {
  const key = JSON.stringify(rows);
  if (shown.get(id) === key) return;
  shown.set(id, key);
  const to = at(id);
  to.replaceChildren();
  if (rows.length === 0) {
    to.append(node("caption", none, "none"));
    return;
  }
  const head = to.createTHead().insertRow();
  for (const [title, className] of columns) {
    const cell = node("th", title, className);
    cell.scope = "col";
    head.append(cell);
  }
  const body = to.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    row.forEach((text, i) => line.append(node("td", text, columns[i][1])));
  }
}

function facts(id, pairs) {
  at(id).replaceChildren(...pairs.flatMap(([name, text, className]) => [node("dt", name), node("dd", text, className)]));
}

function line(values, top, className) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  made.setAttribute("points", values.map((value, i) => `${(KEPT - values.length + i).toFixed(0)},${(100 - 95 * value / top).toFixed(2)}`).join(" "));
  made.setAttribute("class", className);
  return made;
}

function chart(id, title, series, format) {
  let figure = at(id);
  if (!figure) {
    figure = node("figure", undefined, "chart");
    figure.id = id;
    const image = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    image.setAttribute("viewBox", `0 0 ${KEPT - 1} 100`);
    image.setAttribute("preserveAspectRatio", "none");
    image.setAttribute("role", "img");
    figure.append(node("figcaption"), image);
    at("charts").append(figure);
  }
  const top = Math.max(1, ...series.flatMap((one) => one.values));
  const [caption, image] = figure.children;
  const last = (one) => one.values.length ? format(one.values[one.values.length - 1]) : "–";
  const keys = series.map((one) => node("span", `${one.name} ${last(one)}`, "key k-" + one.color));
  caption.replaceChildren(node("h3", title), ...keys);
  image.replaceChildren(...series.map((one) => line(one.values, top, "s-" + one.color)));
  image.setAttribute("aria-label", `${title}: ${series.map((one) => `${one.name} ${last(one)}`).join(", ")}; at most ${format(top)}`);
}

function rates(now) {
  const f = now.figures;
  if (before && now.time > before.time && f.total_commands_processed >= before.figures.total_commands_processed) {
    const passed = (now.time - before.time) / 1000, old = before.figures;
    const per = (name) => Math.max(0, (f[name] - old[name]) / passed);
    history.push({ ops: per("total_commands_processed"), input: per("total_net_input_bytes"), output: per("total_net_output_bytes"),
      hits: f.keyspace_hits - old.keyspace_hits, misses: f.keyspace_misses - old.keyspace_misses, used: f.used_memory, resident: f.used_memory_rss });
    if (history.length > KEPT) history.shift();
  }
  return history.length ? history[history.length - 1] : null;
}

function tiles(now, rate) {
  const f = now.figures;
  const keys = now.databases.reduce((sum, one) => sum + one.keys, 0);
  const looks = rate ? rate.hits + rate.misses : 0;
  const list = [
    ["Commands per second", rate ? count(rate.ops) : "–", `${count(f.total_commands_processed)} in all`],
    ["Found", looks ? (100 * rate.hits / looks).toFixed(1) + " %" : "–", "of keys read"],
    ["Clients", count(f.connected_clients), `${count(f.blocked_clients)} wait`],
    ["Keys", count(keys), `${count(f.evicted_keys)} evicted`],
    ["Memory", bytes(f.used_memory), `of ${bytes(f.maxmemory)}`],
    ["Received, sent", rate ? `${bytes(rate.input)}/s` : "–", rate ? `${bytes(rate.output)}/s sent` : ""],
  ];
  at("tiles").replaceChildren(...list.map(([name, value, more]) => {
    const tile = node("div");
    tile.append(node("dt", name), node("dd", value), node("dd", more, "more"));
    return tile;
  }));
}

function charts() {
  const of = (name) => history.map((one) => one[name]);
  chart("c-ops", "Throughput", [{ name: "commands/s", values: of("ops"), color: "a" }], count);
  chart("c-net", "Network", [{ name: "received", values: of("input"), color: "b" }, { name: "sent", values: of("output"), color: "a" }], (n) => bytes(n) + "/s");
  chart("c-memory", "Memory", [{ name: "used", values: of("used"), color: "a" }, { name: "resident", values: of("resident"), color: "b" }], bytes);
}

function commands(now) {
  const passed = before ? (now.time - before.time) / 1000 : 0;
  const old = new Map(before ? before.commands.map((one) => [one.name, one.calls]) : []);
  table("commands", [["Command", "code"], ["Runs", "n"], ["Per second", "n"], ["Mean", "n"], ["p50", "n"], ["p99", "n"], ["p99.9", "n"], ["Failed", "n"]],
    now.commands.map((one) => [one.name, count(one.calls), passed > 0 && old.has(one.name) ? count(Math.max(0, (one.calls - old.get(one.name)) / passed)) : "–",
      micros(one.calls ? one.usec / one.calls : 0), micros(one.p50), micros(one.p99), micros(one.p999), count(one.failed)]), "No command has run yet.");
}

function memory(f) {
  const links = f.mem_clients_slaves + f.repl_backlog_histlen;
  const parts = [["Records", f.used_memory_dataset, "a"], ["Index", f.garnet_index_bytes, "b"], ["Rest of the store", Math.max(0, f.used_memory - f.used_memory_dataset - f.garnet_index_bytes - f.mem_clients_normal - f.garnet_tracking_table_bytes), "f"],
    ["Clients", f.mem_clients_normal, "c"], ["Client-side caching", f.garnet_tracking_table_bytes, "d"], ["Replicas and their backlog", links, "e"]];
  const sum = Math.max(1, parts.reduce((all, one) => all + one[1], 0));
  at("memory-bar").replaceChildren(...parts.filter((one) => one[1] > 0).map(([, size, color]) => {
    const part = node("span", undefined, "f-" + color);
    part.style.width = (100 * size / sum).toFixed(2) + "%";
    return part;
  }));
  const body = parts.map(([name, size, color]) => {
    const row = node("tr"), cell = node("th");
    cell.scope = "row";
    cell.append(node("span", name, "key k-" + color));
    row.append(cell, node("td", bytes(size), "n"), node("td", (100 * size / sum).toFixed(1) + " %", "n"));
    return row;
  });
  at("memory").replaceChildren(...body);
}

function keeping(now) {
  const f = now.figures;
  const rows = [["Kept by", now.keeping]];
  if (f.aof_enabled) rows.push(["Log", f.aof_last_write_status ? "written" : "CANNOT BE WRITTEN", f.aof_last_write_status ? "good" : "bad"], ["Log files", `${count(f.garnet_aof_segments)}, ${bytes(f.aof_current_size)}`],
    ["Not written yet", bytes(f.aof_buffer_length)], ["Last sync took", micros(f.garnet_aof_last_sync_usec)], ["Batches open, durable", `${f.garnet_aof_open_batch}, ${f.garnet_aof_durable_batch}`]);
  rows.push(["Last snapshot", f.rdb_saves ? seconds(now.time / 1000 - f.rdb_last_save_time) + " ago" : "none since the start"],
    ["Its result", f.rdb_last_bgsave_status ? (f.rdb_saves ? "succeeded" : "–") : "FAILED", f.rdb_last_bgsave_status ? "" : "bad"],
    ["Changes since", count(f.rdb_changes_since_last_save)], ["Now", f.rdb_bgsave_in_progress ? "a snapshot is being taken" : f.loading ? "loading" : "at rest"]);
  facts("keeping", rows);
}

function replication(now) {
  facts("primary", now.primary ? [["Primary", now.primary.address], ["Link", now.primary.up ? "up" : "DOWN", now.primary.up ? "good" : "bad"], ["Behind", now.primary.lagMs + " ms"]] : []);
  table("replicas", [["Replica", "code"], ["State"], ["Behind", "n"], ["Bytes", "n"], ["Silent", "n"]],
    now.replicas.map((one) => [one.address, one.state, one.lagMs + " ms", bytes(one.lagBytes), one.silentMs + " ms"]), "No replica is connected.");
}

function tier(now) {
  at("tier-section").hidden = !now.tier;
  if (!now.tier) return;
  const f = now.figures;
  facts("tier", [["Records on it", count(f.tier_cold_records)], ["Room", bytes(f.tier_size_bytes)], ["Used", bytes(f.tier_live_bytes)], ["Free segments", bytes(f.tier_free_bytes)], ["Hits in memory", count(f.tier_memory_hits)], ["Hits on it", count(f.tier_hits)],
    ["Moved to it", count(f.tier_demoted_records)], ["Came back", count(f.tier_promoted_records + f.tier_returned_records)], ["Reads under way", count(f.tier_pending_reads)], ["Failures", count(f.tier_read_failures + f.tier_write_failures), f.tier_read_failures + f.tier_write_failures ? "bad" : ""]]);
}

function lists(all) {
  const why = all.viewer === undefined ? "To be seen by users who log in." : "This user may not see it.";
  table("hot", [["Key", "code"], ["Of commands on keys", "n"]], (all.hotKeys || []).map((one) => [one.key, (100 * one.share).toFixed(1) + " %"]), all.hotKeys ? "No key is named often." : why);
  table("slow", [["When"], ["Took", "n"], ["Command", "code"], ["Client", "code"]], (all.slowLog || []).map((one) => [clock(one.time), micros(one.usec), one.command, one.client]), all.slowLog ? "Nothing has been slow." : why);
  table("clients", [["Id", "n"], ["Address", "code"], ["Name"], ["User"], ["Database", "n"], ["Age", "n"], ["Idle", "n"], ["Command", "code"], ["Memory", "n"]],
    (all.clients || []).map((one) => [String(one.id), one.address, one.name, one.user, String(one.db), seconds(one.age), seconds(one.idle), one.command, bytes(one.memory)]), all.clients ? "Nobody is connected." : why);
  if (all.settings) settings = all.settings;
  showSettings(settings ? "None of that name." : why);
  const name = at("viewer");
  if (all.viewer !== undefined && name.dataset.user !== all.viewer) {
    name.dataset.user = all.viewer;
    name.textContent = "User " + all.viewer;
  }
}

const origins = { Default: "default", File: "file", Environment: "environment", CommandLine: "command line", ConfigSet: "CONFIG SET" };
function showSettings(none) {
  const name = at("filter-name").value.trim().toLowerCase(), withDefaults = at("filter-all").checked || name.length > 0;
  const rows = (settings || []).filter((one) => one.name.includes(name) && (withDefaults || one.source !== "Default"));
  table("settings", [["Setting", "code"], ["Value", "code"], ["Set by"], ["Where", "code"]],
    rows.map((one) => [one.name, one.value, origins[one.source] || one.source, one.where]), settings && !name ? "All have their defaults." : none);
}

function show(all) {
  const now = all.overview;
  at("version").textContent = now.version;
  at("identity").textContent = `${now.role}, up for ${seconds(now.figures.uptime_in_seconds)}, process ${now.figures.process_id}`;
  const problems = now.ready.filter((one) => one.problem);
  say(problems.length ? "Not ready: " + problems.map((one) => one.problem).join("; ") : "Ready", problems.length ? "bad" : "good");
  at("ready").replaceChildren(...now.ready.map((one) => node("li", one.problem ? `✗ ${one.name}: ${one.problem}` : `✓ ${one.name}`, one.problem ? "bad" : "good")));
  tiles(now, rates(now));
  charts();
  commands(now);
  memory(now.figures);
  keeping(now);
  replication(now);
  tier(now);
  table("databases", [["Database", "n"], ["Keys", "n"], ["Expire", "n"]], now.databases.map((one) => [String(one.db), count(one.keys), count(one.expires)]), "There are no keys.");
  lists(all);
  before = now;
}

// Said to who cannot see when it changes only.
function say(text, className) {
  const to = at("state");
  if (to.textContent === text) return;
  to.textContent = text;
  to.className = className;
}

let late = 0; // a stream ends each minute, and the browser asks anew by itself: told is only what lasts
function listen() {
  const stream = new EventSource("/events");
  stream.onmessage = (event) => {
    clearTimeout(late);
    late = 0;
    show(JSON.parse(event.data));
  };
  stream.onerror = () => {
    late = late || setTimeout(() => say("The server does not answer; trying again", "bad"), 4000);
    if (stream.readyState !== EventSource.CLOSED) return;
    stream.close();
    setTimeout(listen, 5000);
  };
}

at("filter").addEventListener("submit", (event) => event.preventDefault());
at("filter").addEventListener("input", () => showSettings("None of that name."));
listen();
