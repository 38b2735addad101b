import { afterEach, describe, expect, it } from "vitest";
import { buildBundle } from "../../infra/bundle/bundle.ts";
import { VERSION } from "../../runtime/contract/names.ts";
import { startHost, type HostBuild, type HostOptions } from "../support/host.ts";
import { identityGateway } from "../support/identity-gateway.ts";
import { listens } from "../support/ports.ts";
import { DEPRECATED } from "../support/targets/target.ts";

const CHALLENGE = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ type: "url_verification", challenge: "abc" }),
};

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});
async function host(options: HostOptions) {
  const service = await startHost(options);
  stop = service.stop;
  return service;
}

describe.each<HostBuild>(["source", "bundle"])("the host's process from %s", (build) => {
  it("tells operators about the container while the gateway is dead, and no secret with it", async () => {
    const { inState, request, admin, secrets, output, gatewayPort } = await host({
      build,
      config: DEPRECATED,
    });
    await inState("crash-looping");
    expect(await listens(gatewayPort)).toBe(false);
    const processes = await (await request("/debug/processes?logs=true", admin)).text();
    expect(processes).toContain("Invalid config at");
    expect(processes).toContain("crash-looping");
    const config = await (await request("/debug/container-config", admin)).json();
    expect(config).toMatchObject({ config: { channels: { telegram: { dm: {} } } }, valid: false });
    const logs = await (await request("/debug/logs?lines=50", admin)).text();
    expect(logs).toContain("Invalid config at");
    const bundle = build === "source" ? "source" : (await buildBundle()).container.hash;
    expect(await (await request("/readyz")).json()).toMatchObject({ bundle });
    expect(await (await request("/debug/version", admin)).json()).toMatchObject({
      version: VERSION,
      bundle,
      container: bundle,
      runtime: expect.stringContaining("Node.js"),
    });
    const cli = await request("/debug/cli?cmd=cat%20steward.json", admin);
    const shown = `${JSON.stringify(DEPRECATED, null, 2)}\n`;
    expect(await cli.json()).toMatchObject({ exitCode: 0, stdout: shown });
    const validation = await request("/debug/cli?cmd=config%20validate", admin);
    expect(await validation.json()).toMatchObject({
      command: "config validate",
      exitCode: 1,
      stderr: expect.stringContaining("Unrecognized key"),
    });
    expect((await request("/debug/cli?cmd=cat%20/etc/passwd", admin)).status).toBe(400);
    const page = await (await request("/_admin/", admin)).text();
    const [, style = ""] = /href="(\/assets\/[^"]+)"/.exec(page) ?? [];
    expect(await (await request(style)).text()).toContain("color-scheme");
    expect(page).toContain("Unrecognized key");
    for (const secret of Object.values(secrets))
      expect([processes, logs, page, output()].join()).not.toContain(secret);
  });

  it("lets a browser in that signs in with ADMIN_TOKEN", async () => {
    const { request, secrets, output } = await host({ build });
    const browser = { accept: "text/html", "sec-fetch-site": "same-origin" };
    const closed = await request("/_admin/", { headers: browser, redirect: "manual" });
    expect([closed.status, closed.headers.get("location")]).toEqual([
      302,
      "/_admin/sign-in?next=%2F_admin%2F",
    ]);
    const signIn = (token: string) =>
      request("/_admin/sign-in", {
        method: "POST",
        headers: browser,
        body: new URLSearchParams({ token, next: "/debug/processes" }),
        redirect: "manual",
      });
    const opened = await signIn(secrets.adminToken);
    expect([opened.status, opened.headers.get("location")]).toEqual([303, "/debug/processes"]);
    const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect((await request("/_admin/", { headers: { cookie } })).status).toBe(200);
    expect((await signIn("wrong")).status).toBe(403);
    expect((await signIn(secrets.adminToken)).status).toBe(303);
    expect(cookie + output()).not.toContain(secrets.adminToken);
  });

  it("lets in whom the identity gateway knows, and nobody by ADMIN_TOKEN then", async () => {
    const { variables, headers, headersOf } = await identityGateway();
    const { request, admin } = await host({ build, environment: variables });
    const elsewhere = {
      "cf-access-jwt-assertion": `${(await headersOf("a@example.com"))["cf-access-jwt-assertion"]}x`,
    };

    expect((await request("/debug/version", { headers })).status).toBe(200);
    expect((await request("/_admin/", { headers })).status).toBe(200);
    expect((await request("/debug/version", { headers: elsewhere })).status).toBe(403);
    expect((await request("/debug/version", admin)).status).toBe(403);
    expect((await request("/slack/events", CHALLENGE)).status).toBe(200);
  });

  it("says what is not configured, and keeps strangers out", async () => {
    const { request } = await host({ build });
    expect((await request("/_admin/")).status).toBe(403);
    expect((await request("/debug/processes")).status).toBe(403);
    await stop?.();
    const open = await host({ build, environment: { ADMIN_TOKEN: "", PUBLIC_WEBHOOKS: "false" } });
    const admin = await open.request("/_admin/");
    expect(admin.status).toBe(500);
    expect(await admin.json()).toMatchObject({ detail: "EDGE_ACCESS_AUD is not configured" });
    expect((await open.request("/slack/events", CHALLENGE)).status).toBe(401);
  });
});

it("ends with code 1 and names every wrong variable", async () => {
  const failed = startHost({ environment: { SANDBOX_SLEEP_AFTER: "soon", PUBLIC_WEBHOOKS: "maybe" } });
  await expect(failed).rejects.toThrow(/environment_invalid.*SANDBOX_SLEEP_AFTER.*PUBLIC_WEBHOOKS/s);
});
