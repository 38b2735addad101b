import { expect, it } from "vitest";
import { mention } from "../../../rehearsal/standins/slack.ts";
import { ROUTES, type Route } from "../../../runtime/contract/routes.ts";
import { fields, json, JSON_TYPE, type Answer, type Client } from "./client.ts";
import { CHALLENGE, discordCommand, PING, update } from "./requests.ts";

/** What is asked here up to the last test wakes nothing. */
export function whileDown(client: () => Client): void {
  it("is alive, and says that it is not ready", async () => {
    const { ask, target } = client();
    expect(await ask("/healthz")).toMatchObject({ status: 200, text: "ok" });
    const ready = await ask("/readyz");
    expect(ready.status).toBe(503);
    expect(fields(ready)).toMatchObject({ state: target.down.state });
  });

  it("echoes a challenge, signed or not", async () => {
    const { ask, postSlack } = client();
    for (const answer of [await ask("/slack/events", json(CHALLENGE)), await postSlack(CHALLENGE)]) {
      expect([answer.status, fields(answer)]).toEqual([200, { challenge: CHALLENGE.challenge }]);
    }
  });

  it("answers a test POST with 503 and stores nothing", async () => {
    const { ask, postTelegram } = client();
    const forged = {
      ...json(mention("forged")),
      headers: { ...JSON_TYPE, "x-slack-signature": "v0=00" },
    };
    const refused = [
      await ask("/slack/events", json({ type: "event_callback" })),
      await ask("/slack/events", forged),
      await ask("/slack/events", { method: "POST", body: "text" }),
      await ask("/slack/events", { ...json({}), body: "{" }),
      await ask("/telegram-webhook", json(update("unsigned"))),
      await postTelegram(update("forged"), "another secret"),
    ];
    for (const answer of refused) {
      expect([answer.asked, answer.status, fields(answer)["code"]]).toEqual([
        answer.asked,
        503,
        "gateway_unavailable",
      ]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(fields(answer)["detail"]).toContain("Nothing is stored");
    }
  });

  it("answers Discord's PING, and a wrong signature with the 401 that Discord asks for", async () => {
    const { ask, postDiscord } = client();
    const pong = await postDiscord(PING);
    expect([pong.status, fields(pong)]).toEqual([200, { type: 1 }]);
    expect(await ask("/discord/interactions", json(PING))).toMatchObject({ status: 401 });
  });

  it("answers a body that is too large as any other", async () => {
    const answer = await client().ask("/slack/events", json({ text: "x".repeat(2 ** 20) }));
    expect([answer.status, fields(answer)["code"]]).toEqual([503, "gateway_unavailable"]);
    expect(fields(answer)["detail"]).toContain("larger than 1 MiB");
  });

  it.each(Object.values<Route>(ROUTES).filter(({ access }) => access === "identity"))(
    "keeps strangers from $method $path",
    async ({ method, path }) => {
      const { ask, target } = client();
      const { signInOrigin = null } = target;
      const wrong = { ...JSON_TYPE, cookie: "CF_Authorization=wrong; steward_session=wrong" };
      for (const headers of [JSON_TYPE, wrong]) {
        const answer = await ask(path.replaceAll(/:\w+/g, "1"), { method, headers });
        expect([answer.status, sentTo(answer)]).toEqual([signInOrigin === null ? 403 : 302, signInOrigin]);
      }
    },
  );

  it("keeps out who brings a wrong Bearer", async () => {
    const { ask, target } = client();
    const { signInOrigin = null } = target;
    const answer = await ask("/debug/processes", { headers: { authorization: "Bearer wrong" } });
    expect([answer.status, sentTo(answer)]).toEqual([signInOrigin === null ? 403 : 302, signInOrigin]);
  });

  it("tells a program of the operator's how it is, and wakes nothing for that", async () => {
    const { ask, operate, target } = client();
    const logs = await operate("/debug/logs");
    expect([logs.status, fields(logs)]).toMatchObject([200, { state: target.down.state }]);
    expect(fields(await operate("/debug/ledger"))).toMatchObject({
      counts: { waiting: 0, answered: 0 },
      entries: [],
    });
    expect(fields(await operate("/_admin/api/metrics"))).toMatchObject({
      sandbox: { state: target.down.state },
    });
    expect(fields(await ask("/readyz"))).toMatchObject({ state: target.down.state });
  });

  it("keeps what comes, and answers / with 502 and the cause", async () => {
    const { ask, target, postSlack, postTelegram, postDiscord } = client();
    const { discordApplicationId } = target.settings.secrets;
    const [slack, telegram, discord, home, page] = await Promise.all([
      postSlack(mention("are you there?")),
      postTelegram(update("hello from Telegram")),
      postDiscord(discordCommand("and for Discord?", "token-down", discordApplicationId)),
      ask("/"),
      ask("/", { headers: { accept: "text/html" } }),
    ]);
    for (const kept of [slack, telegram]) {
      expect([kept.status, fields(kept)["code"]]).toEqual([503, "gateway_unavailable"]);
      expect(Number(kept.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(fields(kept)["detail"]).toContain("recorded");
    }
    expect([discord.status, fields(discord)["type"]]).toEqual([200, 5]);
    expect([home.status, fields(home)["code"]]).toEqual([502, target.down.code]);
    expect([page.status, page.headers.get("content-type")]).toEqual([
      502,
      expect.stringContaining("text/html"),
    ]);
    for (const { headers } of [home, page]) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    // The page goes on by itself.
    expect(page.text).toMatch(/<meta http-equiv="refresh"/);
    expect(page.text).toContain(target.down.tells);
  });

  it("shows an operator the overview, who starts a stopped container by that", async () => {
    const { operate } = client();
    const page = await operate("/_admin/", { headers: { accept: "text/html" } });
    expect([page.status, page.headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining("text/html"),
    ]);
    const processes = await operate("/debug/processes?logs=true");
    expect([processes.status, fields(processes)["state"]]).toEqual([
      200,
      expect.not.stringContaining("stopped"),
    ]);
  });
}

/** The origin that an answer redirects to. */
function sentTo({ headers }: Answer): string | null {
  const location = headers.get("location");
  return location === null ? null : new URL(location).origin;
}
