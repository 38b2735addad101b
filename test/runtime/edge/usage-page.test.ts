import { describe, expect, it } from "vitest";
import { edgeFixture, signedIn } from "../../support/edge.ts";

const HOST = "https://steward.example.com";
const operator = signedIn();

async function page(options: Parameters<typeof edgeFixture>[0] = {}) {
  const { jwk, headers } = await operator;
  const fixture = edgeFixture({ jwk, ...options });
  const response = await fixture.app.request(`${HOST}/_admin/usage`, { headers });
  return { ...fixture, text: (await response.text()).replace(/\s+/g, " ") };
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
    // The scale ends at an even number that no day exceeds. Received stands below answered.
    expect(text).toContain("<span>6</span><span>3</span><span>0</span>");
    expect(text).toContain("<span>$0.02</span><span>$0.01</span><span>$0.00</span>");
    expect(text).toMatch(
      /<rect x="11" y="50" width="8" height="50"><\/rect><rect x="11" y="16.67" width="8" height="33.33"/,
    );
    expect(text).toContain("<title>2026-11-18: Received 3, Answered 2</title>");
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
      ["openai/&lt;x&gt;", "1", "7", "1,000,000", "no price known"],
    ]);
    expect(rowsOf(text, "Estimated cost")[0]).toEqual(["2026-11-18", "$34.50"]);
    expect(text).toContain("No sum holds what has no known price: openai/&lt;x&gt;.");
  });

  it("says that a cost is not known where no model has a price", async () => {
    const models = [
      { day: "2026-11-17", model: "openai/x", requests: 1, inputTokens: 1, outputTokens: 1 },
      { day: "2026-11-18", model: "openai/x", requests: 1, inputTokens: 1, outputTokens: 1 },
    ];
    const { text } = await page({ usage: { models, prices: {} } });
    expect(text).toContain('<h3>Estimated cost</h3><p class="soft">Not known.</p>');
    expect(rowsOf(text, "Estimated cost")[0]).toEqual(["2026-11-18", "not known"]);
  });

  it("has words and empty charts for a gateway that was never asked anything", async () => {
    const { text } = await page({ usage: { messages: [], models: [], prices: {} } });
    expect(text).toContain("No model requests yet.");
    expect(text).toContain("Total: 0. Peak: 0.");
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("says so while the gateway is down, and wakes nothing", async () => {
    const { text, requests, wakes } = await page({ state: "stopped" });
    expect(text).toContain("once the gateway has run");
    expect([...requests, ...wakes]).toEqual([]);
  });
});
