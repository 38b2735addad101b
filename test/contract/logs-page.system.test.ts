import { expect, test } from "vitest";
import { openAdmin } from "../support/admin-browser.ts";
import { browserIsMissing } from "../support/browser.ts";
import { slackEvent } from "../support/edge.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 30_000 };

test.skipIf(browserIsMissing)(
  "the logs page follows what is logged, filters it and stands still on demand",
  async () => {
    const { host, page, look, refusedByPolicy } = await openAdmin({ scripts: true });
    await page.goto(`${host.url}/_admin/logs`);
    const output = page.getByRole("region", { name: "The gateway's output" });
    const shown = async () => (await output.textContent()) ?? "";
    const asked = () => page.waitForResponse((response) => response.url().includes("/debug/logs"), SOON);
    await page.getByText("Following.").waitFor();
    expect(await output.getAttribute("aria-live")).toBe("off");
    expect(await shown()).toContain("INFO    gateway ready");

    await host.postSlack(slackEvent("Ev-one"));
    await expect.poll(shown, SOON).toContain("event answered");
    const lines = (await shown()).split("\n");
    expect(new Set(lines).size).toBe(lines.length);
    expect(await shown()).not.toContain(host.secrets.slackBotToken);
    await look("logs-following");

    await page.getByLabel("Text").fill("EVENT answered");
    expect((await shown()).split("\n").every((line) => line.includes("event answered"))).toBe(true);
    await page.getByLabel("Text").fill("");
    // What crashed without a level is shown at every one.
    const pid = await host.gatewayPid();
    await host.writeConfig({ unknown: 1 });
    process.kill(pid, "SIGABRT");
    await expect.poll(shown, SOON).toContain("Unrecognized key");
    await page.getByLabel("Level").selectOption({ label: "Errors" });
    expect(await shown()).toContain("Unrecognized key");
    expect(await shown()).not.toContain("INFO ");
    await page.getByLabel("Text").fill("nothing says this");
    await page.getByText("No line matches the filter.").waitFor();

    await page.getByLabel("Text").fill("");
    await page.getByLabel("Level").selectOption({ label: "All" });
    await page.getByRole("button", { name: "Pause" }).click();
    const before = await shown();
    await host.writeConfig({});
    await host.inState("ready");
    await page.getByText("Paused.").waitFor();
    expect(await shown()).toBe(before);
    const [answer] = await Promise.all([asked(), page.getByRole("button", { name: "Pause" }).click()]);
    expect(new URL(answer.url()).searchParams.get("after")).toMatch(/^\d+$/);
    await expect.poll(async () => (await shown()).slice(before.length), SOON).toContain("gateway ready");
    expect(refusedByPolicy).toEqual([]);
  },
);

test.skipIf(browserIsMissing)(
  "the logs page tells when no answer comes, and goes on once one does",
  async () => {
    const { host, page, refusedByPolicy } = await openAdmin({ scripts: true });
    await page.goto(`${host.url}/_admin/logs`);
    await page.getByText("Following.").waitFor();
    await page.context().setOffline(true);
    await page.getByText("No response.").waitFor();
    await page.context().setOffline(false);
    await page.getByText("Following.").waitFor();
    expect(refusedByPolicy).toEqual([]);
  },
);
