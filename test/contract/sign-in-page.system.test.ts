import { expect, onTestFinished, test } from "vitest";
import {
  browserIsMissing,
  openBrowser,
  PHONE,
  refusalsByPolicy,
  signIn,
  unfold,
} from "../support/browser.ts";
import { startHost } from "../support/host.ts";
import { shoot } from "../support/screenshots.ts";

test.skipIf(browserIsMissing)("a person signs in and out, on a phone too", async () => {
  const host = await startHost();
  onTestFinished(() => host.stop());
  const page = await openBrowser({ viewport: PHONE });
  const refusedByPolicy = refusalsByPolicy(page);

  await page.goto(`${host.url}/_admin/`);
  expect(page.url()).toBe(`${host.url}/_admin/sign-in?next=%2F_admin%2F`);
  expect(await page.getByLabel("Admin token").getAttribute("type")).toBe("password");
  await shoot(page, "phone-sign-in-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot(page, "phone-sign-in-dark");
  await signIn(page, "wrong");
  expect(await page.getByRole("alert").textContent()).toContain("This is not the admin token");
  await shoot(page, "phone-sign-in-wrong");
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);

  await page.waitForTimeout(1_100);
  await signIn(page, host.secrets.adminToken);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(page.url()).toBe(`${host.url}/_admin/`);
  // The channels and models have long names.
  await host.inState("ready");
  await page.reload();
  await page.getByRole("heading", { name: "Models" }).waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
  await shoot(page, "phone-signed-in");
  // No script may read the session.
  expect(await page.evaluate("document.cookie")).toBe("");
  await unfold(page);
  await page.getByText("Signed in as admin").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Admin token").waitFor();
  await page.goto(`${host.url}/_admin/`);
  expect(page.url()).toContain("/_admin/sign-in");
  expect(refusedByPolicy).toEqual([]);
});
