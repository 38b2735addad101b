import { expect, it } from "vitest";
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
  for (const tag of ["script", "style"]) {
    const text = new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`).exec(page)?.[1] ?? "";
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
    expect(policy).toContain(`${tag}-src 'sha256-${hash}'`);
  }
  expect(wakes).toEqual(["visitor"]);
});

it("says what the socket's address is", async () => {
  const { app } = edgeFixture();
  const plain = await app.request("/chat/socket");
  expect(plain.status).toBe(426);
  expect(await plain.json()).toMatchObject({ code: "chat_upgrade_required" });
});
