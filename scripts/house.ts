/**
 * Checks this project's rules, as part of `npm run check`.
 *
 * - A doc comment begins with a verb or a noun, not with a question word.
 * - No comment contains a phrase of DIALECT.
 * - No string contains a command such as `pulumi up` or `npm run`: `operator-commands.ts` renders commands for a stack.
 * - Only `runtime/gateway/prompt` casts a string to one of the prompt's types, which TRUST lists.
 * - Only `runtime/shared/terminal.ts` and the files in STREAM_USERS write to a terminal, because text may contain
 *   control sequences.
 * - No file, folder or class has a vague name, and no two classes share a name.
 * - A file of fewer than 60 lines has several importers, or is listed in ON_THEIR_OWN or REASONS.
 */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const SHIPPED = ["runtime", "infra", "stacks", "policies"];
const REHEARSAL = "rehearsal";
const FEWEST_LINES = 60;
const QUESTION = /^\/\*\*\s*(?:\*\s+)?(?:What|Who|How|Whether|That|Where|Which|When)\b/;
const DIALECT =
  /\b(?:anew|by itself|by themselves|of one's own|goes on|takes? part|as far as|wherefore|whoever|nobody knows)\b/;
const COMMAND =
  /\b(?:pulumi (?:cancel|config|destroy|import|login|plugin|policy|preview|refresh|stack|up)\b|npm (?:run|start)\b|npx steward)/;
const RENDERERS =
  /^(?:infra\/shell\/package|stacks\/commands\/main|runtime\/edge\/admin\/about|runtime\/contract\/operator-commands)\.tsx?$/;
const START = /^npm (?:run [\w-]+|start) --$/;
/** Types of text in a prompt. A cast outside `runtime/gateway/prompt` would bypass their guarantees. */
const TRUST = new Set("Prompt OperatorText MemoryText SpeakerText ToolText ModelText".split(" "));
const PROMPT_FOLDER = "runtime/gateway/prompt/";
const STREAM = /^(?:process\.std(?:out|err)|console\.\w+)$/;
const STREAM_USERS: Readonly<Record<string, string>> = {
  "infra/shell/command.ts": "waits for its reader, and hands it to writeText",
  "runtime/gateway/cli/main.ts": "hands it to writeText",
  "runtime/process/stop.ts": "listens for its end",
  "runtime/shared/terminal.ts": "writes",
  "stacks/commands/rollout/confirm.ts": "asks a question",
};
const VAGUE = new Set(
  "notes fresh standing kept look before parts entry seen wanted say modest tally leftovers".split(" "),
);
/** Files that may be short, because readers look for them by name. */
const ON_THEIR_OWN =
  /^policies\/rules(?:\/|\.ts$)|\/error-texts\/|\/tools\/|^stacks\/commands\/[^/]+$|\/cli\/|^runtime\/operations\/|^rehearsal\/|-provider\.ts$|\/admin\/[^/]+$|\/edge\/ui\/[^/]+$|\/main\.ts$/;
const REASONS: Readonly<Record<string, string>> = {
  "runtime/gateway/channels/slack/client.ts": "loaded on first use",
  "runtime/gateway/prompt/caller.ts": "a dependency rule names who may import it",
  "runtime/gateway/prompt/operator.ts": "a dependency rule names who may import it",
  "runtime/gateway/schedules/config-schedules.ts": "its importer is long",
  "runtime/gateway/webchat/ws.ts": "loaded on first use",
  "runtime/host/tenants/shared-config.ts": "its importer is long",
  "runtime/host/tenants/tenant-notes.ts": "its importer is long",
  "runtime/host/assets.ts": "the Worker's twin is beside its entry too",
  "runtime/worker/assets.ts": "a bundle replaces it",
  "runtime/host/alerts.ts": "its importer is a process's entry",
  "runtime/supervisor/config-file.ts": "its importer is long",
  "stacks/host.ts": "loaded on first use",
  "stacks/serverless.ts": "loaded on first use",
  "stacks/commands/rollout/chats.ts": "its test needs no engine",
};

const problems: string[] = [];
const importers = new Map<string, Set<string>>();
const lengths = new Map<string, number>();
const classes = new Map<string, string>();
for (const file of [...SHIPPED, REHEARSAL].flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`))) {
  const text = readFileSync(file, "utf8");
  lengths.set(file, text.split("\n").length);
  for (const name of file.split("/").map((part) => part.replace(/\.tsx?$/, ""))) {
    if (VAGUE.has(name)) problems.push(`${file}: "${name}" is vague: use the name that the field uses`);
  }
  look(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
}
for (const [file, length] of lengths) {
  const [only, ...others] = importers.get(file) ?? [];
  const isSmall = length < FEWEST_LINES && only !== undefined && others.length === 0;
  const isAllowed = ON_THEIR_OWN.test(file) || file in REASONS || file.endsWith(".d.ts");
  if (isSmall && !isAllowed)
    problems.push(`${file}: ${length} lines and a single importer, ${only}: move it there`);
  if (!isSmall && file in REASONS) problems.push(`${file}: needs no reason in scripts/house.ts any more`);
}
for (const file of Object.keys(REASONS)) {
  if (!lengths.has(file)) problems.push(`${file}: no longer exists, but scripts/house.ts still has a reason`);
}
for (const problem of problems.sort()) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

function look(source: ts.SourceFile): void {
  const { fileName, text } = source;
  const isShipped = !fileName.startsWith(`${REHEARSAL}/`);
  const comments = new Set<number>();
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      if (comments.has(pos)) continue;
      comments.add(pos);
      const comment = text.slice(pos, end);
      const line = source.getLineAndCharacterOfPosition(pos).line + 1;
      const word = fileName.startsWith("scripts/") ? undefined : DIALECT.exec(comment)?.[0];
      if (word !== undefined)
        problems.push(`${fileName}:${line}: "${word}" is dialect: write it in plain English`);
      if (!QUESTION.test(comment)) continue;
      problems.push(
        `${fileName}:${line}: the doc comment begins with a question word: begin with a verb or a noun`,
      );
    }
    const literal = textOf(node);
    const isCommand = literal !== undefined && COMMAND.test(literal) && !START.test(literal);
    if (isShipped && isCommand && !RENDERERS.test(fileName)) {
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      problems.push(
        `${fileName}:${line}: spells a command: take it from runtime/contract/operator-commands.ts`,
      );
    }
    if (
      (ts.isAsExpression(node) || ts.isTypeAssertionExpression(node)) &&
      !fileName.startsWith(PROMPT_FOLDER)
    ) {
      const type = node.type.getText(source);
      if (TRUST.has(type)) problems.push(`${fileName}: casts to ${type}: only ${PROMPT_FOLDER} makes one`);
    }
    if (
      isShipped &&
      ts.isPropertyAccessExpression(node) &&
      STREAM.test(node.getText(source)) &&
      !(fileName in STREAM_USERS)
    ) {
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      problems.push(`${fileName}:${line}: writes to a terminal without runtime/shared/terminal.ts`);
    }
    if (ts.isClassDeclaration(node) && VAGUE.has(node.name?.text.toLowerCase() ?? "")) {
      problems.push(`${fileName}: the class ${node.name?.text} has a vague name`);
    }
    const className = ts.isClassDeclaration(node) ? node.name?.text : undefined;
    if (className !== undefined) {
      const other = classes.get(className);
      if (other !== undefined) problems.push(`${fileName}: ${other} has a class ${className} too`);
      classes.set(className, fileName);
    }
    const specifier = specifierOf(node);
    if (specifier?.startsWith(".")) {
      const target = path.normalize(path.join(path.dirname(fileName), specifier));
      importers.set(target, (importers.get(target) ?? new Set()).add(fileName));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

function textOf(node: ts.Node): string | undefined {
  return ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
    ? node.text
    : undefined;
}

function specifierOf(node: ts.Node): string | undefined {
  let literal: ts.Node | undefined;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) literal = node.moduleSpecifier;
  else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    [literal] = node.arguments;
  return literal !== undefined && ts.isStringLiteralLike(literal) ? literal.text : undefined;
}
