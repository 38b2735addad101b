import { expect, it } from "vitest";
import { problem } from "../../../runtime/contract/problem.ts";
import { ERRORS, type ErrorCode } from "../../../runtime/contract/errors.ts";
import { fields, type Answer, type Client } from "./client.ts";

const HEADERS: Record<string, RegExp> = {
  "x-content-type-options": /^nosniff$/,
  "x-frame-options": /^DENY$/,
  "referrer-policy": /^same-origin$/,
  "strict-transport-security": /^max-age=\d{7,}/,
};
/** So many were collected at least, or the tests before showed nothing. */
const FEWEST = 100;

/** What holds for all answers that the tests before collected. */
export function everyAnswer(client: () => Client): void {
  // What the identity gateway answers by itself is not the service's.
  const own = (): Answer[] => {
    const { answers, target } = client();
    expect(answers.length).toBeGreaterThan(FEWEST);
    return answers.filter(({ headers }) => {
      return target.signInOrigin === undefined || !headers.get("location")?.startsWith(target.signInOrigin);
    });
  };
  const asked = (answers: Answer[]): string[] => answers.map((answer) => `${answer.asked}: ${answer.status}`);

  it("has the security headers", () => {
    const wrong = own().filter(({ headers }) =>
      Object.entries(HEADERS).some(([name, value]) => !value.test(headers.get(name) ?? "")),
    );
    expect(asked(wrong)).toEqual([]);
  });

  it("is kept out of caches where only an operator may see it", () => {
    const operators = own().filter((answer) => / \/(?:_admin|debug|metrics)/.test(answer.asked));
    expect(asked(operators.filter(({ headers }) => headers.get("cache-control") !== "no-store"))).toEqual([]);
  });

  it("names a page's scripts and styles where it is one", () => {
    const pages = own().filter(({ headers }) => headers.get("content-type")?.startsWith("text/html"));
    const wrong = pages.filter(
      ({ headers }) =>
        !/^default-src 'none'; (?!.*unsafe)/.test(headers.get("content-security-policy") ?? ""),
    );
    expect(asked(wrong)).toEqual([]);
  });

  it("is a problem document with code and fix where it refuses", () => {
    const refusals = own().filter(({ status, headers }) => {
      const isState = headers.get("content-type")?.startsWith("application/json") && status === 503;
      return status >= 400 && !headers.get("content-type")?.startsWith("text/html") && !isState;
    });
    for (const refusal of refusals) {
      const { headers, status } = refusal;
      const document = fields(refusal);
      expect([refusal.asked, headers.get("content-type")]).toEqual([
        refusal.asked,
        "application/problem+json",
      ]);
      const code = String(document["code"]) as ErrorCode;
      expect(Object.keys(ERRORS)).toContain(code);
      expect(document).toEqual({ ...problem(code, String(document["detail"]), status) });
    }
    expect(new Set(refusals.map(({ status }) => status)).size).toBeGreaterThan(5);
  });

  it("holds no secret", () => {
    const { answers, target } = client();
    // Two are public by nature.
    const { discordPublicKey: _key, discordApplicationId: _id, ...secrets } = target.settings.secrets;
    const given = answers.map(({ text, headers }) => `${text}\n${JSON.stringify([...headers])}`).join("\n");
    const told = Object.entries(secrets).filter(([, value]) => given.includes(value));
    expect(told.map(([name]) => name)).toEqual([]);
  });

  it("is never 401 on a public webhook, but where Discord asks for it", () => {
    const { answers } = client();
    const wrong = answers.filter((answer) => answer.status === 401 && !answer.asked.includes("/discord/"));
    expect(asked(wrong)).toEqual([]);
  });
}
