import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { browserIsMissing, openBrowser, signIn } from "../support/browser.ts";
import { type Certificate, selfSigned } from "../support/certificate.ts";
import { edgeFixture } from "../support/edge.ts";
import { temporaryDirectory } from "../runtime/support/processes.ts";

const ADMIN_TOKEN = "the-admin-token-0123456789";
const HOST = "steward.corp.example";
/** Of the same site, so that the browser adds even a cookie that is SameSite=Strict. */
const SIBLING = "sibling.corp.example";
const CHANGE = "/debug/cli?cmd=workspace+write+AGENTS.md+none+--+mine";
const READ = "/debug/cli?cmd=status";
const ATTEMPTS = 5;

/** Elements and scripts of a page that make the browser request an address as soon as the page is open. */
const LOADED = (url: string) => `
  <img src="${url}"><script src="${url}"></script><script type="module" src="${url}"></script>
  <link rel="stylesheet" href="${url}"><link rel="prefetch" href="${url}">
  <iframe src="${url}"></iframe><object data="${url}"></object><video src="${url}" preload="auto"></video>
  <script>
    const sent = { mode: "no-cors", credentials: "include" };
    const { searchParams: body } = new URL("${url}");
    fetch("${url}", sent);
    fetch("${url}", { ...sent, method: "POST", body });
    navigator.sendBeacon("${url}", body);
  </script>`;

/** Pages that take the browser to an address, some of them after a click. */
const LEADING: Record<string, (url: string) => string> = {
  "a redirect": (url) => `<meta http-equiv="refresh" content="0;url=${url}">`,
  "a script": (url) => `<script>location.href = "${url}"</script>`,
  "a new window": (url) => `<a id="go" target="_blank" href="${url}">go</a>`,
  "a link": (url) => `<a id="go" href="${url}">go</a>`,
  "a link without a referrer": (url) => `<a id="go" rel="noreferrer" href="${url}">go</a>`,
  "a form": (url) => form("get", url),
  "a form by POST": (url) => form("post", url),
};

function form(method: string, url: string): string {
  const fields = [...new URL(url).searchParams].map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
  );
  return `<form method="${method}" action="${url}">${fields.join("")}<button id="go">go</button></form>`;
}

/** Serves an app on loopback, and returns its port. */
async function start(
  fetch: Parameters<typeof serve>[0]["fetch"],
  tls: Certificate | undefined,
): Promise<number> {
  const options = { fetch, hostname: "127.0.0.1", port: 0 };
  const server = tls ? serve({ ...options, createServer, serverOptions: tls }) : serve(options);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test.skipIf(browserIsMissing).each([
  ["http", SIBLING],
  ["http", HOST],
  ["https", SIBLING],
])("over %s no page of %s changes anything", { timeout: 180_000 }, async (scheme, attacker) => {
  const tls =
    scheme === "https" ? await selfSigned(await temporaryDirectory(), "DNS:*.corp.example") : undefined;
  const { app, requests } = edgeFixture({ adminToken: ADMIN_TOKEN, clock: Date.now });
  const port = await start(app.fetch, tls);
  const steward = `${scheme}://${HOST}:${port}`;
  let body = "";
  const pages = new Hono().get("/", (context) => context.html(`<title>a page</title>${body}`));
  const foreign = `${scheme}://${attacker}:${await start(pages.fetch, tls)}/`;
  const args = ["--host-resolver-rules=MAP *.corp.example 127.0.0.1"];
  const page = await openBrowser({ ignoreHTTPSErrors: true }, args);
  const context = page.context();
  await page.goto(`${steward}/_admin/`);
  await signIn(page, ADMIN_TOKEN);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const ran = (word: string) =>
    requests.filter(({ request: { body } }) => body?.includes(`"${word}"`)).length;

  const visit = async (markup: string): Promise<void> => {
    body = markup;
    await page.goto(foreign, { waitUntil: "networkidle" });
    const button = page.locator("#go");
    if ((await button.count()) > 0) await button.click();
    await page.waitForLoadState("networkidle");
    for (const other of context.pages()) if (other !== page) await other.close();
  };
  // More than once if need be: while a network of the host comes or goes, the browser ends its requests.
  for (let attempt = 0; attempt < ATTEMPTS && ran("status") === 0; attempt += 1)
    await visit(LOADED(`${steward}${READ}`));
  // On plain http the browser sends the session too, so it is not a missing session that stops the changes below.
  expect(ran("status") > 0).toBe(scheme === "http");
  await visit(LOADED(`${steward}${CHANGE}`));
  expect(ran("workspace write")).toBe(0);
  for (const [name, markup] of Object.entries(LEADING)) {
    await visit(markup(`${steward}${CHANGE}`));
    expect([name, ran("workspace write")]).toEqual([name, 0]);
  }

  // Whoever follows the link sees the page that asks, and can confirm.
  body = (LEADING["a link"] ?? String)(`${steward}${CHANGE}`);
  for (let attempt = 0; attempt < ATTEMPTS && ran("workspace write") === 0; attempt += 1) {
    await page.goto(foreign);
    await page.locator("#go").click();
    await page.waitForLoadState("networkidle");
    while ((await page.getByRole("button", { name: "Continue" }).count()) > 0) {
      await page.getByRole("button", { name: "Continue" }).click();
      await page.waitForLoadState("networkidle");
    }
  }
  expect(ran("workspace write")).toBe(1);
});
