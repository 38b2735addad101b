import { DatabaseSync } from "node:sqlite";
import { serve } from "@hono/node-server";

// The same work without us: a bare handler that inserts one row as durably. `node bare-node.ts <port> <file>`.
const [port, file = ""] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
database.exec("CREATE TABLE rows (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
const insert = database.prepare("INSERT INTO rows VALUES (?, ?)");
serve({
  hostname: "127.0.0.1",
  port: Number(port),
  fetch: async (request) => {
    insert.run(crypto.randomUUID(), await request.text());
    return new Response("ok");
  },
});
