import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fixFor, succeed, type, type Shell, waysOf } from "../journeys/typed.ts";
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import { startAnsweringStage, type AnsweringStage } from "../support/answering-stage.ts";
import { languageHost, type Language } from "../support/languages.ts";
import { MODEL_KEY, SIGNING_SECRET, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { emptyProject, type Project } from "./project.ts";

/** The same two gateways in four languages: see `programs`. */
const LANGUAGES: readonly (Language | "nodejs")[] = ["nodejs", "yaml", "python", "go"];
/** Command that prepares a program's folder, in addition to `npm install`. */
const INSTALL: Partial<Record<Language | "nodejs", string>> = {
  python:
    "python3 -m venv venv && venv/bin/pip install --quiet --disable-pip-version-check ../node_modules/steward-gateway/sdk/python",
  go: "go mod tidy && go build -o bot .",
};
/** A language's program with wrong arguments: the file, the one that it takes the place of, and what builds it. */
const WRONG: Record<Language | "nodejs", { file: string; program: string; build?: string }> = {
  nodejs: { file: "wrong.js", program: "index.js" },
  yaml: { file: "wrong/Pulumi.yaml", program: "Pulumi.yaml" },
  python: { file: "wrong.py", program: "__main__.py" },
  go: { file: "wrong/main.go", program: "main.go", build: "go build -o bot ." },
};
/** Reports about a program without `models`: ours, or the one of the language, which requires them itself. */
const MISSING: Record<Language | "nodejs", string[]> = {
  nodejs: ["models.anthropicApiKey: missing"],
  // It knows the values of enumerations too.
  yaml: ["models: Missing required property 'models'", 'Allowed values are "lite", "basic"'],
  python: ["Missing required property 'models'"],
  go: ["invalid value for required argument 'Models'"],
};
/** Lines of a report about an enumeration's value. */
const OF_SIZE = / *instanceType: .*\n *fix: .*\n/;

describe("two gateways in a program of one's own, from the package alone", () => {
  let stage: AnsweringStage;
  let world: ServerlessStage;
  let project: Project;
  const previews = new Map<string, string[]>();
  const reports = new Map<string, string | undefined>();

  beforeAll(async () => {
    stage = await startAnsweringStage();
    ({ world } = stage);
    project = await emptyProject("languages");
    await project.install();
  }, ENGINE_MS);

  afterAll(async () => {
    await stage?.close();
    await project?.remove();
  }, UPDATE_MS);

  /** A shell in the folder of a program, with the stack `dev`. */
  async function begin(language: Language | "nodejs"): Promise<Shell> {
    const { shell, configure } = project;
    const folder = path.join(shell.folder, language);
    await mkdir(folder);
    await cp(path.join(import.meta.dirname, "programs", language), folder, { recursive: true });
    const host = language === "nodejs" ? [] : [await languageHost(language)];
    const PATH = [path.join(folder, "venv/bin"), ...host, shell.environment["PATH"]].join(path.delimiter);
    const own = { ...shell, folder, environment: { ...shell.environment, PATH } };
    const install = INSTALL[language];
    if (install !== undefined) await succeed(own, install);
    await succeed(own, `pulumi stack init ${language}`);
    const addressOf = async (name: string) =>
      (await world.frontOf(`bot-${language}-${name}-steward.example.workers.dev`)).url;
    const { anthropic = "", slack = "" } = JSON.parse(stage.endpoints) as Record<string, string>;
    const plain = {
      accountId: ACCOUNT,
      baseUrl: world.stage.cloudflare.url,
      "cloudflare:baseUrl": world.stage.cloudflare.url,
      origin: await addressOf("support"),
      salesOrigin: await addressOf("sales"),
      teamDomain: world.identity.url,
      anthropic,
      slack,
      sleepAfter: "10m",
    };
    const secrets = {
      apiToken: TOKEN,
      "cloudflare:apiToken": TOKEN,
      anthropicApiKey: MODEL_KEY,
      slackBotToken: "xoxb-test-0123456789",
      slackSigningSecret: SIGNING_SECRET,
    };
    await configure(plain, secrets, own, language);
    return own;
  }

  test.each(LANGUAGES)(
    "go up from %s, answer, have nothing to change, and are removed after a backup",
    async (language) => {
      const shell = await begin(language);
      const works = async (line: string) => (await succeed(shell, `pulumi ${line} -s ${language}`)).said;
      previews.set(language, created(await works("preview")));
      // Each gateway's readiness is signed with its own key, so each address has been found to be its own.
      expect(await works("up --yes")).toMatch(/\+ 39 created\n/);
      const { url, salesUrl } = JSON.parse(await works("stack output --json")) as Record<string, string>;
      expect((await fetch(`${salesUrl}/healthz`)).status).toBe(200);
      expect(await stage.converse(url)).not.toBe("");
      expect(await works("preview")).toMatch(/Resources:\n +39 unchanged\n/);
      const state = await works("stack export");
      expect(state).not.toContain(MODEL_KEY);
      expect(state).not.toContain(SIGNING_SECRET);

      const command = `../node_modules/.bin/steward-deploy`;
      const unnamed = await type(shell, `${command} backup ${language} --create`);
      expect(unnamed.said).toContain("Select one with --gateway: sales, support.");
      const backup = await succeed(shell, `${command} backup ${language} --create --gateway support`);
      expect(backup.said).toMatch(/^Made 0000/m);
      const rollout = await type(shell, `${command} rollout ${language} --yes`);
      expect(rollout.said).toContain("(stack_of_components)");
      await succeed(shell, waysOf(fixFor("stack_of_components", rollout.said))[0]?.[0] ?? "");

      const destroyed = await works("destroy --yes");
      expect(destroyed).toContain("- 39 deleted");
      expect(destroyed).toMatch(/The bucket bot-\w+-support-steward stays, with \d+ objects/);

      const { file, program, build = "true" } = WRONG[language];
      const text = await readFile(path.join(shell.folder, file), "utf8");
      const refused = async (changed: string): Promise<string> => {
        await writeFile(path.join(shell.folder, program), changed);
        const { code, said } = await type(shell, `${build} && pulumi preview -s ${language}`);
        expect(code).not.toBe(0);
        expect(said).not.toContain(MODEL_KEY);
        return said;
      };
      const wrong = await refused(language === "yaml" ? text.replace(/ *instanceType.*\n/, "") : text);
      reports.set(language, /Invalid arguments of wrong.*problems:\n((?: {6}.*\n)+)/.exec(wrong)?.[1]);
      const missing = await refused(text.replace(/^.*\bmodels\b.*\n/im, ""));
      for (const words of MISSING[language]) expect(missing).toContain(words);
    },
    UPDATE_MS * 2,
  );

  test("every language has the same preview and the same report", () => {
    expect(previews.get("nodejs")).toHaveLength(38);
    const wrong = [
      "  access.teamDomain: ",
      "  accountId: must be the account's 32 hexadecimal digits",
      "  bucketOnDestroy: is empty, and protectState keeps the bucket",
      "  instanceType: must be lite, basic, standard-1, standard-2, standard-3 or standard-4",
      "  sleepAfter: must be never or a duration",
      "  slack.signingSecret: missing: Slack is only partly configured, with slack.botToken",
      "  subdomain: given in addition to hostname: the Worker has one address",
    ];
    for (const line of wrong) expect(reports.get("nodejs")).toContain(line);
    for (const language of LANGUAGES) {
      expect(previews.get(language), language).toEqual(previews.get("nodejs"));
      const report = reports.get("nodejs");
      const expected = language === "yaml" ? report?.replace(OF_SIZE, "") : report;
      expect(reports.get(language), language).toBe(expected);
    }
  });

  test.each([
    {
      language: "python" as const,
      program: "__main__.py",
      account: (text: string, url: string) =>
        text.replace('"apiToken")}', `"apiToken"), "base_url": "${url}"}`),
    },
    {
      language: "yaml" as const,
      program: "Pulumi.yaml",
      // The rehearsal's provider has no schema, which a provider in a YAML program needs.
      account: (text: string, url: string) =>
        text
          .replace(/ {2}account:\n(?: {4}.*\n)+/, "")
          .replace(/ {4}options:\n(?: {6}.*\n)+/, "")
          .replace("cloudflare:\n", `cloudflare:\n        baseUrl: ${url}\n`),
    },
  ])(
    "the $language template leads from an empty folder to a preview",
    async ({ language, program, account }) => {
      const own = await emptyProject(`${language}-template`);
      onTestFinished(() => own.remove());
      const { url } = world.stage.cloudflare;
      const plain = { accountId: ACCOUNT, subdomain: "acme", "cloudflare:baseUrl": url };
      const secrets = {
        "cloudflare:apiToken": TOKEN,
        cloudflareToken: TOKEN,
        anthropicApiKey: MODEL_KEY,
      };
      await own.beginIn(language, "serverless", plain, secrets);
      // The rehearsed account: the template has no argument for one.
      const file = path.join(own.shell.folder, program);
      const text = await readFile(file, "utf8");
      await writeFile(file, account(text, url));

      const { said } = await own.works("pulumi preview -s dev");
      expect(said).toContain('url      : "https://bot-dev-bot-steward.acme.workers.dev"');
      expect(said).toMatch(/Resources:\n +\+ \d+ to create\n/);
    },
    UPDATE_MS * 2,
  );
});

/** Returns type and name of what a preview creates, but for the stack. */
function created(preview: string): string[] {
  const lines = [...preview.matchAll(/(?:^|\.) \+ {2}(\S+ \S+) create\b/gm)].map(
    ([, resource = ""]) => resource,
  );
  return [...new Set(lines)].filter((resource) => !resource.startsWith("pulumi:pulumi:Stack")).toSorted();
}
