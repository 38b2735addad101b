import * as z from "zod/mini";
import type { LogTail } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import { LOG_LEVELS, type LogFilter, readableLog, type ReadableLine } from "../../shared/log.ts";
import { readQuery } from "../form.ts";
import { readLog } from "../cached-log.ts";
import { adminPage } from "../ui/console.tsx";
import type { Markup } from "../ui/document.tsx";
import { SelectField } from "../ui/form.tsx";
import { GatewayState } from "../ui/state.tsx";
import { LIMIT_MS } from "./answers.ts";
import type { AdminOptions, PageContext } from "./options.ts";

/** Reload interval without scripts. */
const FOLLOW_SECONDS = 5;
/** Lines shown without scripts. */
const LINES = 200;
const LONGEST_TEXT = 100;

const logsQuery = () =>
  z.strictObject({
    follow: z.optional(z.literal("1")),
    level: z._default(z.enum(LOG_LEVELS), "debug"),
    text: z._default(z.string().check(z.maxLength(LONGEST_TEXT)), ""),
  });

/**
 * `GET /_admin/logs?level=&text=&follow=1`: the end of the gateway's redacted output. Does not wake the container. A
 * script adds new lines; without scripts, `follow` reloads the page.
 */
export async function showLogs(context: PageContext, { sandbox, answers }: AdminOptions): Promise<Response> {
  const { follow, ...filter } = readQuery(context, logsQuery());
  const visitor = await context.get("visitor")();
  const { asOf, problem, ...tail } = await readLog(sandbox, answers, LIMIT_MS);
  const content = (
    <>
      <GatewayState visitor={visitor} reason={problem} />
      {linesPart(tail, filter, follow !== undefined)}
    </>
  );
  const ways = follow ? { refreshSeconds: FOLLOW_SECONDS } : { scripts: ["logs.js"] as const };
  return adminPage(context, { title: "Logs", asOf, ...ways }, content);
}

/** `GET /_admin/logs/download`: the stored output as JSON lines. Does not wake the container. */
export async function downloadLogs(
  context: PageContext,
  { sandbox, answers }: AdminOptions,
): Promise<Response> {
  const { lines, next } = await readLog(sandbox, answers, LIMIT_MS);
  // After this download, the page's script requests only lines from number `next` on.
  if (next !== undefined) context.header("x-log-next", String(next));
  context.header("content-disposition", 'attachment; filename="steward-logs.jsonl"');
  return context.body(lines.map((line) => `${line}\n`).join(""), 200, {
    "content-type": "application/jsonl",
  });
}

function linesPart({ lines, next }: LogTail, filter: LogFilter, follow: boolean): Markup {
  const path = ROUTES.logsPage.path;
  const query = new URLSearchParams({ ...filter });
  const shown = readableLog(lines, filter).slice(-LINES);
  return (
    <>
      <form id="controls" class="row" method="get" action={path}>
        <SelectField
          name="level"
          label="Level"
          selected={filter.level}
          options={[
            ["debug", "All"],
            ["info", "Info and above"],
            ["warning", "Warnings and errors"],
            ["error", "Errors"],
          ]}
        />
        <label>
          Text{" "}
          <input type="search" name="text" maxlength={LONGEST_TEXT} value={filter.text} autocomplete="off" />
        </label>
        <button id="show">Show</button>
        <button type="button" id="pause" aria-pressed="false" hidden>
          Pause
        </button>
        <a class="button" href={ROUTES.logsDownload.path} download>
          Download
        </a>
        <p id="note" class="soft" role="status"></p>
      </form>
      <p id="ways">
        {follow ? (
          <a href={`${path}?${query}`}>Stop following</a>
        ) : (
          <>
            <a href={`${path}?${query}`}>Load again</a> ·{" "}
            <a href={`${path}?${query}&follow=1`}>Follow every {FOLLOW_SECONDS} s</a>
          </>
        )}
      </p>
      {/* Not a live region: reading a log aloud would drown out everything else. */}
      <pre
        id="output"
        role="region"
        aria-label="The gateway's output"
        aria-live="off"
        tabindex={0}
        data-from={ROUTES.logs.path}
        data-lines={follow ? undefined : JSON.stringify(lines.slice(-LINES))}
        data-next={next}
        data-kept={ROUTES.logsDownload.path}
        hidden={shown.length === 0}
      >
        {shown.map((line, index) => linePart(line, index === shown.length - 1))}
      </pre>
      <p id="none" class="soft" hidden={shown.length > 0}>
        {lines.length > 0 ? "No line matches the filter." : "No lines are available yet."}
      </p>
    </>
  );
}

function linePart({ text, kind }: ReadableLine, isLast: boolean): Markup | string {
  const line = isLast ? text : `${text}\n`;
  return kind === "plain" || kind === "info" ? line : <span class={kind}>{line}</span>;
}
