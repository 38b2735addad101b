import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { barriers } from "../support/accessibility.ts";
import { browserIsMissing, openBrowser, refusalsByPolicy } from "../support/browser.ts";
import { startHost } from "../support/host.ts";
import { startScriptedModel } from "../support/scripted-model.ts";
import { shoot } from "../support/screenshots.ts";
import { steward } from "../runtime/support/cli.ts";
import { png } from "../runtime/support/files.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 30_000 };
const HTML = "<script>document.title = 'gone'</script>";

test.skipIf(browserIsMissing)(
  "files and choices appear on the chat page, and are there after a reload",
  async () => {
    const model = await startScriptedModel("127.0.0.1", [
      { name: "send_file", input: { path: "chart.png", caption: "As asked" } },
      { name: "send_file", input: { path: "page.html" } },
      { name: "ask_choices", input: { question: "Paint it **now**?", choices: ["Yes", "No"] } },
    ]);
    onTestFinished(() => model.close());
    const host = await startHost({ build: "bundle", environment: { ANTHROPIC_BASE_URL: model.url } });
    onTestFinished(() => host.stop());
    await host.inState("ready");
    await mkdir(join(host.home, "workspace"), { recursive: true });
    await writeFile(join(host.home, "workspace/chart.png"), png(300, 200));
    await writeFile(join(host.home, "workspace/page.html"), HTML);
    const page = await openBrowser();
    const refused = refusalsByPolicy(page);
    await page.goto(`${host.url}/chat`);
    await expect.poll(() => page.locator("#command").textContent(), SOON).toMatch(/devices approve/);
    const shown = (await page.locator("#command").textContent()) ?? "";
    await steward({ STEWARD_HOME: host.home }, ...shown.split(" ").slice(1));
    await page.locator("#text:enabled").fill("send me the chart");
    await page.keyboard.press("Enter");

    const picture = page.locator("article img");
    const width = () => picture.evaluate((image) => Number(Reflect.get(image, "naturalWidth")));
    await expect.poll(width, SOON).toBe(300);
    const articles = page.locator("article");
    const texts = ["send me the chart", "Done.", "As asked", "page.html", "Paint it now?"];
    const all = async () => texts.every((text, at) => (order[at] ?? "").includes(text));
    let order: string[] = [];
    await expect.poll(async () => ((order = await articles.allTextContents()), all()), SOON).toBe(true);
    expect(await page.locator("article strong").textContent()).toBe("now");
    expect(await barriers(page)).toEqual([]);
    await shoot(page, "chat-items");

    const downloads = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download page.html" }).click();
    const download = await downloads;
    expect(download.suggestedFilename()).toBe("page.html");
    expect(await readFile(await download.path(), "utf8")).toBe(HTML);
    const item = await picture.getAttribute("data-item");
    expect((await host.request(`/chat/files/${item}`)).status).toBe(403);

    await page.getByRole("button", { name: "Yes" }).click();
    await expect.poll(() => page.locator("article.own").last().textContent(), SOON).toContain("Yes");
    await expect.poll(() => articles.filter({ hasText: "✓ Yes" }).count(), SOON).toBe(1);
    expect(await page.getByRole("button", { name: "No", exact: true }).count()).toBe(0);

    await page.reload();
    await expect.poll(width, SOON).toBe(300);
    await expect.poll(() => articles.filter({ hasText: "✓ Yes" }).count(), SOON).toBe(1);
    expect(await page.title()).toBe("steward chat");
    expect(refused).toEqual([]);
  },
);
