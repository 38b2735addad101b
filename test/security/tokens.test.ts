import { describe, expect, it } from "vitest";
import { base64url, exportJWK, generateKeyPair, SignJWT } from "jose";
import { AUDIENCE, edgeFixture, TEAM_DOMAIN } from "../support/edge.ts";

/** Forged tokens of the identity gateway, each as its header and as its cookie. */
const HOST = "https://steward.example.com";
const ISSUER = `https://${TEAM_DOMAIN}`;
const KID = "key-1";
const NOW_SECONDS = Math.floor(Date.now() / 1_000);
const encoder = new TextEncoder();

const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
const jwk = { ...(await exportJWK(publicKey)), kid: KID, alg: "RS256", use: "sig" };
const foreign = await generateKeyPair("RS256", { extractable: true });
const CLAIMS = {
  iss: ISSUER,
  aud: AUDIENCE,
  iat: NOW_SECONDS,
  exp: NOW_SECONDS + 3_600,
  email: "op@example.com",
};
const HEADER = { alg: "RS256", kid: KID };

const encode = (value: unknown): string => base64url.encode(JSON.stringify(value));

/** Signs any header and claims with the gateway's own key, also such as no library would sign. */
async function signed(header: object, claims: unknown, key = privateKey): Promise<string> {
  const text = `${encode(header)}.${encode(claims)}`;
  const bytes = await crypto.subtle.sign(
    "RSASSA-PKCS1-v1_5",
    key as Parameters<typeof crypto.subtle.sign>[1],
    encoder.encode(text),
  );
  return `${text}.${base64url.encode(new Uint8Array(bytes))}`;
}

const without = (name: keyof typeof CLAIMS): object =>
  Object.fromEntries(Object.entries(CLAIMS).filter(([key]) => key !== name));

/** Claims that the gateway would not sign for this application, under its own signature all the same. */
const WRONG_CLAIMS: Record<string, unknown> = {
  "another audience": { ...CLAIMS, aud: "another" },
  "an audience that begins alike": { ...CLAIMS, aud: `${AUDIENCE}0` },
  "the beginning of the audience": { ...CLAIMS, aud: AUDIENCE.slice(0, -1) },
  "the audience in capitals": { ...CLAIMS, aud: AUDIENCE.toUpperCase() },
  "the audience with a blank": { ...CLAIMS, aud: ` ${AUDIENCE}` },
  "other audiences": { ...CLAIMS, aud: ["a", "b"] },
  "the audiences in one text": { ...CLAIMS, aud: `${AUDIENCE},other` },
  "no audiences": { ...CLAIMS, aud: [] },
  "an audience that is a number": { ...CLAIMS, aud: 1 },
  "an audience that is null": { ...CLAIMS, aud: null },
  "an audience that is an object": { ...CLAIMS, aud: { [AUDIENCE]: true } },
  "no audience": without("aud"),
  "another issuer": { ...CLAIMS, iss: "https://evil.example" },
  "the issuer without https": { ...CLAIMS, iss: `http://${TEAM_DOMAIN}` },
  "the issuer with a slash": { ...CLAIMS, iss: `${ISSUER}/` },
  "the issuer's name alone": { ...CLAIMS, iss: TEAM_DOMAIN },
  "an issuer below another": { ...CLAIMS, iss: `${ISSUER}.evil.example` },
  "the issuer with a user": { ...CLAIMS, iss: `https://evil@${TEAM_DOMAIN}` },
  issuers: { ...CLAIMS, iss: [ISSUER] },
  "no issuer": without("iss"),
  "an end in the past": { ...CLAIMS, exp: NOW_SECONDS - 600 },
  "an end at nought": { ...CLAIMS, exp: 0 },
  "an end below nought": { ...CLAIMS, exp: -1 },
  "an end as a text": { ...CLAIMS, exp: String(NOW_SECONDS + 3_600) },
  "an end that is null": { ...CLAIMS, exp: null },
  "an end that is an object": { ...CLAIMS, exp: {} },
  "no end": without("exp"),
  "issued in the future": { ...CLAIMS, iat: NOW_SECONDS + 3_600, exp: NOW_SECONDS + 7_200 },
  "issued at a text": { ...CLAIMS, iat: "now" },
  "issued years ago": { ...CLAIMS, iat: NOW_SECONDS - 2 * 366 * 86_400 },
  "not issued at all": without("iat"),
  "not valid yet": { ...CLAIMS, nbf: NOW_SECONDS + 3_600 },
  "valid from a text on": { ...CLAIMS, nbf: "soon" },
  "nobody's name": without("email"),
  "an empty name": { ...CLAIMS, email: "" },
  "a name that is a list": { ...CLAIMS, email: ["op@example.com"] },
  "a name that is an object": { ...CLAIMS, email: { toString: "op@example.com" } },
  "a list": [CLAIMS],
  "a text": "claims",
  null: null,
  "a number": 7,
};

/** Headers that no token of the gateway has, over right claims and signed with its key. */
const WRONG_HEADERS: Record<string, object> = {
  "no algorithm": { kid: KID },
  "the algorithm none": { ...HEADER, alg: "none" },
  "the algorithm None": { ...HEADER, alg: "None" },
  "the algorithm nOnE": { ...HEADER, alg: "nOnE" },
  "an empty algorithm": { ...HEADER, alg: "" },
  algorithms: { ...HEADER, alg: ["RS256"] },
  "the algorithm in small letters": { ...HEADER, alg: "rs256" },
  RS384: { ...HEADER, alg: "RS384" },
  RS512: { ...HEADER, alg: "RS512" },
  PS256: { ...HEADER, alg: "PS256" },
  ES256: { ...HEADER, alg: "ES256" },
  EdDSA: { ...HEADER, alg: "EdDSA" },
  HS256: { ...HEADER, alg: "HS256" },
  HS512: { ...HEADER, alg: "HS512" },
  "RSA-OAEP": { ...HEADER, alg: "RSA-OAEP", enc: "A256GCM" },
  "no key": { alg: "RS256" },
  "another key": { ...HEADER, kid: "key-2" },
  "an empty key": { ...HEADER, kid: "" },
  "a key that is a path": { ...HEADER, kid: "../../../../dev/null" },
  "a key that is a query": { ...HEADER, kid: "' OR 1=1 --" },
  keys: { ...HEADER, kid: [KID] },
  "a key that is null": { ...HEADER, kid: null },
  "an extension that has to be known": { ...HEADER, crit: ["exp"], exp: 1 },
  "an unencoded payload": { ...HEADER, b64: false, crit: ["b64"] },
};

/** Keys that an attacker has, named as if they were the gateway's. */
const OWN_KEYS: Record<string, object> = {
  "another key under the same name": HEADER,
  "a key in the header": { ...HEADER, jwk: await exportJWK(foreign.publicKey) },
  "a key set elsewhere": { ...HEADER, jku: "https://evil.example/certs" },
  "a certificate elsewhere": { ...HEADER, x5u: "https://evil.example/cert.pem" },
  "a certificate in the header": { ...HEADER, x5c: ["MIIB"] },
};

const valid = await signed(HEADER, CLAIMS);
const [head = "", body = "", signature = ""] = valid.split(".");
const stranger = encode({ ...CLAIMS, email: "stranger@example.com" });
const turned = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);

/** A right token that was changed on its way. */
const TAMPERED: Record<string, string> = {
  "other claims under the signature": `${head}.${stranger}.${signature}`,
  "no signature": `${head}.${body}.`,
  "two parts": `${head}.${body}`,
  "one part": head,
  "four parts": `${valid}.${signature}`,
  "five parts": `${valid}.a.b`,
  "empty parts": "..",
  "a signature cut short": valid.slice(0, -8),
  "a longer signature": `${valid}AAAA`,
  "a signature of noughts": `${head}.${body}.${"A".repeat(signature.length)}`,
  "the signature of something else": `${head}.${body}.${base64url.encode(new Uint8Array(256).fill(7))}`,
  "no header": `.${body}.${signature}`,
  "a header that is no JSON": `${base64url.encode(encoder.encode("{"))}.${body}.${signature}`,
  "claims that are no JSON": `${head}.${base64url.encode(encoder.encode("{"))}.${signature}`,
  "a blank in the middle": valid.replace(".", ". "),
  "a word before it": `Bearer ${valid}`,
  "quotes around it": `"${valid}"`,
  "characters that base64 has not": `${head}.${body}!.${signature}`,
  rubbish: "rubbish",
  "an object": "[object Object]",
  "a very long one": `${head}.${"A".repeat(20_000)}.${signature}`,
  ...Object.fromEntries(
    [0, 1, 7, 40, 99, 170, 255, 300].map((at) => [
      `a signature turned at ${at}`,
      `${head}.${body}.${turned(signature, at)}`,
    ]),
  ),
  ...Object.fromEntries(
    [3, 20, 60].map((at) => [`claims turned at ${at}`, `${head}.${turned(body, at)}.${signature}`]),
  ),
  "the public key as a secret": await new SignJWT(CLAIMS)
    .setProtectedHeader({ alg: "HS256", kid: KID })
    .sign(encoder.encode(JSON.stringify(jwk))),
};

const named = (what: string, entries: [string, string][]): [string, string][] =>
  entries.map(([name, token]) => [`${what}: ${name}`, token]);
const all = async (values: Record<string, unknown>, sign: (value: never) => Promise<string>) =>
  Promise.all(
    Object.entries(values).map(async ([name, value]): Promise<[string, string]> => [
      name,
      await sign(value as never),
    ]),
  );
const FORGED = [
  ...named("claims", await all(WRONG_CLAIMS, (claims) => signed(HEADER, claims))),
  ...named("header", await all(WRONG_HEADERS, (header) => signed(header, CLAIMS))),
  ...named("key", await all(OWN_KEYS, (header) => signed(header, CLAIMS, foreign.privateKey))),
  ...named("tampered", Object.entries(TAMPERED)),
];
const WAYS = {
  header: (token: string) => ({ "cf-access-jwt-assertion": token }),
  cookie: (token: string) => ({ cookie: `CF_Authorization=${token}` }),
};

const { app, requests } = edgeFixture({ jwk });
const ask = (headers: Record<string, string>) => app.request(`${HOST}/debug/processes`, { headers });

describe.each(Object.entries(WAYS))("a token as %s", (_, way) => {
  it("lets in with what the gateway has signed for this application", async () => {
    expect((await ask(way(valid))).status).toBe(200);
    requests.length = 0;
  });

  it.each(FORGED)("is refused with %s", async (_name, token) => {
    const response = await ask(way(token));
    expect(response.status).toBe(403);
    expect(await response.text()).not.toContain(token.slice(0, 40) || "nothing");
    expect(requests).toEqual([]);
  });
});

it("172 forgeries at least were tried", () => {
  expect(FORGED.length * Object.keys(WAYS).length).toBeGreaterThanOrEqual(172);
});
