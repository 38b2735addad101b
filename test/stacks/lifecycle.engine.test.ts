import type { RequestFault } from "../../rehearsal/cloudflare/faults.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { fixFor, stackShell, typeFix } from "../journeys/typed.ts";
import { ACCOUNT, clientOf, TOKEN } from "../rehearsal/support.ts";
import { MODEL_KEY, startServerlessStage, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, stateText, UPDATE_MS, type TestStack } from "../support/stack.ts";

const NEXT_KEY = "sk-test-the-next-key-9876543210";
const IMAGE = "steward:one";

describe("the life of a serverless stack", () => {
  let world: ServerlessStage;
  let subject: TestStack;

  beforeAll(async () => {
    world = await startServerlessStage();
    subject = await world.stack({ config: { "steward:image": { value: IMAGE } } });
  }, ENGINE_MS);

  beforeEach(() => {
    const { faults } = world.stage.cloudflare;
    faults.requests.length = 0;
    faults.rollouts.clear();
  });

  afterAll(() => world?.close(), UPDATE_MS);

  test(
    "begins although Cloudflare throttles, fails for a moment, and loses the answer about the application",
    async () => {
      const faults: RequestFault[] = [
        { method: "POST", path: /^\/workers\/workers$/, times: 1, outcome: 429 },
        { method: "POST", path: /^\/r2\/buckets$/, times: 1, outcome: 503 },
        { method: "GET", path: /^\/workers\/durable_objects\/namespaces/, times: 1, outcome: 500 },
        { method: "POST", path: /^\/containers\/applications$/, times: 1, outcome: "lost after" },
      ];
      meet(...faults);
      const update = await subject.stack.up();

      expect(update.summary.result).toBe("succeeded");
      expect(faults.map(({ times }) => times)).toEqual([0, 0, 0, 0]);
      expect(account().applications).toMatchObject([{ id: update.outputs["containerApplicationId"]?.value }]);
    },
    UPDATE_MS,
  );

  test(
    "does nothing in a second update",
    async () => {
      expect(Object.keys((await update()) ?? {})).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test(
    "says what to type where the token is none, and goes on after it",
    async () => {
      await subject.stack.setConfig("cloudflare:apiToken", { value: "y".repeat(40), secret: true });
      const failure = await subject.stack.preview().then(() => "", String);
      const fill = (line: string) => line.replace("<token>", TOKEN);
      await typeFix(await stackShell(subject, "token"), fixFor("token_refused", failure), fill);
      expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test(
    "takes another secret and another sleep over, with one version and no migration",
    async () => {
      await subject.stack.setConfig("steward:anthropicApiKey", { value: NEXT_KEY, secret: true });
      await subject.stack.setConfig("steward:sleepAfter", { value: "30m" });
      const versions = account().versions.length;

      // The deployment, the tried secret and the estimate change in place.
      expect(await update()).toMatchObject({ replace: 2, update: 3 });
      expect(account().versions).toHaveLength(versions + 1);
      const { bindings, migrations } = account().versions.at(-1) ?? {};
      expect(migrations).toBeUndefined();
      expect(bindings).toContainEqual({ type: "secret_text", name: "ANTHROPIC_API_KEY", text: NEXT_KEY });
      expect(bindings).toContainEqual({ type: "plain_text", name: "SANDBOX_SLEEP_AFTER", text: "30m" });
      const state = await stateText(subject);
      expect([MODEL_KEY, NEXT_KEY].filter((key) => state.includes(key))).toEqual([]);
    },
    UPDATE_MS,
  );

  test(
    "finds by a refresh what someone has changed by hand, and puts it right",
    async () => {
      const { applications } = clientOf(world.stage.cloudflare.url).containers;
      const [{ id = "" } = {}] = account().applications;
      await applications.edit(id, { account_id: ACCOUNT, max_instances: 7 });
      await applications.rollouts.create(id, {
        account_id: ACCOUNT,
        description: "by hand",
        strategy: "rolling",
        target_configuration: { image: "steward:by-hand" },
      });
      await expect
        .poll(() => account().applications)
        .toMatchObject([{ configuration: { image: "steward:by-hand" } }]);
      const refresh = await subject.stack.refresh();

      expect(refresh.summary.resourceChanges).toMatchObject({ update: 1 });
      expect(await update()).toMatchObject({ update: 1 });
      expect(account().applications).toMatchObject([
        { settings: { max_instances: 1 }, configuration: { image: IMAGE } },
      ]);
    },
    UPDATE_MS,
  );

  test(
    "fails with a rollout that fails, goes on with the former image, and recovers",
    async () => {
      const { faults } = world.stage.cloudflare;
      faults.rollouts.set("steward:broken", "manifest unknown");
      await subject.stack.setConfig("steward:image", { value: "steward:broken" });
      const failure = await subject.stack.up().then(() => "", String);

      expect(failure).toContain("Rollout of steward:broken: progressing, 0 of 1 containers");
      expect(failure).toContain("The rollout of steward:broken on lite was reverted. Cloudflare says: ");
      expect(failure).toContain("ImagePullError: manifest unknown (rollout_failed)");
      expect(account().applications).toMatchObject([{ configuration: { image: IMAGE } }]);
      expect((await fetch(`${world.front.url}/healthz`)).status).toBe(200);

      faults.rollouts.clear();
      expect(await update()).toMatchObject({ update: 1 });
      expect(account().applications).toMatchObject([{ configuration: { image: "steward:broken" } }]);
    },
    UPDATE_MS,
  );

  test(
    "finishes in the next update what a lost connection has cut off",
    async () => {
      // The client asks three times.
      meet({ method: "POST", path: /\/versions$/, times: 3, outcome: "lost before" });
      await subject.stack.setConfig("steward:logLevel", { value: "debug" });

      expect(await subject.stack.up().then(() => "", String)).toMatch(
        /POST "http:\S+\/versions\S*": .*ECONNRESET/,
      );
      await update();
      expect(account().versions.at(-1)?.bindings).toContainEqual({
        type: "plain_text",
        name: "LOG_LEVEL",
        text: "debug",
      });
    },
    UPDATE_MS,
  );

  test(
    "goes on with a rollout that is under way, and starts none twice",
    async () => {
      const goOn = world.stage.cloudflare.faults.holdRollouts();
      const rolloutCount = () => account().applications[0]?.rollouts.length ?? 0;
      const before = rolloutCount();
      meet({ method: "GET", path: /\/rollouts\//, times: 3, outcome: "lost before" });
      await subject.stack.setConfig("steward:image", { value: "steward:two" });
      expect(await subject.stack.up().then(() => "", String)).toContain("does not answer: ");

      // Seen once by the update that goes on with it.
      const seen: RequestFault = { method: "GET", path: /\/rollouts\//, times: 1, outcome: 503 };
      meet(seen);
      const finishing = update();
      await vi.waitFor(() => expect(seen.times).toBe(0), { timeout: UPDATE_MS / 2 });
      goOn();
      await finishing;

      expect(rolloutCount()).toBe(before + 1);
      expect(account().applications).toMatchObject([{ configuration: { image: "steward:two" } }]);
      expect(Object.keys((await subject.stack.preview()).changeSummary)).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  test(
    "keeps a protected bucket when it is destroyed",
    async () => {
      await subject.stack.setConfig("steward:protectState", { value: "true" });
      await update();

      expect(await subject.stack.destroy().then(() => "", String)).toContain("is protected");
      await subject.stack.destroy({ excludeProtected: true });
      const { workers, policies, accessApplications, buckets } = account();
      expect([workers, policies, accessApplications].flat()).toEqual([]);
      expect(buckets.map(({ name }) => name)).toEqual(["test-steward"]);
    },
    UPDATE_MS,
  );

  test(
    "takes its bucket over when its state is lost, by the confirmation that the preview prints",
    async () => {
      const kept = account().buckets[0];
      const other = await world.stack();
      const refused = await other.stack.preview().then(() => "", String);
      const [, id = ""] = /pulumi config set -s test steward:adoptBucket (\S+)/.exec(refused) ?? [];

      await other.stack.setConfig("steward:adoptBucket", { value: id });
      await other.stack.up();
      expect(account().buckets).toEqual([kept]);
      await other.stack.removeConfig("steward:adoptBucket");
      expect(Object.keys((await other.stack.preview()).changeSummary)).toEqual(["same"]);
    },
    UPDATE_MS,
  );

  const account = () => world.stage.cloudflare.account.state;
  const update = async () => (await subject.stack.up()).summary.resourceChanges;

  function meet(...faults: RequestFault[]): void {
    const { requests } = world.stage.cloudflare.faults;
    requests.splice(0, requests.length, ...faults);
  }
});
