import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { startHost } from "../support/host.ts";
import { shoot } from "../support/screenshots.ts";

const CHROMIUM = "/usr/bin/chromium";
// CI installs it: there a missing browser fails.
const missing = !existsSync(CHROMIUM) && !process.env["CI"];
const REASON = `The sign-in page is not tested: there is no ${CHROMIUM} (Debian's package chromium).\n`;
if (missing) process.stderr.write(REASON);
const PHONE = { width: 320, height: 640 };

test.skipIf(missing)("a person signs in and out, on a phone too", async () => {
  const host = await startHost();
  onTestFinished(() => host.stop());
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  onTestFinished(() => browser.close());
  const page = await (await browser.newContext({ viewport: PHONE })).newPage();
  const refusedByPolicy: string[] = [];
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) refusedByPolicy.push(message.text());
  });
  const signIn = async (token: string) => {
    await page.getByLabel("Admin token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
  };

  await page.goto(`${host.url}/_admin/`);
  expect(page.url()).toBe(`${host.url}/_admin/sign-in?next=%2F_admin%2F`);
  expect(await page.getByLabel("Admin token").getAttribute("type")).toBe("password");
  await shoot(page, "phone-sign-in-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot(page, "phone-sign-in-dark");
  await signIn("wrong");
  expect(await page.getByRole("alert").textContent()).toContain("This is not the admin token");
  await shoot(page, "phone-sign-in-wrong");
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);

  await page.waitForTimeout(1_100);
  await signIn(host.secrets.adminToken);
  await page.getByText("Signed in as admin").waitFor();
  expect(page.url()).toBe(`${host.url}/_admin/`);
  // The channels and models have long names.
  await host.inState("ready");
  await page.reload();
  await page.getByRole("heading", { name: "Models" }).waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
  await shoot(page, "phone-signed-in");
  // No script may read the session.
  expect(await page.evaluate("document.cookie")).toBe("");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Admin token").waitFor();
  await page.goto(`${host.url}/_admin/`);
  expect(page.url()).toContain("/_admin/sign-in");
  expect(refusedByPolicy).toEqual([]);
});
