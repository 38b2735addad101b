import type { Context, Handler } from "hono";
import * as z from "zod/mini";
import { sha256Hex } from "../../contract/digest.ts";
import { reason, type Reason, StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { fileNameProblem } from "../../contract/workspace.ts";
import type { AccessVariables } from "../access.ts";
import { readFields, readQuery } from "../form.ts";
import { workspace } from "../../operations/workspace.ts";
import { attempt, operate } from "../operate.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import { Age, Moment } from "../ui/time.tsx";
import { AlertBox, ReasonBox, StateLine } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { invalid, TextArea } from "../ui/form.tsx";
import type { Sandbox } from "../ports.ts";
import { type Answer, askOrRecall, LIMIT_MS } from "./answers.ts";
import { changeAndGo, recordChange } from "./change.ts";
import { goTo } from "./flash.ts";
import type { AdminOptions } from "./options.ts";
import { PlainTable } from "../ui/table.tsx";

const FILE_TITLE = "A file of the workspace";
/** A path that the command line can take. What a new file may be called is {@link fileNameProblem}'s to say. */
const FILE = /^(?!-)[^\p{Cc}]{1,1000}$/u;
const EXPECTED = /^(?:[0-9a-f]{64}|none)$/;
const ANY = /^[\s\S]*$/;

/** Files with a meaning of their own, there or not. */
const KNOWN: Readonly<Record<string, string>> = {
  "AGENTS.md": "How the assistant works: read before every answer",
  "SOUL.md": "Who the assistant is: read before every answer",
  "USER.md": "Whom it works for: read before every answer",
  "MEMORY.md": "What it remembers; it writes here, too",
};

// Made when the page is asked for, and not at a start.
const listQuery = () =>
  z.strictObject({
    root: z._default(z.string().check(z.regex(/^chats\/[\w-]{1,120}$/)), ""),
    after: z.optional(z.string().check(z.maxLength(1_000))),
  });
const fileQuery = () =>
  z.strictObject({
    name: z._default(z.string(), ""),
    version: z.optional(z.string().check(z.regex(/^\d{1,15}$/))),
  });
type List = z.infer<ReturnType<typeof workspace.list.output>>;
type Listed = List["files"][number];
type File = z.infer<ReturnType<typeof workspace.show.output>>;

/** `GET /_admin/workspace?root=&after=`: the files of one root, page by page, and the chats' roots; wakes nothing. */
export function showWorkspace({ sandbox, answers, clock }: AdminOptions): Handler<AccessVariables> {
  return async function handleWorkspace(context) {
    const { root, after } = readQuery(context, listQuery());
    const visitor = await context.get("visitor")();
    const isFirst = root === "" && after === undefined;
    const ask = () => operate(sandbox, workspace.list, { root: root || ".", ...(after && { after }) });
    const asked: Answer<List> = isFirst
      ? await askOrRecall(answers, visitor, "workspace", ask)
      : await attempt(LIMIT_MS, ask());
    const { value, problem, asOf } = asked;
    const content = (
      <>
        <StateLine status={visitor.facts.status} overall={visitor.health.overall} />
        <ReasonBox reason={problem} />
        {value === undefined ? (
          <p class="soft">The files can be read once the container has run.</p>
        ) : (
          <>
            {filesPart(value, { root, isFirst, now: clock() })} {chatsPart(value)}
          </>
        )}
        {isFirst ? "" : backLink()}
      </>
    );
    return adminPage(context, { title: "Workspace", asOf, waits: isFirst }, content);
  };
}

/** `GET /_admin/workspace/file?name=&version=`: a file to change, or a former version of it to put back. */
export function showFile({ sandbox }: AdminOptions): Handler<AccessVariables> {
  return async function handleFile(context) {
    const { name, version } = readQuery(context, fileQuery());
    const wrong = fileNameProblem(name);
    if (!FILE.test(name)) return pathPage(context, name, wrong);
    const { value, problem } = await attempt(LIMIT_MS, readFile(sandbox, name, version));
    // A file of an older version may have such a name: it is shown, and can be removed.
    const isThere = value !== undefined && (value.expected !== "none" || value.versions.length > 0);
    if (wrong !== undefined && !isThere) return pathPage(context, name, wrong);
    return filePage(context, { name, version, file: value, problem });
  };
}

/** `POST /_admin/workspace/save`, fields `name`, `expected` and `text`: writes it; the one before is kept. */
export function saveFile(options: AdminOptions): Handler<AccessVariables> {
  const { sandbox } = options;
  return async function handleSaveFile(context) {
    const form = { name: FILE, expected: EXPECTED, text: ANY };
    const { name, expected, text } = await readFields(context.req.raw, form);
    const written = { file: name, expected, text: text.replaceAll("\r\n", "\n") };
    const { problem } = await attempt(LIMIT_MS, operate(sandbox, workspace.write, written));
    if (problem !== undefined) {
      const { value } = await attempt(LIMIT_MS, readFile(sandbox, name, undefined));
      const file = { text, expected, sha256: await sha256Hex(text), versions: value?.versions ?? [] };
      return filePage(context, { name, file, problem });
    }
    await recordChange(context, options, { action: "workspace", detail: name });
    return goTo(context, ROUTES.workspacePage, "written");
  };
}

/** `POST /_admin/workspace/remove`, fields `name` and `expected`: removes it; it is kept as a version. */
export function removeFile(options: AdminOptions): Handler<AccessVariables> {
  return async function handleRemoveFile(context) {
    const { name, expected } = await readFields(context.req.raw, { name: FILE, expected: EXPECTED });
    const made = operate(options.sandbox, workspace.remove, { file: name, expected });
    const change = { action: "workspace", detail: `removed ${name}`, page: ROUTES.workspacePage };
    return changeAndGo(context, options, made, { ...change, done: "fileRemoved" });
  };
}

/** Reads a file. One that is not there yet is empty. */
async function readFile(sandbox: Sandbox, name: string, version: string | undefined): Promise<File> {
  try {
    return await operate(sandbox, workspace.show, { file: name, ...(version && { version }) });
  } catch (error) {
    const isNew = error instanceof StewardError && error.code === "workspace_file_unknown";
    if (!isNew || version !== undefined) throw error;
    return { text: "", expected: "none", sha256: await sha256Hex(""), versions: [] };
  }
}

function filesPart(
  { files, next }: List,
  { root, isFirst, now }: { root: string; isFirst: boolean; now: number },
): Markup {
  const missing = isFirst ? Object.keys(KNOWN).filter((name) => !files.some((one) => one.name === name)) : [];
  return (
    <>
      <PlainTable
        label="Files"
        caption={
          <>
            {root === "" ? (
              "The assistant reads these files. Each change keeps the version before."
            ) : (
              <>
                The files of <code>{root}/</code>, which this chat alone reads.
              </>
            )}
          </>
        }
        columns={["File", "Purpose", { number: "Bytes" }, "Changed"]}
        rows={[
          ...missing.map((name) => fileRow({ name, size: 0, changedAt: "" }, now)),
          ...files.map((file) => fileRow(file, now)),
        ]}
      />
      {next === undefined ? (
        ""
      ) : (
        <p>
          <a href={listAddress(root, next)}>More files</a>
        </p>
      )}
      <h2>A new file</h2>
      {pathForm(root === "" ? "" : `${root}/`)}
    </>
  );
}

/** The roots of the chats, each with a list of its own: many files of one hide none of another. */
function chatsPart({ chats = [] }: List): Markup | "" {
  if (chats.length === 0) return "";
  return (
    <>
      <h2>Files of chats</h2>
      <PlainTable
        label="Files of chats"
        caption="A chat that may not write the shared files has its own."
        columns={["Chat", { number: "Files and folders" }, { number: "Bytes" }]}
        rows={chats.map(({ root, entries, bytes }) => (
          <tr>
            <th scope="row">
              <a href={listAddress(root)}>{root}</a>
            </th>
            <td class="number">{entries}</td>
            <td class="number">{bytes}</td>
          </tr>
        ))}
      />
    </>
  );
}

function listAddress(root: string, after?: string): string {
  const search = new URLSearchParams({ ...(root && { root }), ...(after && { after }) });
  return `${ROUTES.workspacePage.path}?${search}`;
}

function fileRow({ name, size, changedAt }: Listed, now: number): Markup {
  const isThere = changedAt !== "";
  const skill = name.startsWith("skills/") ? "A skill: read when it is needed" : "";
  return (
    <tr>
      <th scope="row">
        <a href={address(name)}>{name}</a>
      </th>
      <td class="soft">{Object.hasOwn(KNOWN, name) ? KNOWN[name] : skill}</td>
      <td class="number">{isThere ? size : ""}</td>
      <td>
        {isThere ? <Age at={Date.parse(changedAt)} now={now} /> : <span class="soft">not written yet</span>}
      </td>
    </tr>
  );
}

function pathForm(name: string, problem?: string): Markup {
  const isWrong = problem !== undefined;
  return (
    <>
      <form class="row" method="get" action={ROUTES.workspaceFile.path}>
        <label>
          Path{" "}
          <input
            name="name"
            required
            maxlength={400}
            placeholder="skills/mail/SKILL.md"
            value={name}
            {...invalid(isWrong, "path-problem")}
          />
        </label>
        <button type="submit">Write it</button>
      </form>
      {isWrong ? (
        <p id="path-problem" class="mark">
          {problem}
        </p>
      ) : (
        ""
      )}
    </>
  );
}

async function pathPage(
  context: Context<AccessVariables>,
  name: string,
  why = "This path is too long for a page.",
): Promise<Response> {
  const problem = reason("workspace_refused", why);
  const content = (
    <>
      <AlertBox reason={problem} /> {pathForm(name, why)} {backLink()}
    </>
  );
  return adminPage(context, { title: FILE_TITLE }, content, statusOf(problem));
}

/** Content of the page of a file. */
interface FileView {
  name: string;
  version?: string | undefined;
  /** `undefined` where it cannot be read. */
  file: File | undefined;
  problem: Reason | undefined;
}

async function filePage(context: Context<AccessVariables>, view: FileView): Promise<Response> {
  const { name, version, file, problem } = view;
  // A secret in it was masked on the way here: saved as it is shown, the file would lose it.
  const isMasked = file !== undefined && (await sha256Hex(file.text)) !== file.sha256;
  const content = (
    <>
      <p>
        <code>{name}</code>
      </p>
      <AlertBox reason={problem} />
      {file === undefined ? (
        ""
      ) : (
        <>
          {isMasked ? maskedPart(file) : editForm(name, version, file, problem)} {versionsPart(name, file)}
        </>
      )}
      {backLink()}
    </>
  );
  return adminPage(context, { title: FILE_TITLE }, content, statusOf(problem));
}

function backLink(): Markup {
  return (
    <p>
      <a href={ROUTES.workspacePage.path}>Back to the workspace</a>
    </p>
  );
}

function maskedPart({ text }: File): Markup {
  return (
    <>
      <aside>
        <p>
          <strong>The file holds something that looks like a secret.</strong> It is shown masked, so it cannot
          be edited here.
        </p>
        <p>
          <strong>Fix:</strong> Take the secret out of the file, by a message to the assistant or in the
          container.
        </p>
      </aside>
      <pre role="region" tabindex={0} aria-label="The file">
        {text}
      </pre>
    </>
  );
}

function editForm(
  name: string,
  version: string | undefined,
  { text, expected }: File,
  problem: Reason | undefined,
): Markup {
  return (
    <>
      <form class="wide" method="post" action={ROUTES.workspaceSave.path}>
        {version === undefined ? (
          ""
        ) : (
          <p role="note">
            This is the version of <Moment at={new Date(Number(version)).toISOString()} />. Saving puts it
            back.
          </p>
        )}
        <label for="text">Text</label>
        <TextArea
          id="text"
          name="text"
          rows={22}
          autocapitalize="off"
          spellcheck="true"
          aria-invalid={problem && "true"}
          text={text}
        />{" "}
        <input type="hidden" name="name" value={name} />{" "}
        <input type="hidden" name="expected" value={expected} />{" "}
        <button type="submit" class="primary">
          Save
        </button>
      </form>
      {expected === "none" || version !== undefined ? (
        ""
      ) : (
        <form method="post" action={ROUTES.workspaceRemove.path}>
          <input type="hidden" name="name" value={name} />{" "}
          <input type="hidden" name="expected" value={expected} />{" "}
          <button type="submit" class="danger">
            Remove the file
          </button>
        </form>
      )}
    </>
  );
}

function versionsPart(name: string, { versions }: File): Markup | "" {
  if (versions.length === 0) return "";
  return (
    <>
      <h2>Versions before</h2>
      <ul>
        {versions.map(({ id, at, by }) => (
          <li>
            <a href={address(name, id)}>
              <Moment at={at} />
            </a>{" "}
            {by === "agent" ? "written by the assistant" : ""}
          </li>
        ))}
      </ul>
    </>
  );
}

function address(name: string, version?: string): string {
  const search = new URLSearchParams({ name, ...(version && { version }) });
  return `${ROUTES.workspaceFile.path}?${search}`;
}
