import { afterEach, describe, expect, test, vi } from "vitest";
import { ROUTES } from "../../runtime/contract/routes.ts";
import { edgeFixture, slackHeaders } from "../support/edge.ts";

const JSON_TYPE = { "content-type": "application/json" };
const WEBHOOKS = Object.values(ROUTES).flatMap(({ access, path }) => (access === "webhook" ? [path] : []));
const DISCORD_KEY = "0a".repeat(32);

/** A JSON object of nearly a megabyte, which takes long to parse. */
const heavy = `{"a":[${"[[]],".repeat(170_000)}[]]}`;
/** Nested so deep that nothing writes it out again. */
const deep = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a body that the platform did not send", () => {
  test.each(WEBHOOKS)("is not parsed on %s", async (path) => {
    const { app } = edgeFixture({ discordPublicKey: DISCORD_KEY });
    const parse = vi.spyOn(JSON, "parse");
    const response = await app.request(path, { method: "POST", body: heavy, headers: JSON_TYPE });

    expect([401, 403]).toContain(response.status);
    // Others that run meanwhile parse what is theirs.
    expect(parse.mock.calls.filter(([text]) => text === heavy)).toEqual([]);
  });

  test("is parsed up to 8 KiB where a challenge may be unsigned, and no further", async () => {
    const challenge = (padding: number) =>
      JSON.stringify({ type: "url_verification", challenge: "c", padding: "x".repeat(padding) });
    const statusOf = async (body: string) =>
      (await edgeFixture().app.request("/slack/events", { method: "POST", body, headers: JSON_TYPE })).status;
    expect(await statusOf(challenge(8_000))).toBe(200);
    expect(await statusOf(challenge(8_192))).toBe(403);
  });
});

test("a signed body that is nested beyond use is refused, and nothing is stored", async () => {
  const { app, admitted } = edgeFixture();
  const init = { method: "POST", body: deep, headers: await slackHeaders(deep) };
  expect(await (await app.request("/slack/events", init)).json()).toMatchObject({
    status: 400,
    code: "body_invalid",
  });
  expect(admitted).toEqual([]);
});
