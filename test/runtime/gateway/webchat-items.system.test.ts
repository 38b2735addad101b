import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GATEWAY_ROUTES } from "../../../runtime/contract/control.ts";
import { startGateway, surroundings, writeConfig } from "../support/gateway.ts";
import { toolUseStream } from "../support/models.ts";
import { modelError } from "../support/platforms.ts";
import { CONTROL_TOKEN } from "../support/processes.ts";
import { png } from "../support/files.ts";
import { steward } from "../support/cli.ts";
import { newDevice, openPage, pair } from "../support/webchat.ts";

const PNG = png(2, 2);
const HTML = "<script>alert(1)</script>";

/** The model calls a tool, then ends. */
const uses = (name: string, input: object) => toolUseStream([{ id: "c1", name, input }]);
const asks = uses("ask_choices", { question: "Which?", choices: ["red", "blue"] });

/** A gateway with a paired browser and files in its workspace. */
async function started() {
  const around = await surroundings();
  const { home, url, environment } = around;
  await writeConfig(home);
  await mkdir(join(home, "workspace"), { recursive: true });
  await writeFile(join(home, "workspace/chart.png"), PNG);
  await writeFile(join(home, "workspace/page.html"), HTML);
  const gateway = await startGateway(environment);
  const device = newDevice();
  pair(home, device);
  const open = async (by = device) => {
    const page = await openPage(url, by);
    return { ...page, welcome: await page.got("welcome") };
  };
  const get = (item: string, ticket: string, token = CONTROL_TOKEN) =>
    fetch(`${url}${GATEWAY_ROUTES.chatFile}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ item, ticket }),
    });
  /** Has a file sent in a message's answer. Returns what the page is shown. */
  const send = async (page: Awaited<ReturnType<typeof open>>, id: string, path: string) => {
    around.model.next(uses("send_file", { path, caption: "Here" }));
    page.send({ type: "say", id, text: `send ${path}` });
    await page.got("answer", id);
    return page.got("file", id);
  };
  return { ...around, gateway, device, open, get, send };
}

test("a file is there for the browser that it was sent to, while that is connected, also on a page of later", async () => {
  const { open, get, send, home, environment, gateway } = await started();
  const page = await open();
  const chart = await send(page, "message-1", "chart.png");
  const html = await send(page, "message-2", "page.html");
  expect(chart).toMatchObject({ name: "chart.png", size: PNG.byteLength, picture: true, caption: "Here" });
  expect(html).toMatchObject({ name: "page.html", picture: false });

  const picture = await get(chart.item, page.welcome.ticket);
  expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(Buffer.from(await picture.arrayBuffer())).toEqual(PNG);
  const bytes = await get(html.item, page.welcome.ticket);
  expect(bytes.headers.get("content-type")).toBe("application/octet-stream");

  const other = newDevice();
  pair(home, other);
  const stranger = await open(other);
  expect((await get(chart.item, stranger.welcome.ticket)).status).toBe(404);
  expect((await get(chart.item, "t".repeat(43))).status).toBe(403);
  expect((await get(chart.item, page.welcome.ticket, "wrong")).status).toBe(401);

  gateway.kill("SIGTERM");
  await gateway.exited;
  await startGateway(environment);
  const later = await open();
  expect(later.welcome.items).toMatchObject([chart, html]);
  expect((await get(chart.item, page.welcome.ticket)).status).toBe(403);
  expect((await get(chart.item, later.welcome.ticket)).status).toBe(200);
  later.close();
  await expect.poll(async () => (await get(chart.item, later.welcome.ticket)).status).toBe(403);
});

test("a file stays as it was sent while the workspace has that version, and goes with its conversation", async () => {
  const { open, get, send, home, environment, device } = await started();
  const page = await open();
  const { item } = await send(page, "message-1", "page.html");
  const digest = createHash("sha256").update(HTML).digest("hex");
  const change = ["workspace", "write", "page.html", digest, "--", "changed"];
  expect(await steward(environment, ...change)).toMatchObject({ code: 0 });
  expect(await (await get(item, page.welcome.ticket)).text()).toBe(HTML);
  await rm(join(home, "workspace-history"), { recursive: true });
  expect((await get(item, page.welcome.ticket)).status).toBe(404);

  const gone = ["sessions", "delete", `web:${device.deviceId}`];
  expect(await steward(environment, ...gone)).toMatchObject({ code: 0 });
  expect((await open()).welcome).toMatchObject({ history: [], items: [] });
});

test("a choice comes as the next message, once, and by the browser that was asked alone", async () => {
  const { open, model, home } = await started();
  const page = await open();
  model.next(asks);
  page.send({ type: "say", id: "message-1", text: "paint it" });
  const question = await page.got("choices", "message-1");
  expect(question).toMatchObject({ question: "Which?", buttons: [{ label: "red" }, { label: "blue" }] });
  const [red, blue] = question.buttons.map(({ press }) => press);
  await page.got("answer", "message-1");

  const other = newDevice();
  pair(home, other);
  const stranger = await open(other);
  stranger.send({ type: "press", id: "message-9", press: blue });
  page.send({ type: "press", id: "message-2", press: blue });
  expect(await page.got("accepted", "message-2")).toMatchObject({ text: "blue" });
  await page.got("answer", "message-2");
  expect(model.asked().at(-1)?.at(-1)).toContain("blue");
  const asked = model.calls.length;

  page.send({ type: "press", id: "message-3", press: red });
  page.send({ type: "say", id: "message-4", text: "/help" });
  await page.got("answer", "message-4");
  expect(model.calls).toHaveLength(asked);
  const settled = { question: "Which?", buttons: [], note: "✓ blue" };
  expect(page.messages.findLast(({ type }) => type === "choices")).toMatchObject(settled);
  expect((await open()).welcome.items).toMatchObject([settled]);
  expect(stranger.messages.map(({ type }) => type)).toEqual(["challenge", "welcome"]);
});

test("what the model refused can be asked again under the same id", async () => {
  const { open, model } = await started();
  const page = await open();
  model.next(modelError(400, "invalid_request_error", "no"));
  page.send({ type: "say", id: "message-1", text: "is it me?" });
  expect(await page.got("error", "message-1")).toMatchObject({ code: "model_failed", again: true });
  page.send({ type: "say", id: "message-1", text: "is it me?" });
  expect(await page.got("answer", "message-1")).toMatchObject({ text: "You said: is it me?" });
});
