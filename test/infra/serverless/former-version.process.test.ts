import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type PreviousVersion,
  restorePreviousVersion,
  readPreviousVersion,
} from "../../../infra/serverless/previous-version.ts";
import {
  ACCOUNT,
  deployAll,
  inAccount,
  SCRIPT,
  type Stage,
  startStage,
  tieApplication,
  TOKEN,
} from "../../rehearsal/support.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await startStage();
});

afterAll(() => stage?.close());

test("a number of containers that an update has raised is put back, and told apart from the image", async () => {
  const { namespaceId } = await deployAll(stage.client);
  const { id } = await tieApplication(stage.client, namespaceId);
  const deployed = {
    access: { accountId: ACCOUNT, apiToken: TOKEN, baseURL: stage.cloudflare.url },
    scriptName: SCRIPT,
    applicationName: "steward-sandbox",
  };
  const former = (await readPreviousVersion(deployed)) as PreviousVersion;
  await stage.client.containers.applications.edit(id, { ...inAccount, max_instances: 10 });

  expect(await restorePreviousVersion(deployed, former)).toEqual(["Maximum concurrent containers: 10 → 1."]);
  expect(await stage.client.containers.applications.get(id, inAccount)).toMatchObject({ max_instances: 1 });
  expect(await restorePreviousVersion(deployed, former)).toEqual([]);
});
