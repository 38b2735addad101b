import { setTimeout as sleep } from "node:timers/promises";
import { Hono, type Context } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { compareVersions, whyNot } from "../../../infra/serverless/version-health.ts";
import { listen } from "../../../rehearsal/standins/serve.ts";

const FORMER = "version-former";
const NEXT = "version-next";
const OVERRIDE = /^steward="(.+)"$/;

/** Measures both versions at a server that asks `spoil` before it answers as the Worker does. */
async function compared(spoil: (version: string) => Promise<Response | undefined>) {
  const versionOf = ({ req }: Context) =>
    OVERRIDE.exec(req.header("cloudflare-workers-version-overrides") ?? "")?.[1] ?? "";
  const app = new Hono()
    .get("/readyz", async (context) => {
      const workerVersion = versionOf(context);
      return (await spoil(workerVersion)) ?? context.json({ state: "asleep", workerVersion }, 503);
    })
    .post("/slack/events", async (context) =>
      context.json({ challenge: (await context.req.json()).challenge }),
    );
  const server = await listen(app, { hostname: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close());
  const place = { url: server.url, scriptName: "steward", publicWebhooks: true, watchMs: 0 };
  return compareVersions([FORMER, NEXT] as const, place);
}

test("a version that answers as the one before may get more, also while the container sleeps", async () => {
  const [former, next] = await compared(async () => undefined);
  expect(next).toMatchObject({ versionId: NEXT, requests: 50, errors: 0 });
  expect(whyNot(next, former)).toBeUndefined();
});

test("one that answers wrongly gets no more", async () => {
  let asked = 0;
  const [former, next] = await compared(async (version) => {
    asked += 1;
    return version === NEXT && asked % 5 === 0 ? Response.json({}, { status: 500 }) : undefined;
  });
  expect(whyNot(next, former)).toMatch(
    /^of 50 requests to the new version \d+ were answered wrongly, to the former one 0$/,
  );
});

test("one that answers slowly gets no more", async () => {
  const [former, next] = await compared(async (version) => {
    if (version === NEXT) await sleep(250);
    return undefined;
  });
  // Half of what is asked is the challenge, which is quick: the median is the slower half's.
  expect(whyNot(next, former)).toMatch(
    /^the new version answers in \d{3,} ms, the former one in \d+ ms: at most/,
  );
});
