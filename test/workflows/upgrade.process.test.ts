import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { execute } from "../../scripts/execute.ts";
import type { Workflow } from "./read.ts";

const FILE = "templates/serverless/.github/workflows/upgrade.yml";
/** GitHub's shell for `run`: https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#exit-codes-and-error-action-preference */
const SHELL = ["--noprofile", "--norc", "-eo", "pipefail", "-c"];
/** Notes its words, and knows no pull request to edit before one was created. */
const GH = `#!/bin/sh
echo "$*" >> "$CALLS"
case "$1 $2" in
  "pr edit") grep -q "^pr create" "$CALLS" ;;
esac
`;

test("the workflow's second job opens a pull request with the two files, and changes it the next time", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "steward-upgrade-request-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { jobs } = parse(await readFile(FILE, "utf8")) as Workflow;
  const step = jobs["request"]?.steps?.find(({ run }) => run !== undefined);
  const place = (name: string): string => path.join(folder, name);
  const [remote, calls] = [place("remote.git"), place("calls")];
  const env = {
    ...process.env,
    PATH: [folder, process.env["PATH"]].join(path.delimiter),
    CALLS: calls,
    BRANCH: step?.env?.["BRANCH"],
    TITLE: step?.env?.["TITLE"],
  };
  const types = (line: string, cwd = folder): Promise<string> =>
    execute("bash", [...SHELL, line], { cwd, env });
  await writeFile(place("gh"), GH, { mode: 0o755 });
  await types(`git init --quiet --bare --initial-branch=main ${remote} && git clone --quiet ${remote} first`);
  await writeFile(place("first/package.json"), "A");
  await writeFile(place("first/package-lock.json"), "A");
  const author = "-c user.name=a -c user.email=a@b.test";
  await types(
    `git add . && git ${author} commit --quiet --message before && git push --quiet origin HEAD`,
    place("first"),
  );

  const propose = async (version: string): Promise<void> => {
    const clone = place(version);
    await types(`git clone --quiet ${remote} ${version}`);
    await mkdir(path.join(clone, "proposal"));
    for (const name of ["package.json", "package-lock.json", "upgrade.md"])
      await writeFile(path.join(clone, "proposal", name), version);
    await types(step?.run ?? "", clone);
  };
  await propose("B");
  await propose("C");

  const branch = env.BRANCH ?? "";
  expect(await types(`git diff main ${branch} --stat=200 --summary`, remote)).toMatch(
    /package-lock\.json .*\n package\.json .*\n 2 files changed/,
  );
  expect(await types(`git show ${branch}:package.json`, remote)).toBe("C");
  expect(await types(`git log --format=%s main..${branch}`, remote)).toBe(`${env.TITLE}\n`);
  expect((await readFile(calls, "utf8")).match(/^pr \w+/gm)).toEqual(["pr edit", "pr create", "pr edit"]);
});
