import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { StewardError } from "../../../runtime/contract/errors.ts";
import { processOutput } from "../../../runtime/gateway/cli/context.ts";
import { runCommandLine, runRequest } from "../../../runtime/gateway/cli/program.ts";
import { type Field, inputFields } from "../../../runtime/operations/form.ts";
import type { Operation } from "../../../runtime/operations/operation.ts";
import { GROUPS } from "../../../runtime/operations/registry.ts";
import { readProcessSettings } from "../../../runtime/process/settings.ts";
import { createOperations } from "../../../runtime/supervisor/operations.ts";
import { systemTimers } from "../../../runtime/supervisor/timers.ts";
import { edgeFixture, NOW, signedIn } from "../../support/edge.ts";
import { TYPED } from "../../support/typed.ts";

const RUNS = 200;
const SEED = Number(process.env["INPUTS_SEED"] ?? Math.floor(Math.random() * 1_000_000));
const operations = GROUPS.flatMap((group) => group.operations);
const home = await mkdtemp(join(tmpdir(), "steward-inputs-"));
afterAll(() => rm(home, { recursive: true }));
const environment = { STEWARD_HOME: home, GATEWAY_PORT: "1" };
const { jwk, headers } = await signedIn();

type Input = Record<string, unknown>;

/** An answer of an entrance to a wrong input. */
interface Refused {
  code: string;
  text: string;
}

function context(stdout = new PassThrough()) {
  const redact = (text: string) => text;
  const output = processOutput({ stdout, stderr: new PassThrough(), redact });
  const settings = readProcessSettings(environment);
  return { environment, settings, redact, output, clock: () => NOW, setExitCode: () => undefined };
}

async function refusalOf(run: Promise<unknown>): Promise<Refused | undefined> {
  try {
    await run;
    return undefined;
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    return { code: error.code, text: error.message };
  }
}

/** The words that give an input: options first, and arguments behind two dashes. */
function wordsOf({ name }: Operation, fields: readonly Field[], input: Input): string[] {
  const isArgument = (key: string) => fields.some((field) => field.name === key && field.isArgument);
  const options = Object.entries(input).filter(([key]) => !isArgument(key));
  const given = options.map(([key, value]) => (value === true ? `--${key}` : `--${key}=${String(value)}`));
  const values = fields.filter((field) => field.isArgument && field.name in input);
  return [...name.split(" "), ...given, "--", ...values.map((field) => String(input[field.name]))];
}

/** A line of `/debug/cli`, each word in quotes. */
const lineOf = (words: readonly string[]) =>
  words.map((word) => (word.includes('"') ? `'${word}'` : `"${word}"`)).join(" ");

const onTerminal = (words: readonly string[]) => refusalOf(runCommandLine(context(), words));

const operate = createOperations({
  cli: ["/no-process-may-start"],
  environment,
  configPath: join(home, "steward.json"),
  timers: systemTimers,
});
const toSupervisor = (operation: string, input: unknown) => refusalOf(operate({ operation, input }));

/** The process that the supervisor starts. */
async function toProcess(operation: string, input: unknown): Promise<Refused | undefined> {
  const stdout = new PassThrough();
  await runRequest(context(stdout), JSON.stringify({ operation, input }));
  const { error } = JSON.parse(String(stdout.read()));
  return error && { code: error.code, text: error.message };
}

let now = NOW;
// Slower than the limit of an identity's requests.
const edge = edgeFixture({ jwk, clock: () => (now += 300) });

async function toDebugCli(line: string): Promise<Refused> {
  const response = await edge.app.request(`/debug/cli?cmd=${encodeURIComponent(line)}`, {
    headers: { ...headers, ...TYPED },
  });
  expect([line, response.status]).toEqual([line, 400]);
  const { code, detail } = (await response.json()) as { code: string; detail: string };
  return { code, text: detail };
}

/** A word that a line of `/debug/cli` can hold. */
const word = fc
  .string({ minLength: 1, maxLength: 12 })
  .filter((text) => !/['\p{Cc}]/u.test(text) && text.trim() !== "");

/** Inputs that are wrong for an operation in one way at least, and that words can spell. */
function wrongInputs(fields: readonly Field[]): fc.Arbitrary<Input> {
  const right = fc.record(
    Object.fromEntries(
      fields.map(({ name, choices, isFlag }) => [
        name,
        isFlag ? fc.constant(true) : choices === undefined ? word : fc.constantFrom(...choices),
      ]),
    ),
  );
  const unknown = fc
    .string({ unit: fc.constantFrom(..."abcdefghij-"), minLength: 2, maxLength: 9 })
    .map((name) => `z${name}`)
    .filter((name) => !fields.some((field) => field.name === name));
  const ways: fc.Arbitrary<(input: Input) => Input>[] = [
    unknown.map((name) => (input: Input) => Object.assign({}, input, { [name]: true })),
  ];
  const needed = fields.filter(({ isNeeded }) => isNeeded);
  // Words cannot leave out an argument that another one follows.
  for (const { name, isArgument } of needed) {
    const behind = isArgument ? fields.slice(fields.findIndex((one) => one.name === name) + 1) : [];
    const left = [name, ...behind.filter((one) => one.isArgument).map((one) => one.name)];
    ways.push(
      fc.constant((input: Input) =>
        Object.fromEntries(Object.entries(input).filter(([key]) => !left.includes(key))),
      ),
    );
  }
  for (const { name, choices } of fields.filter((field) => field.choices !== undefined))
    ways.push(
      word
        .filter((text) => !choices?.includes(text))
        .map((text) => (input: Input) => ({ ...input, [name]: text })),
    );
  return fc.tuple(right, fc.oneof(...ways), fc.boolean(), unknown).map(([input, change, isTwice, name]) => {
    const changed = change(input);
    return isTwice ? Object.assign(changed, { [name]: true }) : changed;
  });
}

test("an object that has no text of its own is told as JSON", async () => {
  const text = expect.stringContaining(`value '{"toString":1}' is invalid for argument 'platform'`);
  const refused = { code: "usage_invalid", text };
  const input = { channel: { toString: 1 }, code: "ABCDEFGH" };
  expect(await toSupervisor("pairing approve", input)).toEqual(refused);
  expect(await toProcess("pairing approve", input)).toEqual(refused);
});

test.each(operations.map((operation) => [operation.name, operation] as const))(
  `%s: ${RUNS} wrong inputs have one code and one text by every entrance, and change nothing (INPUTS_SEED=${SEED})`,
  async (name, operation) => {
    const onConsole = operation.rights.includes("console");
    const allowed = new Set(operation.terminalOnly);
    const all = inputFields(operation);
    const fields = onConsole ? all.filter((field) => !allowed.has(field.name)) : all;
    for (const input of fc.sample(wrongInputs(fields), { numRuns: RUNS, seed: SEED })) {
      const words = wordsOf(operation, fields, input);
      const told = JSON.stringify(input);
      const typed = await onTerminal(words);
      const asked = [
        await toDebugCli(lineOf(words)),
        await toSupervisor(name, input),
        await toProcess(name, input),
      ];
      expect([told, typed?.code]).toEqual([told, "usage_invalid"]);
      const [code, contained] = onConsole
        ? ["usage_invalid", `\n${operation.summary}`]
        : ["command_not_allowed", "Allowed are: "];
      expect([told, asked[0]]).toEqual([told, { code, text: expect.stringContaining(contained) }]);
      const isOnBoth = onConsole && operation.rights.includes("terminal");
      for (const other of [isOnBoth ? typed : asked[0], ...asked])
        expect([told, other]).toEqual([told, asked[0]]);
    }
    expect(edge.requests).toEqual([]);
    expect(await readdir(home)).toEqual([]);
  },
);

test.each(operations.map((operation) => [operation.name, operation] as const))(
  `%s: ${RUNS} inputs of other types are refused by the supervisor and its process alike (INPUTS_SEED=${SEED})`,
  async (name, operation) => {
    const field = fc.constantFrom(
      "x",
      "__proto__",
      "constructor",
      ...inputFields(operation).map((one) => one.name),
    );
    const wrong = fc.oneof(
      fc.constantFrom(null, undefined, 1, "x", [], [{}]),
      fc.dictionary(
        field,
        fc.jsonValue({ maxDepth: 2 }).filter((value) => typeof value !== "string"),
        {
          minKeys: 1,
        },
      ),
    );
    let refused = 0;
    for (const input of fc.sample(wrong, { numRuns: RUNS, seed: SEED })) {
      // Some are right by chance, such as nothing for an operation that takes nothing.
      if (operation.input().safeParse(input).success) continue;
      refused += 1;
      const told = JSON.stringify(input) ?? "undefined";
      const one = await toSupervisor(name, input);
      expect([told, one?.code]).toEqual([
        told,
        expect.stringMatching(/^(?:usage_invalid|command_not_allowed)$/),
      ]);
      expect([told, await toProcess(name, input)]).toEqual([told, one]);
      expect(one?.text).not.toMatch(/TypeError|\bat .*:\d+:\d+/);
    }
    expect(refused).toBeGreaterThan(RUNS / 2);
    expect(await readdir(home)).toEqual([]);
  },
);
