import { describe, expect, test } from "vitest";
import { noDmPolicy } from "../../../policies/rules/no-dm-policy.ts";
import { container, violations, workerVersion } from "../resources.ts";

const MESSAGE =
  "TELEGRAM_DM_POLICY is set, which ends the gateway. Remove TELEGRAM_DM_POLICY; where a secret cannot be deleted, set it to the empty value.";

describe("no-dm-policy", () => {
  test("passes where the variable is not there", async () => {
    expect(await violations(noDmPolicy, workerVersion())).toEqual([]);
    expect(await violations(noDmPolicy, container())).toEqual([]);
  });

  test("passes the empty value", async () => {
    const empty = { name: "TELEGRAM_DM_POLICY", type: "plain_text", text: "" };

    expect(await violations(noDmPolicy, workerVersion([empty]))).toEqual([]);
    expect(await violations(noDmPolicy, container(["TELEGRAM_DM_POLICY="]))).toEqual([]);
  });

  test.each(["plain_text", "secret_text"])(
    "refuses it as a Worker's binding of the type %s",
    async (type) => {
      const resource = workerVersion([{ name: "TELEGRAM_DM_POLICY", type, text: "open" }]);

      expect(await violations(noDmPolicy, resource)).toEqual([MESSAGE]);
    },
  );

  test("refuses it in a container's environment", async () => {
    expect(await violations(noDmPolicy, container(["TELEGRAM_DM_POLICY=open"]))).toEqual([MESSAGE]);
  });
});
