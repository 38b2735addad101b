import { readFile } from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { BuildFailure } from "../../infra/shell/failure.ts";

export interface GitHub {
  /** `https://api.github.com`, without a trailing slash. */
  api: string;
  /** `<owner>/<name>`. */
  repository: string;
  /** With write permission for contents. */
  token: string;
  fetch: typeof fetch;
}

export interface GitHubRelease {
  tag: string;
  notes: string;
  prerelease: boolean;
  files: readonly string[];
}

const API_VERSION = "2022-11-28";

const releaseSchema = z.object({
  id: z.number(),
  tag_name: z.string(),
  draft: z.boolean(),
  html_url: z.string(),
  /** Ends in `{?name,label}`. */
  upload_url: z.string(),
});

/**
 * Publishes a tag's GitHub release, which stays a draft until all files are uploaded. Replaces the draft of a failed attempt, but never a published release.
 *
 * https://docs.github.com/rest/releases/releases and https://docs.github.com/rest/releases/assets
 *
 * @returns URL of the release's page
 * @throws BuildFailure `github_refused`
 */
export async function publishRelease(github: GitHub, release: GitHubRelease): Promise<string> {
  const { tag, notes, prerelease, files } = release;
  const releases = `${github.api}/repos/${github.repository}/releases`;
  // Only the list contains drafts. GitHub finds a release by its tag only after it is published.
  const listed = z.array(releaseSchema).parse(await ask(github, "GET", `${releases}?per_page=100`));
  const former = listed.find(({ tag_name }) => tag_name === tag);
  if (former?.draft === false) return former.html_url;
  if (former !== undefined) await ask(github, "DELETE", `${releases}/${former.id}`);

  const content = { tag_name: tag, name: tag, body: notes, prerelease, draft: true };
  const draft = releaseSchema.parse(await ask(github, "POST", releases, { json: content }));
  const uploads = draft.upload_url.replace(/\{.*$/, "");
  for (const file of files) {
    const name = encodeURIComponent(path.basename(file));
    await ask(github, "POST", `${uploads}?name=${name}`, { bytes: await readFile(file) });
  }
  const published = await ask(github, "PATCH", `${releases}/${draft.id}`, { json: { draft: false } });
  return releaseSchema.parse(published).html_url;
}

async function ask(
  { token, fetch: send }: GitHub,
  method: string,
  url: string,
  content: { json?: object; bytes?: Buffer<ArrayBuffer> } = {},
): Promise<unknown> {
  const { json, bytes } = content;
  const response = await send(url, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "x-github-api-version": API_VERSION,
      ...(bytes !== undefined && { "content-type": "application/octet-stream" }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
    ...(bytes !== undefined && { body: bytes }),
  });
  const text = await response.text();
  if (response.ok) return text === "" ? undefined : JSON.parse(text);
  throw new BuildFailure(
    "github_refused",
    `GitHub answered ${response.status} to ${method} ${new URL(url).pathname}: ${text.slice(0, 500)}`,
    "The job needs `contents: write`, and GH_TOKEN with it.",
  );
}
