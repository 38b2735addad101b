import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSqlite } from "../../../runtime/host/ledger.ts";
import { durableObject } from "../../support/durable-object.ts";
import { temporaryDirectory } from "../support/processes.ts";
import { underClockJumps, type AfterJumps } from "./clock-jumps.ts";

/** A Durable Object that does the same on its own storage. */
const SOURCE = `
  import { DurableObject } from "cloudflare:workers";
  import { durableSql } from "./runtime/worker/durable-sql.ts";
  import { underClockJumps } from "./test/runtime/ledger/clock-jumps.ts";
  export class Ledger extends DurableObject {
    async fetch(request) {
      return Response.json(await underClockJumps(durableSql(this.ctx.storage), await request.json()));
    }
  }
  export default { fetch: (request, env) => env.OBJECT.getByName("one").fetch(request) };
`;
const SEEDS = [1, 2, 3];

async function onNode(seed: number): Promise<AfterJumps> {
  const sql = openSqlite(join(await temporaryDirectory(), "state.db"));
  onTestFinished(() => sql.close());
  return underClockJumps(sql, seed);
}

async function inAnObject(seed: number): Promise<AfterJumps> {
  const ask = await durableObject(SOURCE, "Ledger");
  return (await ask(seed)) as AfterJumps;
}

test.each([
  ["the host's ledger", onNode],
  ["a Durable Object's ledger", inAnObject],
])("in %s nothing vanishes or is delivered twice while the clock jumps", async (_name, run) => {
  for (const seed of SEEDS) {
    const { events, jumps, counts, notOnce, sideBySide } = await run(seed);
    expect(events).toBeGreaterThan(500);
    expect(jumps).toBeGreaterThan(50);
    expect({ seed, counts, notOnce, sideBySide }).toEqual({
      seed,
      counts: { waiting: 0, delivering: 0, answered: events, ignored: 0, failed: 0 },
      notOnce: [],
      sideBySide: [],
    });
  }
});
