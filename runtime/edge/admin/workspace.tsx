import * as z from "zod/mini";
import { sha256Hex } from "../../contract/digest.ts";
import { reason, type Reason, StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { fileNameProblem } from "../../contract/workspace.ts";
import { readFields, readQuery } from "../form.ts";
import { workspace } from "../../operations/workspace.ts";
import { attempt, operate } from "../operate.ts";
import { adminPage, statusOf } from "../ui/console.tsx";
import { Age, Moment } from "../ui/time.tsx";
import { AlertBox, ContainerAnswer } from "../ui/state.tsx";
import { LinkLine, type Markup, TextRegion } from "../ui/document.tsx";
import { Diff } from "../ui/diff.tsx";
import { ActionButton, Editor, invalid, Submit } from "../ui/form.tsx";
import type { Sandbox } from "../ports.ts";
import { type Answer, askOrRecall, LIMIT_MS } from "./answers.ts";
import { finishChange, recordChange } from "./change.ts";
import { diffText } from "./change-diff.ts";
import { goTo } from "./flash.ts";
import type { AdminOptions, PageContext } from "./options.ts";
import { Table } from "../ui/table.tsx";

const FILE_TITLE = "A file of the workspace";
/** Matches the paths of existing files. {@link fileNameProblem} checks new files and is stricter. */
const FILE = /^(?!-)[^\p{Cc}]{1,1000}$/u;
const EXPECTED = /^(?:[0-9a-f]{64}|none)$/;
const ANY = /^[\s\S]*$/;

/** Files with a predefined purpose, listed even if missing. */
const KNOWN: Readonly<Record<string, string>> = {
  "AGENTS.md": "How the assistant works; read before every answer",
  "SOUL.md": "Who the assistant is; read before every answer",
  "USER.md": "Whom it works for; read before every answer",
  "MEMORY.md": "What it remembers; the assistant also writes this file",
};

// Built lazily to keep startup fast.
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
type Version = NonNullable<FileView["version"]>;
type File = z.infer<ReturnType<typeof workspace.show.output>>;

/**
 * `GET /_admin/workspace?root=&after=`: one page of a root's files, and the chats that have files. Does not wake the
 * container.
 */
export async function showWorkspace(
  context: PageContext,
  { sandbox, answers, clock }: AdminOptions,
): Promise<Response> {
  const { root, after } = readQuery(context, listQuery());
  const visitor = await context.get("visitor")();
  const isFirst = root === "" && after === undefined;
  const ask = () => operate(sandbox, workspace.list, { root: root || ".", ...(after && { after }) });
  const asked: Answer<List> = isFirst
    ? await askOrRecall(answers, visitor, "workspace", ask)
    : await attempt(LIMIT_MS, ask());
  const content = (
    <>
      <ContainerAnswer
        visitor={visitor}
        answer={asked}
        unknown="The files can be read once the container has run."
        show={(list) => (
          <>
            {filesPart(list, root, isFirst, clock())}
            <Chats {...list} />
          </>
        )}
      />
      {!isFirst && <BackLink />}
    </>
  );
  return adminPage(context, { title: "Workspace", asOf: asked.asOf, waits: isFirst }, content);
}

/** `GET /_admin/workspace/file?name=&version=`: a file to edit, or a previous version to restore. */
export async function showFile(context: PageContext, { sandbox }: AdminOptions): Promise<Response> {
  const { name, version } = readQuery(context, fileQuery());
  const wrong = fileNameProblem(name);
  if (!FILE.test(name)) return pathPage(context, name, wrong);
  const { value, problem } = await attempt(LIMIT_MS, readFile(sandbox, name, version));
  // A file from an older version of steward may have an invalid name. People can still view and remove it.
  const isThere = value !== undefined && (value.expected !== "none" || value.versions.length > 0);
  if (wrong !== undefined && !isThere) return pathPage(context, name, wrong);
  if (version === undefined || value === undefined) return filePage(context, { name, file: value, problem });
  const { value: present } = await attempt(LIMIT_MS, readFile(sandbox, name, undefined));
  const shown = { id: version, present: present?.text ?? "" };
  return filePage(context, { name, version: shown, file: value, problem });
}

/**
 * `POST /_admin/workspace/save`, fields `name`, `expected` and `text`: writes the file and stores its previous
 * version.
 */
export async function saveFile(context: PageContext, options: AdminOptions): Promise<Response> {
  const { sandbox } = options;
  const form = { name: FILE, expected: EXPECTED, text: ANY };
  const { name, expected, text } = await readFields(context.req.raw, form);
  const written = { file: name, expected, text: text.replaceAll("\r\n", "\n") };
  const before = await attempt(LIMIT_MS, readFile(sandbox, name, undefined));
  const { problem } = await attempt(LIMIT_MS, operate(sandbox, workspace.write, written));
  if (problem !== undefined) {
    const { value } = await attempt(LIMIT_MS, readFile(sandbox, name, undefined));
    const file = { text, expected, sha256: await sha256Hex(text), versions: value?.versions ?? [] };
    return filePage(context, { name, file, problem });
  }
  const diff = diffText(before.value?.text ?? "", written.text);
  await recordChange(context, options, { action: "workspace", detail: name, diff });
  return goTo(context, ROUTES.workspacePage, "written");
}

/** `POST /_admin/workspace/remove`, fields `name` and `expected`: removes the file and stores its last version. */
export async function removeFile(context: PageContext, options: AdminOptions): Promise<Response> {
  const { name, expected } = await readFields(context.req.raw, { name: FILE, expected: EXPECTED });
  const made = operate(options.sandbox, workspace.remove, { file: name, expected });
  const change = { action: "workspace", detail: `removed ${name}`, page: ROUTES.workspacePage };
  return finishChange(context, options, made, { ...change, done: "fileRemoved" });
}

/** A missing file counts as empty. */
async function readFile(sandbox: Sandbox, name: string, version: string | undefined): Promise<File> {
  try {
    return await operate(sandbox, workspace.show, { file: name, ...(version && { version }) });
  } catch (error) {
    const isNew = error instanceof StewardError && error.code === "workspace_file_unknown";
    if (!isNew || version !== undefined) throw error;
    return { text: "", expected: "none", sha256: await sha256Hex(""), versions: [] };
  }
}

function filesPart({ files, next }: List, root: string, isFirst: boolean, now: number): Markup {
  const missing = isFirst ? Object.keys(KNOWN).filter((name) => !files.some((one) => one.name === name)) : [];
  return (
    <>
      <Table<Listed>
        label="Files"
        caption={
          root === "" ? (
            "The assistant reads these files. Each change keeps the previous version."
          ) : (
            <>
              The files of <code>{root}/</code>, which only this chat reads.
            </>
          )
        }
        columns={[
          { head: "File", kind: "name", cell: ({ name }) => <a href={address(name)}>{name}</a> },
          { head: "Purpose", cell: ({ name }) => <span class="soft">{purposeOf(name)}</span> },
          { head: "Bytes", kind: "number", cell: ({ size, changedAt }) => changedAt !== "" && size },
          {
            head: "Changed",
            cell: ({ changedAt }) =>
              changedAt === "" ? <span class="soft">not written yet</span> : <Age at={changedAt} now={now} />,
          },
        ]}
        rows={[...missing.map((name) => ({ name, size: 0, changedAt: "" })), ...files]}
      />
      {next !== undefined && <LinkLine href={listAddress(root, next)}>More files</LinkLine>}
      <h2>New file</h2>
      <PathForm name={root === "" ? "" : `${root}/`} />
    </>
  );
}

function purposeOf(name: string): string {
  if (name.startsWith("skills/")) return "A skill; read when needed";
  return (Object.hasOwn(KNOWN, name) && KNOWN[name]) || "";
}

function Chats({ chats = [] }: List): Markup | null {
  if (chats.length === 0) return null;
  return (
    <>
      <h2>Files of chats</h2>
      <Table
        label="Files of chats"
        caption="Chats without write access to the shared files have their own."
        columns={[
          { head: "Chat", kind: "name", cell: ({ root }) => <a href={listAddress(root)}>{root}</a> },
          { head: "Files and folders", kind: "number", cell: ({ entries }) => entries },
          { head: "Bytes", kind: "number", cell: ({ bytes }) => bytes },
        ]}
        rows={chats}
      />
    </>
  );
}

function listAddress(root: string, after?: string): string {
  const search = new URLSearchParams({ ...(root && { root }), ...(after && { after }) });
  return `${ROUTES.workspacePage.path}?${search}`;
}

function PathForm({ name, problem }: { name: string; problem?: string }): Markup {
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
        <Submit>Edit</Submit>
      </form>
      {isWrong && (
        <p id="path-problem" class="mark" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

async function pathPage(
  context: PageContext,
  name: string,
  why = "This path is too long for a page.",
): Promise<Response> {
  const content = (
    <>
      <PathForm name={name} problem={why} />
      <BackLink />
    </>
  );
  return adminPage(context, { title: FILE_TITLE }, content, statusOf(reason("workspace_refused", why)));
}

interface FileView {
  name: string;
  /** Set for a previous version of the file: its id, and the file's current text. */
  version?: { id: string; present: string } | undefined;
  /** `undefined` if it cannot be read. */
  file: File | undefined;
  problem: Reason | undefined;
}

async function filePage(context: PageContext, view: FileView): Promise<Response> {
  const { name, version, file, problem } = view;
  // The text contains a masked secret. Saving it would overwrite the secret with the mask.
  const isMasked = file !== undefined && (await sha256Hex(file.text)) !== file.sha256;
  const content = (
    <>
      <p>
        <code>{name}</code>
      </p>
      <AlertBox reason={problem} />
      {file !== undefined && (
        <>
          {isMasked && <Masked {...file} />}
          {!isMasked && version !== undefined && <Former name={name} version={version} file={file} />}
          {!isMasked && version === undefined && editPart(name, file, problem)}
          <Versions name={name} {...file} />
        </>
      )}
      <BackLink />
    </>
  );
  return adminPage(context, { title: FILE_TITLE, scripts: ["editor.js"] }, content, statusOf(problem));
}

function BackLink(): Markup {
  return <LinkLine href={ROUTES.workspacePage.path}>Back to the workspace</LinkLine>;
}

function Masked({ text }: File): Markup {
  return (
    <>
      <aside>
        <p>
          <strong>The file contains something that looks like a secret.</strong> It is shown masked, so it
          cannot be edited here.
        </p>
        <p>
          <strong>Fix:</strong> Remove the secret from the file, by a message to the assistant or in the
          container.
        </p>
      </aside>
      <TextRegion label="The file">{text}</TextRegion>
    </>
  );
}

function Former({ name, version, file }: { name: string; version: Version; file: File }): Markup {
  return (
    <form class="wide" method="post" action={ROUTES.workspaceSave.path}>
      <p role="note">
        This is the version of <Moment at={new Date(Number(version.id)).toISOString()} />. Saving restores it.
      </p>
      <h2>What changes</h2>
      <Diff before={version.present} after={file.text} />
      <input type="hidden" name="text" value={file.text} />
      <Written name={name} expected={file.expected} />
      <Submit>Restore this version</Submit>
    </form>
  );
}

function Written({ name, expected }: { name: string; expected: string }): Markup {
  return (
    <>
      <input type="hidden" name="name" value={name} />
      <input type="hidden" name="expected" value={expected} />
    </>
  );
}

function editPart(name: string, { text, expected }: File, problem: Reason | undefined): Markup {
  return (
    <>
      <form class="wide" method="post" action={ROUTES.workspaceSave.path}>
        <Editor label="Text" text={text} isWrong={problem !== undefined} describedBy={problem && "reason"} />
        <Written name={name} expected={expected} />
        <Submit>Save</Submit>
      </form>
      {expected !== "none" && (
        <ActionButton
          action={ROUTES.workspaceRemove.path}
          fields={Object.entries({ name, expected })}
          tone="danger"
        >
          Remove the file
        </ActionButton>
      )}
    </>
  );
}

function Versions({ name, versions }: File & { name: string }): Markup | null {
  if (versions.length === 0) return null;
  return (
    <>
      <h2>Previous versions</h2>
      <ul>
        {versions.map(({ id, at, by }) => (
          <li>
            <a href={address(name, id)}>
              <Moment at={at} />
            </a>{" "}
            {by === "agent" && "written by the assistant"}
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
