import { beforeAll, expect, it } from "vitest";
import { mention } from "../../../rehearsal/standins/slack.ts";
import { answersState } from "../../support/ready.ts";
import { fieldOf } from "../../support/form.ts";
import { fields, HTML, json, type Client } from "./client.ts";
import { CHALLENGE, discordCommand, GUILD, PING, update } from "./requests.ts";

/** Generous: it ends what hangs. */
const REPLY_MS = 60_000;
const SOON = { timeout: REPLY_MS };
/** As the pairing message has it: 8 uppercase letters. */
const CODE = /\b[A-Z]{8}\b/;

/** Chats, on all three platforms. */
export function onceUp(client: () => Client): void {
  beforeAll(async () => {
    const { target } = client();
    await target.mend();
    await answersState(target.url, "ready");
  }, 180_000);
  const repliesTo = (text: string) =>
    client()
      .target.platforms.slack.messages()
      .filter((message) => message.text.includes(text));
  const reply = (text: string) =>
    client().target.platforms.slack.waitFor((message) => message.text.includes(text), REPLY_MS);

  it("has answered what came while it was down", async () => {
    const { platforms } = client().target;
    expect((await reply("are you there?")).text).toContain("The stand-in model read");
    await platforms.telegram.waitFor(({ text }) => CODE.test(text), REPLY_MS);
    await expect.poll(() => platforms.discord.pending(), SOON).toEqual([]);
    // Nobody has listed the server yet, and whoever asked there learns how it gets in.
    expect(platforms.discord.messages).toMatchObject([
      { place: "token-down", original: true, content: expect.stringContaining(`The server's id: ${GUILD}`) },
    ]);
  });

  it("says so on / and /readyz", async () => {
    const { ask } = client();
    const home = await ask("/");
    expect([home.status, fields(home)]).toMatchObject([200, { name: "steward", state: "ready" }]);
    const page = await ask("/", { headers: { accept: "text/html" } });
    expect([page.status, page.headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining("text/html"),
    ]);
    expect(await ask("/readyz")).toMatchObject({ status: 200 });
    expect(await ask("/healthz")).toMatchObject({ status: 200, text: "ok" });
  });

  it("echoes a challenge, signed or not", async () => {
    const { ask, postSlack, postDiscord } = client();
    for (const answer of [await ask("/slack/events", json(CHALLENGE)), await postSlack(CHALLENGE)]) {
      expect([answer.status, fields(answer)]).toEqual([200, { challenge: CHALLENGE.challenge }]);
    }
    expect(fields(await postDiscord(PING))).toEqual({ type: 1 });
  });

  it("refuses with its code what the platform did not send", async () => {
    const { ask, postTelegram, target } = client();
    const { body, headers } = target.platforms.slack.sign(mention("signed for another body"));
    const stale = { ...headers, "x-slack-request-timestamp": String(Math.floor(Date.now() / 1_000) - 301) };
    const signed = (changes: object) => ({ method: "POST", body, headers, ...changes }) as RequestInit;
    const refused: [Awaited<ReturnType<typeof ask>>, number, string][] = [
      [await ask("/slack/events", json(mention("unsigned"))), 403, "signature_invalid"],
      [await ask("/slack/events", signed({ body: `${body} ` })), 403, "signature_invalid"],
      [await ask("/slack/events", signed({ headers: stale })), 403, "signature_invalid"],
      [await ask("/telegram-webhook", json(update("unsigned"))), 403, "signature_invalid"],
      [await postTelegram(update("forged"), "another secret"), 403, "signature_invalid"],
      [await ask("/discord/interactions", json(PING)), 401, "signature_invalid"],
      [await ask("/slack/events", { method: "POST", body: "text" }), 415, "media_type_unsupported"],
      [await ask("/slack/events", { ...json({}), body: "{" }), 400, "body_invalid"],
      // Nothing is read of a body before its sender is known.
      [await ask("/telegram-webhook", json([])), 403, "signature_invalid"],
      [await postTelegram([]), 400, "body_invalid"],
      [await ask("/telegram-webhook", json({ text: "x".repeat(2 ** 20) })), 413, "body_too_large"],
      [await ask("/nowhere"), 404, "not_found"],
      [await ask("/slack/events"), 404, "not_found"],
      [await ask("/healthz", { method: "DELETE" }), 404, "not_found"],
    ];
    for (const [answer, status, code] of refused) {
      expect([answer.asked, answer.status, fields(answer)["code"]]).toEqual([answer.asked, status, code]);
    }
  });

  it("answers a mention with the model's own text, once for an event that is sent again", async () => {
    const { postSlack } = client();
    const event = mention("what is up?");
    expect(await postSlack(event)).toMatchObject({ status: 200, text: "" });
    expect(await reply("what is up?")).toMatchObject({ channel: "C0REHEARSAL" });
    // Slack's own retries, of which some come at one time.
    const again = await Promise.all([event, event, event, event].map(postSlack));
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    // In the same conversation, and thus behind a second answer if there were one.
    await postSlack(mention("and now?"));
    await reply("and now?");
    expect(repliesTo("what is up?")).toHaveLength(1);
    expect(repliesTo("are you there?")).toHaveLength(1);
  });

  it("answers an unknown person on Telegram with a code, and after its approval", async () => {
    const { run, postTelegram, target } = client();
    const { telegram } = target.platforms;
    const asked = await telegram.waitFor(({ text }) => CODE.test(text), REPLY_MS);
    const code = CODE.exec(asked.text)?.[0] ?? "";
    expect(await run("cat credentials/telegram-pairing.json")).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(code),
    });
    expect(await run(`pairing approve telegram ${code}`)).toMatchObject({ exitCode: 0 });
    expect((await postTelegram(update("may I now?"))).status).toBe(200);
    await telegram.waitFor(({ text }) => text.includes("may I now?"), REPLY_MS);
    expect(await run(`pairing approve telegram ${code}`)).not.toMatchObject({ exitCode: 0 });
  });

  it("defers a command of Discord's at once, and fills the answer where the operator has listed the server", async () => {
    const { operate, postDiscord, target } = client();
    const review = await operate(`/_admin/config/allow-group?platform=discord&group=${GUILD}`, HTML);
    const form = { text: fieldOf(review.text, "text"), expected: fieldOf(review.text, "expected") };
    const saved = await operate("/_admin/config/save", {
      method: "POST",
      body: new URLSearchParams(form),
      headers: { origin: new URL(target.url).origin },
      redirect: "manual",
    });
    expect([saved.status, saved.headers.get("location")]).toEqual([
      303,
      expect.stringContaining("done=saved"),
    ]);
    const { discord } = target.platforms;
    const { discordApplicationId } = target.settings.secrets;
    const response = await postDiscord(discordCommand("what is up?", "token-up", discordApplicationId));
    expect([response.status, fields(response)]).toEqual([200, { type: 5 }]);
    await expect.poll(() => discord.pending(), SOON).toEqual([]);
    expect(discord.messages.filter(({ place }) => place === "token-up")).toMatchObject([
      { original: true, content: expect.stringContaining("what is up?") },
    ]);
  });
}
