import { execFile } from "node:child_process";
import { PassThrough } from "node:stream";
import { WriteStream } from "node:tty";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { processOutput } from "../../../runtime/gateway/cli/context.ts";
import { steward } from "../support/cli.ts";
import { temporaryDirectory } from "../support/processes.ts";

async function completions(shell: string): Promise<string> {
  const { code, stdout } = await steward({ STEWARD_HOME: await temporaryDirectory() }, "completion", shell);
  expect(code).toBe(0);
  return stdout;
}

test("bash completes commands, their parts and their options", async () => {
  const script = await completions("bash");
  const completed = async (...words: string[]) => {
    const line = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}`;
    const { stdout } = await promisify(execFile)("bash", [
      "--norc",
      "-c",
      `${script}\n${line}; _steward; echo "\${COMPREPLY[@]}"`,
    ]);
    return stdout.trim().split(" ");
  };
  expect(await completed("steward", "sch")).toEqual(["schedules"]);
  expect(await completed("steward", "pairing", "")).toEqual([
    "list",
    "approve",
    "reject",
    "grant",
    "revoke",
    "--help",
  ]);
  expect(await completed("steward", "pairing", "approve", "slack", "--")).toEqual([
    "--operator",
    "--json",
    "--help",
  ]);
  expect(await completed("steward", "schedules", "add", "--t")).toEqual([
    "--to",
    "--thread",
    "--timezone",
    "--text",
  ]);
  expect(await completed("steward", "")).toContain("workspace");
});

test("zsh and fish have the same words, and another shell is refused by name", async () => {
  expect(await completions("zsh")).toContain("bashcompinit\n_steward()");
  const fish = await completions("fish");
  expect(fish).toContain(
    'complete -c steward -f -n "__fish_seen_subcommand_from pairing" -a "list approve reject grant revoke --help"',
  );
  const other = await steward({ STEWARD_HOME: await temporaryDirectory() }, "completion", "tcsh");
  expect(other.code).toBe(1);
  expect(other.stderr).toContain("Allowed choices are bash, zsh, fish.");
});

test("states are in colour on a terminal, and nowhere else", () => {
  const text = "Channel  State\nslack    failing\nchat     ready";
  const written = (stream: object) => {
    const stdout = Object.assign(new PassThrough(), stream);
    const output = processOutput({ stdout, stderr: new PassThrough(), redact: (words) => words });
    output.answer(false, {}, text);
    output.answer(false, {}, "Config:  not valid");
    return String(stdout.read());
  };
  // The terminal of the test run does not matter.
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of ["NO_COLOR", "FORCE_COLOR", "CI"]) vi.stubEnv(name, undefined);
  vi.stubEnv("TERM", "xterm-256color");
  const { getColorDepth } = WriteStream.prototype;
  const terminal = written({ isTTY: true, getColorDepth });
  expect(terminal).toBe(
    "\u001b[1mChannel  State\u001b[22m\nslack    \u001b[31mfailing\u001b[39m\nchat     \u001b[32mready\u001b[39m\n" +
      "Config:  \u001b[31mnot valid\u001b[39m\n",
  );
  vi.stubEnv("NO_COLOR", "1");
  expect(written({ isTTY: true, getColorDepth })).not.toContain("\u001b");
  expect(written({})).not.toContain("\u001b");
});
