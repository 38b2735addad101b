import { afterAll, beforeAll, expect, test } from "vitest";
import { findNamespace } from "../../../infra/serverless/namespaces.ts";
import { ACCOUNT, startStage, TOKEN, type Stage } from "../../rehearsal/support.ts";

const OWN = { id: "own", script: "steward", class: "Sandbox" };

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
  const others = Array.from({ length: 150 }, (_, number) => ({
    ...OWN,
    id: `another-${number}`,
    script: `another-${number}`,
  }));
  await stage.cloudflare.account.change((draft) => {
    draft.namespaces = [...others, OWN] as typeof draft.namespaces;
  });
});

afterAll(() => stage?.close());

const lookUp = (scriptName = OWN.script) =>
  findNamespace(
    { accountId: ACCOUNT, apiToken: TOKEN, baseURL: stage.cloudflare.url },
    { scriptName, className: OWN.class },
  );

test("a namespace is found behind more than one page of others, and one that is not there is not", async () => {
  expect(await lookUp()).toBe("own");
  expect(await lookUp("nobody")).toBeUndefined();
});

test.each([429, 500, "lost before"] as const)(
  "it is found although Cloudflare fails once: %s",
  async (outcome) => {
    const fault = { method: "GET", path: /^\/workers\/durable_objects\/namespaces/, times: 1, outcome };
    stage.cloudflare.faults.requests.splice(0, Infinity, fault);
    expect(await lookUp()).toBe("own");
    expect(fault.times).toBe(0);
  },
);
