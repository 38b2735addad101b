import { expect, it } from "vitest";
import type { PortRequest } from "../../../runtime/edge/ports.ts";
import { edgeFixture } from "../../support/edge.ts";

it("serves the chat page to everyone, in any state, with nothing but its own script and style", async () => {
  const { app, wakes } = edgeFixture({ state: "stopped" });
  const response = await app.request("https://chat.example/chat");
  expect(response.status).toBe(200);
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  expect(policy).toContain("connect-src 'self' ws://chat.example wss://chat.example");
  const page = await response.text();
  expect(policy).toContain("script-src 'self'; style-src 'self'");
  expect(page).not.toMatch(/<style|<script[^>]*>[^<]|<script(?![^>]* src="\/assets\/)/);
  expect(wakes).toEqual(["visitor"]);
});

it("can be installed as an app, without waking anything", async () => {
  const { app, wakes } = edgeFixture({ state: "stopped" });
  const response = await app.request("/chat/manifest");
  expect(response.headers.get("content-type")).toBe("application/manifest+json");
  const { icons, ...manifest } = (await response.json()) as { icons: { src: string; sizes: string }[] };
  expect(manifest).toMatchObject({ start_url: "/chat", scope: "/chat", display: "standalone" });
  expect(icons.map(({ src, sizes }) => [src, sizes])).toEqual([
    ["/assets/icon.svg", "any"],
    ["/assets/icon.png", "512x512"],
  ]);
  expect(wakes).toEqual([]);
});

it("says what the socket's address is", async () => {
  const { app } = edgeFixture();
  const plain = await app.request("/chat/socket");
  expect(plain.status).toBe(426);
  expect(await plain.json()).toMatchObject({ code: "chat_upgrade_required" });
});

const TICKET = `${"d".repeat(64)}.${"t".repeat(43)}`;
const FILE = `/chat/files/${"f".repeat(22)}`;

/** The edge of a gateway that answers a request for a file, and what that was asked. */
function withFile(answer: () => Response, state: "ready" | "stopped" = "ready") {
  const asked: string[] = [];
  const { app, wakes } = edgeFixture({
    state,
    answers: {
      "/chat/file": ({ body = "" }: PortRequest) => {
        asked.push(body);
        return answer();
      },
    },
  });
  const get = (path = FILE, ticket = TICKET) =>
    app.request(path, { headers: { authorization: `Bearer ${ticket}` } });
  return { get, asked, wakes };
}

it.each([
  ["image/png", "image/png"],
  ["image/svg+xml", "application/octet-stream"],
  ["text/html; charset=utf-8", "application/octet-stream"],
])("serves a file of %s as %s, which no browser opens as a page", async (given, served) => {
  const { get, asked } = withFile(() => new Response("content", { headers: { "content-type": given } }));
  const response = await get();
  expect([response.status, await response.text()]).toEqual([200, "content"]);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": served,
    "content-disposition": "attachment",
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  });
  expect(asked).toEqual([JSON.stringify({ ticket: TICKET, item: "f".repeat(22) })]);
});

it.each([404, 403])("tells why a file is not served: %i", async (status) => {
  const { get } = withFile(() => new Response("<script>", { status }));
  const response = await get();
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ fix: expect.any(String) });
});

it("asks the gateway for no file without the ticket of a page, and wakes nothing for one", async () => {
  const ready = withFile(() => new Response("content"));
  for (const [path, ticket] of [
    [FILE, ""],
    [FILE, "short"],
    [`${FILE}x`, TICKET],
    ["/chat/files/..%2fx", TICKET],
  ] as const)
    expect((await ready.get(path, ticket)).status, path).toBe(403);
  const asleep = withFile(() => new Response("content"), "stopped");
  expect((await asleep.get()).status).toBe(503);
  expect([ready.asked, asleep.asked, asleep.wakes]).toEqual([[], [], []]);
});
