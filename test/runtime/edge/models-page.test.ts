import { describe, expect, it } from "vitest";
import { ERRORS, reason } from "../../../runtime/contract/errors.ts";
import { CHANGELOG, VERSION } from "../../../runtime/contract/names.ts";
import { edgeFixture, NOW, operationAnswers, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const FIRST = "anthropic/claude-sonnet-4-5";
const SECOND = "openrouter/a/model:free";
const operator = signedIn();

/** The edge over a container whose config has two models; `test` is the answer of a test. */
async function edge(test: object = { ms: 812, tokens: { input: 12, output: 2 } }) {
  const { jwk, headers } = await operator;
  const list = { models: [{ id: FIRST, price: { input: 3, output: 15 } }, { id: SECOND }] };
  const { answers, lines } = operationAnswers((_, name) => (name === "models test" ? test : list));
  const { app } = edgeFixture({
    jwk,
    answers,
    gateway: {
      models: [
        { id: FIRST, state: "failing", reason: reason("model_key_invalid") },
        { id: SECOND, state: "ready" },
      ],
    },
  });
  const look = async (path = "/_admin/models") => (await app.request(`${HOST}${path}`, { headers })).text();
  const press = (model: string) =>
    app.request(`${HOST}/_admin/models/test`, {
      method: "POST",
      headers: { ...headers, origin: HOST, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ model }).toString(),
    });
  return { look, press, lines };
}

describe("the page of the models", () => {
  it("shows their order, states with the remedy, and prices", async () => {
    const page = await (await edge()).look();
    expect(page).toMatch(
      /First<\/td>[\s\S]*claude-sonnet-4-5[\s\S]*Failing[\s\S]*model_key_invalid[\s\S]*3 in, 15 out/,
    );
    expect(page).toMatch(/Fallback 1<\/td>[\s\S]*a\/model:free[\s\S]*Ready[\s\S]*unknown/);
  });

  it("tests one, tells the time and the tokens, and records it", async () => {
    const { look, press, lines } = await edge();
    const page = await (await press(SECOND)).text();
    expect(page).toMatch(
      /role="status"[\s\S]*a\/model:free<\/code> answered after 812 ms: 12 tokens in, 2 out\./,
    );
    expect(lines).toContain(`models test ${SECOND}`);
    expect(await look("/_admin/activity")).toMatch(/Tested a model[\s\S]*a\/model:free/);
    for (const wrong of ["", "--json", "a b/c", "anthropic/", "x".repeat(200)])
      expect((await press(wrong)).status).toBe(400);
  });

  it("tells why one does not answer, with the fix", async () => {
    const { press } = await edge({ error: { code: "model_key_invalid", message: "It refuses the key." } });
    const response = await press(FIRST);
    expect(response.status).toBe(ERRORS.model_key_invalid.status);
    expect(await response.text()).toMatch(/role="alert"[\s\S]*It refuses the key\.[\s\S]*Fix:/);
  });
});

describe("rollouts and versions", () => {
  it("lists the versions that have run here, and says which does", async () => {
    const { jwk, headers } = await operator;
    const at = (days: number) => new Date(NOW - days * 86_400_000).toISOString();
    const entry = (days: number, action: string, detail: string) => ({
      at: at(days),
      by: "the stack",
      action,
      detail,
    });
    const entries = [
      entry(1, "deploy", "0.2.0 bbb"),
      entry(2, "restart", ""),
      entry(3, "deploy", "0.1.0 aaa"),
    ];
    const activity = async (_: number, actions: readonly string[] = []) =>
      entries.filter(({ action }) => actions.includes(action));
    const { app } = edgeFixture({ jwk, activity: { activity } });
    const look = async (path: string) => (await app.request(`${HOST}${path}`, { headers })).text();
    const page = await look("/_admin/rollouts");
    expect(page).toMatch(
      /1 day ago[\s\S]*0\.2\.0[\s\S]*bbb[\s\S]*Running[\s\S]*3 days ago[\s\S]*0\.1\.0[\s\S]*Replaced/,
    );
    expect(page.match(/<tr>/g)).toHaveLength(3);
    // A version may never have been released: the link is good for it, too.
    expect(page.match(new RegExp(`href="${CHANGELOG}"`, "g"))).toHaveLength(1);
    expect(page).toMatch(/Replaced 0\.1\.0[\s\S]*the stack[\s\S]*First version/);
    const none = edgeFixture({ jwk });
    expect(await (await none.app.request(`${HOST}/_admin/rollouts`, { headers })).text()).toContain(
      "No rollouts yet.",
    );
    expect(await look("/_admin/about")).toMatch(/steward<\/dt>\s*<dd>\d+\.\d+\.\d+[\s\S]*MIT licence/);
    expect(await look("/_admin/about")).toMatch(/1 day ago[\s\S]*Replaced 0\.1\.0, by the stack/);
  });

  it("tells another version in the container from another build of the same one", async () => {
    const { jwk, headers } = await operator;
    const about = async (version: string): Promise<string> => {
      const { app } = edgeFixture({ jwk, status: { version, bundle: "of the container" } });
      return (await app.request(`${HOST}/_admin/about`, { headers })).text();
    };
    expect(await about(VERSION)).not.toContain("under way");
    expect(await about("0.0.9")).toContain("0.0.9: update in progress");
  });

  it("tells a new build and a way back from a new version", async () => {
    const { jwk, headers } = await operator;
    const builds = ["0.2.0 bbb", "0.2.0 ccc", "0.2.0 bbb", "0.1.0 aaa"];
    const activity = async () =>
      builds.map((detail) => ({
        at: new Date(NOW).toISOString(),
        by: "the stack",
        action: "deploy",
        detail,
      }));
    const { app } = edgeFixture({ jwk, activity: { activity } });
    const page = await (await app.request(`${HOST}/_admin/rollouts`, { headers })).text();
    const changes = [...page.matchAll(/data-column="What changed">([^<]*)</g)].map(([, change]) =>
      change?.trim(),
    );
    expect(changes).toEqual([
      "Back from 0.2.0 to an earlier build",
      "A new build of 0.2.0",
      "Replaced 0.1.0",
      "First version",
    ]);
  });
});
