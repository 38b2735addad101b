import { describe, expect, it } from "vitest";
import { ROUTES, type Route } from "../../runtime/contract/routes.ts";
import { edgeFixture } from "../support/edge.ts";

/** Ways to write a closed address so that a check and the router might read it differently. */
const HOST = "https://steward.example.com";
const TARGETS = [
  "/_admin/",
  "/_admin/config",
  "/_admin/api/metrics",
  "/debug/cli",
  "/debug/container-config",
  "/stack/backups",
  "/metrics",
];

const encoded = (text: string, upper = false): string =>
  Array.from(text, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16).padStart(2, "0");
    return `%${upper ? hex.toUpperCase() : hex}`;
  }).join("");
/** Replaces the character at a place of the path, behind its first slash. */
const at = (path: string, place: number, change: (character: string) => string): string =>
  path.slice(0, place) + change(path[place] ?? "") + path.slice(place + 1);
const last = (path: string): number => path.replace(/\/$/, "").lastIndexOf("/");

const BEFORE = [
  ..."/ // /// /. /./ /%2e /%2e/ /.. /../ /%2e%2e/ /%252e%252e/ /healthz/.. /healthz/../ /healthz/%2e%2e /healthz%2f..".split(
    " ",
  ),
  ..."/chat/.. /chat/%2e%2e/ /readyz/..; /slack/events/../.. /slack/events/..%2f.. /;/ /;a=b /%3b /%20 /%09 /%00 /%0a /%0d%0a".split(
    " ",
  ),
  ..."\\ /\\ \\\\ /%5c /%5c%5c /%ff /%c0%ae%c0%ae/ /%c0%af /%e0%80%af /%u002f /x/../ /x/%2e%2e/ /~ /* /api /v1 /public /static/..".split(
    " ",
  ),
];
const BEHIND = [
  ..."/ // /. /.. /./ /%2e /%2e%2e/. ; ;a=b ;/healthz .json .html .css .js ~ * %20 %09 %00 %00.html %0a %0d%0a %2f %5c \\ # ? ?/ ?/healthz".split(
    " ",
  ),
  ..."?a=/healthz&b=.. #/healthz /healthz /..;/healthz %23 %3f %3b %26 & = @ : ! ' ( ) , $ + %ff %c0%80 /%2e;/ /index.html /favicon.ico".split(
    " ",
  ),
];
const WITHIN: ((path: string) => string)[] = [
  (path) => path.toUpperCase(),
  (path) => at(path, 2, (character) => character.toUpperCase()),
  (path) => `/${encoded(path.slice(1))}`,
  (path) => `/${encoded(path.slice(1), true)}`,
  (path) => encoded(path),
  (path) => at(path, 1, (character) => encoded(character)),
  (path) => at(path, 1, (character) => encoded(encoded(character))),
  (path) => at(path, last(path), () => "%2f"),
  (path) => at(path, last(path), () => "%2F"),
  (path) => at(path, last(path), () => "%252f"),
  (path) => at(path, last(path), () => "\\"),
  (path) => at(path, last(path), () => "%5c"),
  (path) => at(path, last(path), () => "//"),
  (path) => at(path, last(path), () => "/./"),
  (path) => at(path, last(path), () => "/x/../"),
  (path) => at(path, last(path), () => "/%2e/"),
  (path) => at(path, last(path), () => ";/"),
  (path) => at(path, last(path), () => "∕"),
  (path) => at(path, last(path), () => "／"),
  (path) => at(path, 2, (character) => `${character}%00`),
  (path) => at(path, 2, (character) => `${character}\u200b`),
  (path) => at(path, 2, (character) => `${character}%e2%80%8b`),
  (path) => path.replace("a", "а"),
  (path) => `${path}?${path}`,
  (path) => `/${path.slice(1).split("").join("%00")}`,
];
const TRICKS = [
  ...BEFORE.map((before) => (path: string) => before + path),
  ...BEHIND.map((behind) => (path: string) => path + behind),
  ...WITHIN,
];

/** The public pages: what a trick may come to once the address is read as every program reads it. */
const OPEN = new Set(
  Object.values<Route>(ROUTES)
    .filter(({ access, onlyWithAdminToken }) => access === "public" && !onlyWithAdminToken)
    .map(({ path }) => path),
);

describe.each(TARGETS)("%s", (target) => {
  it("is open to nobody who only writes it otherwise", async () => {
    const { app, requests, wakes } = edgeFixture({ state: "ready" });
    const letIn: string[] = [];
    for (const trick of TRICKS) {
      const url = HOST + trick(target);
      if (!URL.canParse(url)) continue;
      const { status } = await app.request(url, { redirect: "manual" });
      const leadsToOpen = OPEN.has(new URL(url).pathname);
      if (status < 400 && !leadsToOpen) letIn.push(`${status} ${url}`);
      if (status >= 500) letIn.push(`${status} ${url}`);
    }
    expect(letIn).toEqual([]);
    expect(requests).toEqual([]);
    expect(wakes).toEqual([]);
  });
});

it("648 tricks at least were tried", () => {
  expect(
    new Set(TARGETS.flatMap((target) => TRICKS.map((trick) => trick(target)))).size,
  ).toBeGreaterThanOrEqual(648);
});
