import { expect, it } from "vitest";
import { edgeFixture } from "../../support/edge.ts";

const TEXT = "main { color: red }";

async function gzipped(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

async function fixture() {
  const content = await gzipped(TEXT);
  return {
    content,
    ...edgeFixture({ state: "stopped", assets: { "a-0A1B2C3D.css": content, "a.js": content } }),
  };
}

it("serves a style as it was compressed, and lets a browser keep it for ever", async () => {
  const { app, content, wakes } = await fixture();
  const answer = await app.request("/assets/a-0A1B2C3D.css", { headers: { "accept-encoding": "br, gzip" } });
  expect(answer.status).toBe(200);
  expect(new Uint8Array(await answer.arrayBuffer())).toEqual(content);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "content-encoding": "gzip",
    "content-type": "text/css; charset=utf-8",
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
  });
  expect(wakes).toEqual([]);
});

it("decompresses for a client that does not take gzip, and has a name without a hash asked for each time", async () => {
  const answer = await (await fixture()).app.request("/assets/a.js");
  expect(await answer.text()).toBe(TEXT);
  expect(answer.headers.get("content-encoding")).toBeNull();
  expect(answer.headers.get("cache-control")).toBe("no-cache");
});

it.each(["b.js", "a.html", "..%2Fa.js", "a", ".js"])("has no %s", async (name) => {
  expect((await (await fixture()).app.request(`/assets/${name}`)).status).toBe(404);
});
