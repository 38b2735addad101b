import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { publishRelease } from "../../../scripts/release/github.ts";
import { githubStandIn, type GitHubStandIn } from "../../release/github-stand-in.ts";

const API = "https://api.github.example";
const PAGE = "https://github.com/example/steward/releases/tag/v0.2.0";

let github: GitHubStandIn;
let files: string[];
beforeEach(async () => {
  github = githubStandIn(() => API, "a-token");
  const folder = await mkdtemp(path.join(tmpdir(), "steward-github-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  files = ["a.tgz", "SHA256SUMS"].map((name) => path.join(folder, name));
  for (const file of files) await writeFile(file, `content of ${path.basename(file)}`);
});

function publish(changed: { token?: string } = {}) {
  const send: typeof fetch = async (...given) => github.app.request(new Request(...given));
  return publishRelease(
    { api: API, repository: "example/steward", token: "a-token", fetch: send, ...changed },
    { tag: "v0.2.0", notes: "- A door.", prerelease: false, files },
  );
}

test("the release of a tag has the notes and the files", async () => {
  expect(await publish()).toBe(PAGE);
  const text = (bytes?: Uint8Array) => new TextDecoder().decode(bytes);
  const [release, ...others] = github.releases;
  expect(others).toEqual([]);
  expect(release).toMatchObject({ tag_name: "v0.2.0", body: "- A door.", draft: false, prerelease: false });
  expect(Object.keys(release?.assets ?? {})).toEqual(["a.tgz", "SHA256SUMS"]);
  expect(text(release?.assets["a.tgz"])).toBe("content of a.tgz");
});

test("nobody sees a release whose files could not all be uploaded, and the next attempt completes it", async () => {
  github.refused.add("SHA256SUMS");
  await expect(publish()).rejects.toMatchObject({
    code: "github_refused",
    reason: expect.stringMatching(/502 to POST .*Server Error/),
  });
  expect(github.releases.map(({ draft }) => draft)).toEqual([true]);

  github.refused.clear();
  expect(await publish()).toBe(PAGE);
  expect(github.releases.map(({ draft, assets }) => [draft, Object.keys(assets)])).toEqual([
    [false, ["a.tgz", "SHA256SUMS"]],
  ]);
});

test("a release that exists stays as it is", async () => {
  await publish();
  const [former] = github.releases;
  files = [];
  expect(await publish()).toBe(PAGE);
  expect(github.releases).toEqual([former]);
});

test("a wrong token is refused with the fix, and is in no message", async () => {
  const failure: Error = await publish({ token: "a-wrong-token" }).then(
    () => new Error("published"),
    (error: Error) => error,
  );
  expect(failure.message).toMatch(/GitHub answered 401 .*\(github_refused\)[^]*contents: write/);
  expect(failure.message).not.toContain("a-wrong-token");
});
