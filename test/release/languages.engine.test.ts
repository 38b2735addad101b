import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fixFor, succeed, type, type Shell, waysOf } from "../journeys/typed.ts";
import packageJson from "../../package.json" with { type: "json" };
import { ACCOUNT, TOKEN } from "../rehearsal/support.ts";
import { startAnsweringStage, type AnsweringStage } from "../support/answering-stage.ts";
import { languageHost, type Language } from "../support/languages.ts";
import { MODEL_KEY, SIGNING_SECRET, type ServerlessStage } from "../support/serverless-stack.ts";
import { ENGINE_MS, UPDATE_MS } from "../support/stack.ts";
import { emptyProject, type Project } from "./project.ts";

const { version: VERSION } = packageJson;

/** The same two gateways in four languages: see `programs`. */
const LANGUAGES: readonly (Language | "nodejs")[] = ["nodejs", "yaml", "python", "go"];
/** Commands that prepare a program's folder, in addition to `npm install`. */
const INSTALL: Partial<Record<Language | "nodejs", string>> = {
  python:
    "python3 -m venv venv && venv/bin/pip install --quiet --disable-pip-version-check ../node_modules/steward-gateway/sdk/python",
  go: "go mod tidy && go build -o bot .",
};

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
      expect(unnamed.said).toContain("Name one with --gateway. There are: sales, support.");
      const backup = await succeed(shell, `${command} backup ${language} --create --gateway support`);
      expect(backup.said).toMatch(/^Made 0000/m);
      const rollout = await type(shell, `${command} rollout ${language} --yes`);
      expect(rollout.said).toContain("(stack_of_components)");
      await succeed(shell, waysOf(fixFor("stack_of_components", rollout.said))[0]?.[0] ?? "");

      const destroyed = await works("destroy --yes");
      expect(destroyed).toContain("- 39 deleted");
      expect(destroyed).toMatch(/The bucket bot-\w+-support-steward stays, with \d+ objects/);

      await works("config set sleepAfter soon");
      await works("config set teamDomain no_host");
      const wrong = await type(shell, `pulumi preview -s ${language}`);
      expect(wrong.code).not.toBe(0);
      expect(wrong.said).not.toContain(MODEL_KEY);
      reports.set(language, /Invalid arguments of support.*2 problems:\n(?: {6}.*\n)+/.exec(wrong.said)?.[0]);
    },
    UPDATE_MS * 2,
  );

  test("every language has the same preview and the same report", () => {
    expect(previews.get("nodejs")).toHaveLength(38);
    expect(reports.get("nodejs")).toContain("sleepAfter: must be never or a duration");
    for (const language of LANGUAGES) {
      expect(previews.get(language), language).toEqual(previews.get("nodejs"));
      expect(reports.get(language), language).toBe(reports.get("nodejs"));
    }
  });

  test.each([
    {
      language: "python" as const,
      commands: [],
      program: "__main__.py",
      account: (text: string, url: string) =>
        text.replace('"apiToken")}', `"apiToken"), "base_url": "${url}"}`),
    },
    {
      language: "yaml" as const,
      commands: [`pulumi plugin install resource steward ${VERSION} --file node_modules/steward-gateway`],
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
    async ({ language, commands, program, account }) => {
      const own = await emptyProject(`${language}-template`);
      onTestFinished(() => own.remove());
      const { shell } = own;
      // This host takes no notice of `virtualenv`: it makes the environment in the project's folder.
      const PATH = [path.join(shell.folder, "bin"), await languageHost(language), shell.environment["PATH"]];
      shell.environment["PATH"] = PATH.join(path.delimiter);
      await own.install();
      for (const command of commands) await own.works(command);
      onTestFinished(async () => {
        if (commands.length > 0) await own.works("pulumi plugin rm resource steward --yes");
      });
      const settings = {
        accountId: ACCOUNT,
        subdomain: "acme",
        "cloudflare:apiToken": TOKEN,
        cloudflareToken: TOKEN,
        "cloudflare:baseUrl": world.stage.cloudflare.url,
        anthropicApiKey: MODEL_KEY,
      };
      const words = Object.entries(settings).map(([key, value]) => `-c ${key}=${value}`);
      const template = `./node_modules/steward-gateway/templates/serverless-${language}`;
      await own.works(`pulumi new ${template} --force --yes --name bot --stack dev ${words.join(" ")}`);
      // A person is asked for these, and they are kept as secrets.
      await own.configure(
        {},
        { "cloudflare:apiToken": TOKEN, cloudflareToken: TOKEN, anthropicApiKey: MODEL_KEY },
      );
      // The rehearsed account: the template has no argument for one.
      const file = path.join(shell.folder, program);
      const text = await readFile(file, "utf8");
      await writeFile(file, account(text, world.stage.cloudflare.url));

      const { said } = await own.works("pulumi preview -s dev");
      expect(said).toContain('url      : "https://bot-dev-bot-steward.acme.workers.dev"');
      expect(said).toMatch(/Resources:\n +\+ \d+ to create\n/);
    },
    UPDATE_MS * 2,
  );
});

/** Returns type and name of what a preview creates, but for the stack. */
function created(preview: string): string[] {
  const lines = [...preview.matchAll(/^ \+ {2}(\S+ \S+) create\b/gm)].map(([, resource = ""]) => resource);
  return [...new Set(lines)].filter((resource) => !resource.startsWith("pulumi:pulumi:Stack")).toSorted();
}
