import { mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildPolicyPack } from "../../policies/build.ts";

test("a pack that one command is reading stays whole while another builds it", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "steward-pack-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await buildPolicyPack(folder);
  const names = await readdir(folder);
  expect(names.sort()).toEqual(["PulumiPolicy.yaml", "index.cjs", "package.json"]);
  const reading = await Promise.all(
    names.map(async (name) => {
      await writeFile(path.join(folder, name), `the former ${name}`);
      return open(path.join(folder, name));
    }),
  );

  await Promise.all([buildPolicyPack(folder), buildPolicyPack(folder)]);

  const read = await Promise.all(reading.map((file) => file.readFile("utf8")));
  await Promise.all(reading.map((file) => file.close()));
  expect(names.filter((name, index) => read[index] !== `the former ${name}`)).toEqual([]);
  expect((await readdir(folder)).sort()).toEqual(names);
});
