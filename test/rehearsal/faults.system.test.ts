import Cloudflare, { APIConnectionError } from "cloudflare";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RequestFault } from "../../rehearsal/cloudflare/faults.ts";
import {
  ACCOUNT,
  deployAll,
  inAccount,
  startStage,
  tieApplication,
  TOKEN,
  until,
  type Stage,
} from "./support.ts";

const BUCKETS = { method: "GET", path: /^\/r2\/buckets/ };

describe("what goes wrong on purpose, seen by the official client", () => {
  let stage: Stage;
  /** With the client's own retries, two. */
  let patient: Cloudflare;

  beforeEach(async () => {
    stage = await startStage();
    patient = new Cloudflare({ apiToken: TOKEN, baseURL: stage.cloudflare.url });
  });

  afterEach(() => stage.close());

  function meet(fault: RequestFault): RequestFault {
    stage.cloudflare.faults.requests.push(fault);
    return fault;
  }

  test("429 says when to come again, and the client waits as long", async () => {
    meet({ ...BUCKETS, times: 1, outcome: 429 });
    const answer = await stage.client.r2.buckets.list(inAccount).catch((error: unknown) => error);
    expect(answer).toMatchObject({ status: 429, errors: [{ code: 10429 }] });
    expect(Object(answer).headers.get("retry-after")).toBe("1");

    const fault = meet({ ...BUCKETS, times: 1, outcome: 429 });
    const started = performance.now();
    expect(await patient.r2.buckets.list(inAccount)).toMatchObject({ buckets: [] });
    expect(performance.now() - started).toBeGreaterThan(950);
    expect(fault.times).toBe(0);
  });

  test.each([500, 503] as const)("%i is asked again twice, and told when it stays", async (outcome) => {
    const twice = meet({ ...BUCKETS, times: 2, outcome });
    await patient.r2.buckets.list(inAccount);
    expect(twice.times).toBe(0);

    const always = meet({ ...BUCKETS, times: 9, outcome });
    await expect(patient.r2.buckets.list(inAccount)).rejects.toMatchObject({ status: outcome });
    expect(always.times).toBe(6);
  });

  test("a connection that is lost before has changed nothing, one that is lost after has", async () => {
    const { buckets } = stage.client.r2;
    const create = (name: string) => buckets.create({ ...inAccount, name });

    meet({ method: "POST", path: /^\/r2\/buckets$/, times: 1, outcome: "lost before" });
    await expect(create("never-made")).rejects.toBeInstanceOf(APIConnectionError);
    meet({ method: "POST", path: /^\/r2\/buckets$/, times: 1, outcome: "lost after" });
    await expect(create("made-unheard")).rejects.toBeInstanceOf(APIConnectionError);
    expect((await buckets.list(inAccount)).buckets?.map(({ name }) => name)).toEqual(["made-unheard"]);
  });

  test("only the request that is meant goes wrong", async () => {
    const fault = meet({ method: "DELETE", path: /^\/r2\/buckets\/one$/, times: 1, outcome: 500 });
    const { buckets } = stage.client.r2;
    for (const name of ["one", "two"]) await buckets.create({ ...inAccount, name: `${name}-bucket` });
    await buckets.delete("two-bucket", inAccount);
    expect(fault.times).toBe(1);
  });

  test("a rollout takes its time, and the next one takes its place", async () => {
    const { id } = await tieApplication(stage.client, (await deployAll(stage.client)).namespaceId);
    const goOn = stage.cloudflare.faults.holdRollouts();
    const first = await rollOut(id, "steward:two");
    expect(first).toMatchObject({
      status: "progressing",
      progress: { updated_instances: 0, total_instances: 1 },
    });
    const second = await rollOut(id, "steward:three");
    expect(await application(id)).toMatchObject({ active_rollout_id: second.id });
    goOn();

    await until(async () => (await rollout(id, second.id)).status === "completed");
    expect((await rollout(id, first.id)).status).toBe("replaced");
    expect(await application(id)).toMatchObject({ configuration: { image: "steward:three" } });
    expect(await application(id)).not.toHaveProperty("active_rollout_id");
  });

  test("a rollout that fails goes back, and says why", async () => {
    const { id } = await tieApplication(stage.client, (await deployAll(stage.client)).namespaceId);
    const before = await application(id);
    stage.cloudflare.faults.rollouts.set("steward:broken", "manifest unknown");
    const { id: rolloutId } = await rollOut(id, "steward:broken");

    await until(async () => (await rollout(id, rolloutId)).status === "reverted");
    expect(await rollout(id, rolloutId)).toMatchObject({
      health: { errors: [{ event: { name: "ImagePullError", message: "manifest unknown" } }] },
    });
    expect(await application(id)).toMatchObject({ configuration: Object(before).configuration });
  });

  const application = (id: string) => stage.client.containers.applications.get(id, inAccount);

  function rollOut(id: string, image: string) {
    return stage.client.containers.applications.rollouts.create(id, {
      ...inAccount,
      description: image,
      strategy: "rolling",
      target_configuration: { image },
    });
  }

  /** The client has no call of its own for this. */
  async function rollout(id: string, rolloutId: string): Promise<{ status: string }> {
    const path = `/accounts/${ACCOUNT}/containers/applications/${id}/rollouts/${rolloutId}`;
    return (await stage.client.get<{ result: { status: string } }>(path)).result;
  }
});
