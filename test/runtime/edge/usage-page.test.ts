import { describe, expect, it } from "vitest";
import { edgeFixture, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const MODEL = "anthropic/claude-sonnet-4-5";
const operator = signedIn();

async function page(options: Parameters<typeof edgeFixture>[0] = {}, path = "") {
  const { jwk, headers } = await operator;
  const fixture = edgeFixture({ jwk, ...options });
  const response = await fixture.app.request(`${HOST}/_admin/usage${path}`, { headers });
  const { status, headers: sent } = response;
  return { ...fixture, status, headers: sent, text: (await response.text()).replace(/\s+/g, " ") };
}

/** The rows of the table with a caption, as lists of words. */
function rowsOf(text: string, caption: string): string[][] {
  const table = text.split("<table").find((one) => one.includes(`<caption>${caption}</caption>`)) ?? "";
  return table
    .split("<tr>")
    .slice(2)
    .map((row) => [...row.matchAll(/<(th|td)[^>]*>([^<]*)/g)].map(([, , words = ""]) => words.trim()));
}

describe("GET /_admin/usage", () => {
  it("shows each day's messages, tokens, requests and cost as bars, with the figures in tables", async () => {
    const { text } = await page();
    expect(rowsOf(text, "Messages")).toEqual([
      ["2026-11-18", "3", "2"],
      ["2026-11-17", "0", "0"],
    ]);
    expect(rowsOf(text, "Tokens")).toEqual([
      ["2026-11-18", "400", "50"],
      ["2026-11-17", "100", "25"],
    ]);
    expect(rowsOf(text, "Requests to models")).toEqual([
      ["2026-11-18", "3"],
      ["2026-11-17", "2"],
    ]);
    expect(rowsOf(text, "Estimated cost")).toEqual([
      ["2026-11-18", "under $0.01"],
      ["2026-11-17", "under $0.01"],
    ]);
    // The scale ends at an even number that no day exceeds. Received stands beside answered.
    expect(text).toContain("<span>4</span><span>2</span><span>0</span>");
    expect(text).toContain("<span>$0.02</span><span>$0.01</span><span>$0.00</span>");
    expect(text).toMatch(
      /<rect x="11" y="25" width="4" height="75"><\/rect><rect x="15" y="50" width="4" height="50"/,
    );
    // A message and its answer are never one sum.
    expect(text).toContain("Received: 3, peak 3. Answers: 2, peak 2.");
    expect(text).toContain("<title>2026-11-18: Received 3, Answers 2</title>");
  });

  it("adds up by model, and says where no price is known instead of guessing one", async () => {
    const usage = (model: string, inputTokens: number) => ({
      day: "2026-11-18",
      model,
      requests: 1,
      inputTokens,
      outputTokens: 1_000_000,
    });
    const { text } = await page({
      usage: {
        models: [usage("openai/<x>", 7), usage("anthropic/a", 1_000_000), usage("anthropic/a", 500_000)],
        prices: { "anthropic/a": { input: 3, output: 15 } },
      },
    });
    expect(rowsOf(text, "Requests, tokens and estimated cost by model")).toEqual([
      ["anthropic/a", "2", "1,500,000", "2,000,000", "$34.50"],
      ["openai/&lt;x&gt;", "1", "7", "1,000,000", "unknown price"],
    ]);
    expect(rowsOf(text, "Estimated cost")[0]).toEqual(["2026-11-18", "$34.50"]);
    expect(text).toContain("The sums exclude models without a known price: openai/&lt;x&gt;.");
  });

  it("says that a cost is not known where no model has a price", async () => {
    const models = [
      { day: "2026-11-17", model: "openai/x", requests: 1, inputTokens: 1, outputTokens: 1 },
      { day: "2026-11-18", model: "openai/x", requests: 1, inputTokens: 1, outputTokens: 1 },
    ];
    const { text } = await page({ usage: { models, prices: {} } });
    expect(text).toContain('<h3>Estimated cost</h3><p class="soft">Unknown.</p>');
    expect(rowsOf(text, "Estimated cost")[0]).toEqual(["2026-11-18", "unknown"]);
  });

  it("has words and empty charts for a gateway that was never asked anything", async () => {
    const { text } = await page({ usage: { messages: [], models: [], prices: {} } });
    expect(text).toContain("No model requests yet.");
    expect(text).toContain("Total: 0. Peak: 0.");
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("shows a range of days, and who and where in it", async () => {
    const source = (kind: "person" | "place", id: string, requests: number) => ({
      kind,
      platform: id && "slack",
      id,
      model: MODEL,
      requests,
      inputTokens: 1_000_000,
      outputTokens: 0,
    });
    const sources = {
      day: [source("person", "U<1>", 3), source("person", "", 1), source("place", "C1", 4)],
      week: [],
      month: [source("person", "U2", 9)],
    };
    const seen = { firstSeenAt: "2026-11-17T00:00:00Z", lastSeenAt: "2026-11-18T00:00:00Z", hue: 9 };
    const place = { key: "slack:C1", kind: "channel" as const, platform: "slack" as const, id: "C1" };
    const named = [{ ...place, ...seen, name: "#support<b>" }];
    const { text } = await page({ usage: { sources }, named }, "?range=day");
    // By name, or by id where there is none.
    expect(text).toMatch(/title="slack:C1">[\s\S]*?<bdi>#support&lt;b&gt;<\/bdi>/);
    expect(text).toMatch(/title="slack:U&lt;1&gt;">[\s\S]*?<bdi>U&lt;1&gt;<\/bdi>/);
    expect(text).toMatch(/range=day" aria-current="true"/);
    expect(text.split('aria-current="true"')).toHaveLength(2);
    expect(text).not.toContain('aria-current="false"');
    expect(rowsOf(text, "Tokens")).toEqual([["2026-11-18", "400", "50"]]);
    expect(rowsOf(text, "Requests, tokens and estimated cost by person")).toEqual([
      ["", "3", "1,000,000", "0", "$3.00"],
      ["All others", "1", "1,000,000", "0", "$3.00"],
    ]);
    expect(rowsOf(text, "Requests, tokens and estimated cost by place")).toEqual([
      ["", "4", "1,000,000", "0", "$3.00"],
    ]);
    expect((await page({ usage: { sources } }, "?range=week")).text).toContain(
      "No model requests in this range.",
    );
    // An older gateway does not count them.
    expect((await page()).text).not.toContain("By person");
    expect((await page({}, "?range=year")).status).toBe(400);
  });

  it("orders its tables by a column, and keeps the order while the range changes", async () => {
    const models = ["a", "b", "c"].map((model, index) => ({
      day: "2026-11-18",
      model,
      requests: (index * 2) % 3,
      inputTokens: index,
      outputTokens: 0,
    }));
    const caption = "Requests, tokens and estimated cost by model";
    const first = async (sort: string) => {
      const { text } = await page({ usage: { models, prices: {} } }, `?range=day&sort=${sort}`);
      return [rowsOf(text, caption)[0]?.[0], text] as const;
    };
    expect((await first("-tokens-in"))[0]).toBe("c");
    const [name, text] = await first("-requests");
    expect(name).toBe("b");
    expect(text).toContain('aria-sort="descending"><a href="/_admin/usage?range=day&amp;sort=requests">');
    expect(text).toContain('href="/_admin/usage?range=week&amp;sort=-requests"');
    expect((await first("-model"))[0]).toBe("c");
  });

  it("exports the counts as a file that no spreadsheet runs", async () => {
    const models = [{ day: "2026-11-18", model: '=a,"b', requests: 3, inputTokens: 400, outputTokens: 50 }];
    const { text, headers, status } = await page({ usage: { models } }, "/export");
    expect([status, headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    expect(headers.get("content-disposition")).toBe('attachment; filename="steward-usage.csv"');
    expect(
      text
        .trim()
        .split(" 2026")
        .map((line) => line.replace(/^-/, "2026-")),
    ).toEqual([
      "day,model,requests,tokens in,tokens out,cost in USD,received,answered,of,name,id",
      "2026-11-17,,,,,,0,0,,,",
      "2026-11-18,,,,,,3,2,,,",
      `2026-11-18,"'=a,""b",3,400,50,,,,,,`,
    ]);
    expect((await page({ state: "stopped" }, "/export")).status).toBe(303);
  });

  it("exports people and places by name, with the sum of the others", async () => {
    const of = (kind: "person" | "place", id: string) => ({
      kind,
      id,
      platform: id && "slack",
      model: MODEL,
      requests: 1,
      inputTokens: 1e6,
      outputTokens: 0,
    });
    const month = [of("person", "U1"), of("person", ""), of("place", "C1")];
    const seen = { firstSeenAt: "2026-11-17T00:00:00Z", lastSeenAt: "2026-11-18T00:00:00Z", hue: 9 };
    const person = { key: "slack:U1", kind: "person", platform: "slack", id: "U1", name: "=Ada, L" } as const;
    const named = [{ ...person, ...seen }];
    const { text } = await page({ usage: { sources: { day: [], week: [], month } }, named }, "/export");
    const figures = `2026-11-17/2026-11-18,${MODEL},1,1000000,0,3.000000,,`;
    expect(text).toContain(`${figures},person,"'=Ada, L",slack:U1`);
    expect(text).toContain(`${figures},person,All others,`);
    expect(text).toContain(`${figures},place,,slack:C1`);
  });

  it("says so while the gateway is down, and wakes nothing", async () => {
    const { text, requests, wakes } = await page({ state: "stopped" });
    expect(text).toContain("once the gateway has run");
    expect([...requests, ...wakes]).toEqual([]);
  });
});
