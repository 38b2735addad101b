import { Hono } from "hono";

/** A release as the stand-in keeps it. */
interface StoredRelease {
  id: number;
  tag_name: string;
  name: string;
  body: string;
  draft: boolean;
  prerelease: boolean;
  assets: Record<string, Uint8Array>;
}

/** GitHub's API of releases, and what it keeps. */
export interface GitHubStandIn {
  app: Hono;
  releases: StoredRelease[];
  /** Names of files whose upload fails. */
  refused: Set<string>;
}

/**
 * Stands in for GitHub's releases of one repository: listing, creating, updating and deleting a release
 * (https://docs.github.com/rest/releases/releases), and uploading an asset
 * (https://docs.github.com/rest/releases/assets#upload-a-release-asset). Anything else is 404. It models one page of
 * releases, no tags, and of the token only that there has to be the right one.
 *
 * @param origin returns the stand-in's own address, which answers need for the upload address
 */
export function githubStandIn(origin: () => string, token: string): GitHubStandIn {
  const releases: StoredRelease[] = [];
  const refused = new Set<string>();
  const app = new Hono<{ Variables: { release: StoredRelease } }>();
  const root = "/repos/example/steward/releases";
  let last = 0;

  app.use(async (context, next) => {
    if (context.req.header("authorization") !== `Bearer ${token}`) {
      return context.json({ message: "Bad credentials" }, 401);
    }
    return next();
  });
  app.get(root, (context) => context.json(releases.map(shown)));
  app.post(root, async (context) => {
    const { tag_name, name, body, prerelease, draft } = await context.req.json<StoredRelease>();
    if (releases.some((one) => one.tag_name === tag_name && !one.draft)) {
      const errors = [{ resource: "Release", code: "already_exists", field: "tag_name" }];
      return context.json({ message: "Validation Failed", errors }, 422);
    }
    last += 1;
    const release = { id: last, tag_name, name, body, draft, prerelease, assets: {} };
    releases.push(release);
    return context.json(shown(release), 201);
  });
  app.use(`${root}/:id/*`, async (context, next) => {
    const release = releases.find(({ id }) => id === Number(context.req.param("id")));
    if (release === undefined) return context.json({ message: "Not Found" }, 404);
    context.set("release", release);
    return next();
  });
  app.patch(`${root}/:id`, async (context) => {
    const { release } = context.var;
    const { draft } = await context.req.json<{ draft: boolean }>();
    release.draft = draft;
    return context.json(shown(release));
  });
  app.delete(`${root}/:id`, (context) => {
    releases.splice(releases.indexOf(context.var.release), 1);
    return context.body(null, 204);
  });
  app.post(`${root}/:id/assets`, async (context) => {
    const { assets } = context.var.release;
    const name = context.req.query("name") ?? "";
    if (refused.has(name)) return context.json({ message: "Server Error" }, 502);
    if (name in assets) return context.json({ message: "Validation Failed" }, 422);
    assets[name] = new Uint8Array(await context.req.arrayBuffer());
    return context.json({ name }, 201);
  });

  function shown({ assets, ...release }: StoredRelease) {
    return {
      ...release,
      html_url: `https://github.com/example/steward/releases/tag/${release.tag_name}`,
      upload_url: `${origin()}${root}/${release.id}/assets{?name,label}`,
      assets: Object.keys(assets).map((name) => ({ name })),
    };
  }
  // The app's type names its variables, which only the handlers above use; callers need a plain app.
  return { app: app as unknown as Hono, releases, refused };
}
