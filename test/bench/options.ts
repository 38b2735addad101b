import { Command, InvalidArgumentError } from "commander";

/** What can be measured by itself. */
const PARTS = [
  "size",
  "package",
  "host",
  "start",
  "commands",
  "messages",
  "files",
  "flood",
  "broker",
  "memory",
  "growth",
  "weight",
  "pages",
  "node",
  "worker",
  "auth",
  "tenants",
  "neighbour",
  "fleet",
  "roster",
  "readers",
  "stack",
  "hand",
  "tests",
  "peer",
] as const;
export type Part = (typeof PARTS)[number];

/** What `npm run bench` was asked for. */
export interface BenchOptions {
  /** Lists every promise, and ends with 1 if one is missed. */
  check: boolean;
  /** One JSON object on standard output. */
  json: boolean;
  /** How often each figure is taken. */
  runs: number;
  /** What is measured, in this order. */
  wanted: Part[];
}

/** Reads the command line. Ends the process after help, or with code 1 behind what is wrong. */
export function readOptions(argv: readonly string[]): BenchOptions {
  const command = new Command("npm run bench --")
    .description("Measures every figure that the project claims, each as the median of several runs.")
    .option("--check", "list every promise, and end with 1 if one is missed", false)
    .option("--json", "print one JSON object", false)
    .option("--runs <number>", "how often each figure is taken", wholeNumber, 5)
    .option("--only <parts>", `some of these, by commas: ${PARTS.join(", ")}`, partsOf)
    .option("--peer", "also the reference gateway, from npm", false)
    .showHelpAfterError()
    .parse(argv, { from: "user" });
  const { check, json, runs, only, peer } = command.opts<{
    check: boolean;
    json: boolean;
    runs: number;
    only?: Part[];
    peer: boolean;
  }>();
  const usual = only ?? PARTS.filter((name) => name !== "peer");
  return { check, json, runs, wanted: peer ? [...new Set<Part>([...usual, "peer"])] : usual };
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError("It has to be a whole number from 1.");
  return Number(text);
}

function partsOf(text: string): Part[] {
  const names = text.split(",");
  const known = names.filter((name): name is Part => (PARTS as readonly string[]).includes(name));
  if (known.length === names.length) return known;
  throw new InvalidArgumentError(`It knows ${PARTS.join(", ")}.`);
}
