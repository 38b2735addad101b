import { expect, onTestFinished, test } from "vitest";
import { browserIsMissing, openBrowser } from "../support/browser.ts";
import { startHost, type HostBuild } from "../support/host.ts";
import { shoot } from "../support/screenshots.ts";
import { steward } from "../runtime/support/cli.ts";

/** Generous: it ends what hangs. */
const SOON = { timeout: 30_000 };

async function open(build: HostBuild) {
  const host = await startHost({ build });
  onTestFinished(() => host.stop());
  await host.inState("ready");
  const page = await openBrowser();
  const problems: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  const response = await page.goto(`${host.url}/chat`);
  return { host, page, problems, response };
}

test.skipIf(browserIsMissing)(
  "the chat page pairs, chats as the answer grows, and has the history after a reload",
  async () => {
    const { host, page, problems, response } = await open("bundle");
    expect(response?.headers()["content-security-policy"]).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self';",
    );
    await expect
      .poll(() => page.locator("#command").textContent(), SOON)
      .toMatch(/^steward devices approve [\w-]{12}$/);
    const code = (await page.locator("#code").textContent()) ?? "";
    expect(await page.locator("#pairing a").getAttribute("href")).toBe(`/_admin/devices#request-${code}`);
    await shoot(page, "chat-pairing-light");
    const shown = (await page.locator("#command").textContent()) ?? "";
    const result = await steward({ STEWARD_HOME: host.home }, ...shown.split(" ").slice(1));
    expect(result).toMatchObject({ code: 0 });

    await page
      .locator("#text:enabled")
      .fill(
        "what is up? <b>bold</b> **loud** `x` [here](https://example.com/a) [there](javascript:alert(1))\n```\nlet x = 1;\n```\n## Steps\n1. *first*\n2. second\n\n| a | b |\n|---|---|\n| 1 | <i>2</i> |\n\n> said ~~old~~\n\n- [x] done\n- a\n  1. b\n  2. c\n\nhttps://example.com/b\n[https://a.example](https://b.example)",
      );
    await page.keyboard.press("Enter");
    const answer = page.locator("article:not(.own)[aria-busy=false]");
    await expect.poll(() => answer.textContent(), SOON).toContain("what is up?");
    // Text stays text, and fenced code stands apart.
    expect(await page.locator("article b").count()).toBe(0);
    expect(await page.locator("article.own pre").textContent()).toBe("let x = 1;");
    // An answer's Markdown is shown; a person's own words stay as they were written, and only web links are links.
    expect(await answer.locator("strong").allTextContents()).toEqual(["loud", "Steps"]);
    expect(await answer.locator("p code").textContent()).toBe("x");
    expect(await answer.locator("ol li").allTextContents()).toEqual(["first", "second", "b", "c"]);
    expect(await answer.locator("blockquote s").textContent()).toBe("old");
    expect(await answer.locator("ul > li").allTextContents()).toEqual(["☑ done", "abc"]);
    expect(await answer.locator("em").textContent()).toBe("first");
    expect(await answer.locator("pre").allTextContents()).toEqual(["let x = 1;"]);
    expect(await answer.locator("td").allTextContents()).toEqual(["1", "<i>2</i>"]);
    expect(
      await answer.locator("a").evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
    ).toEqual(["https://example.com/a", "https://example.com/b"]);
    expect(await page.locator("article.own :is(strong, a, ol, table)").count()).toBe(0);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await answer.locator(".code button").click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("let x = 1;");
    expect(await answer.getAttribute("data-time")).toMatch(/\d\d/);
    expect(await page.locator("#stop").isVisible()).toBe(false);
    await shoot(page, "chat-light");

    await page.reload();
    await expect.poll(() => page.locator("article").count(), SOON).toBe(2);
    await expect.poll(() => page.locator("#state").textContent(), SOON).toBe("Connected");
    await page.emulateMedia({ colorScheme: "dark" });
    await shoot(page, "chat-dark");
    await page.setViewportSize({ width: 360, height: 640 });
    await shoot(page, "chat-phone");
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width).toBeLessThanOrEqual(360);
    expect(problems).toEqual([]);
  },
);

test.skipIf(browserIsMissing)(
  "pictures are chosen, taken away, scaled down and sent with a message",
  async () => {
    const { host, page, problems } = await open("bundle");
    await expect.poll(() => page.locator("#command").textContent(), SOON).toMatch(/devices approve/);
    const shown = (await page.locator("#command").textContent()) ?? "";
    await steward({ STEWARD_HOME: host.home }, ...shown.split(" ").slice(1));
    await page.locator("#add:enabled").waitFor();
    // A picture of 3,000 pixels a side, as the browser itself makes it.
    const large = await page.evaluate<string>(`(() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 3000, height: 1500 });
    canvas.getContext("2d").fillRect(0, 0, 3000, 700);
    return canvas.toDataURL("image/png").split(",")[1];
  })()`);
    const file = (name: string, data: string) => ({
      name,
      mimeType: "image/png",
      buffer: Buffer.from(data, "base64"),
    });
    await page
      .locator("#file")
      .setInputFiles([file("a.png", large), file("b.png", large), file("broken.png", "AAAA")]);
    await expect.poll(() => page.locator("#trouble-text").textContent(), SOON).toContain("broken.png");
    await page.locator("#retry").click();
    expect(await page.locator("#pictures img").count()).toBe(2);
    await page.getByRole("button", { name: "Remove picture 2" }).click();
    await page.setViewportSize({ width: 390, height: 800 });
    await shoot(page, "chat-pictures");
    await page.locator("#text").fill("what is this?");
    await page.keyboard.press("Enter");
    const own = page.locator("article.own");
    await expect.poll(() => own.textContent(), SOON).toContain("what is this?");
    expect(await own.textContent()).toContain("[image: picture 1]");
    expect(await page.locator("#pictures").isVisible()).toBe(false);
    await expect
      .poll(() => page.locator("article:not(.own)[aria-busy=false]").textContent(), SOON)
      .toContain("what is this?");
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width).toBeLessThanOrEqual(390);
    expect(problems).toEqual([]);
  },
);

test.skipIf(browserIsMissing)("asks once for each press, however often it was refused before", async () => {
  const { host, page } = await open("bundle");
  const request = async (): Promise<string> => {
    const command = page.locator("#command:visible");
    await expect.poll(() => command.count(), SOON).toBe(1);
    return ((await command.textContent()) ?? "").split(" ").at(-1) ?? "";
  };
  const refuse = async (): Promise<void> => {
    const result = await steward({ STEWARD_HOME: host.home }, "devices", "reject", await request());
    expect(result).toMatchObject({ code: 0 });
    await expect.poll(() => page.locator("#state").textContent(), SOON).toBe("Not paired");
  };
  await refuse();
  // The page asks again without a press when the network is back.
  await page.evaluate("dispatchEvent(new Event('online'))");
  await refuse();
  let sockets = 0;
  page.on("websocket", () => (sockets += 1));
  await page.locator("#retry").click();
  await request();
  await expect.poll(() => page.locator("#state").textContent(), SOON).toBe("Waiting for approval");
  expect(sockets).toBe(1);
});

test.skipIf(browserIsMissing)("without a gateway the chat page says so and goes on by itself", async () => {
  const { host, page } = await open("source");
  await expect.poll(() => page.locator("#pairing").isVisible(), SOON).toBe(true);
  await host.writeConfig({ nonsense: true });
  process.kill(await host.gatewayPid(), "SIGKILL");
  await host.inState("crash-looping");
  await expect.poll(() => page.locator("#state").textContent(), SOON).toContain("Disconnected");
  await host.writeConfig({});
  await expect.poll(() => page.locator("#pairing").isVisible(), SOON).toBe(true);
  await expect.poll(() => page.locator("#state").textContent(), SOON).toBe("Waiting for approval");
});
