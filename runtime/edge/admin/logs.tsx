import type { Handler } from "hono";
import * as z from "zod/mini";
import type { LogTail } from "../../contract/control.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { AccessVariables } from "../access.ts";
import { lastLines } from "../debug-routes.ts";
import { adminPage } from "../ui/console.tsx";
import { ReasonBox, StateLine } from "../ui/state.tsx";
import type { Markup } from "../ui/document.tsx";
import { readableLine } from "../../shared/log.ts";
import { readQuery } from "../form.ts";
import { attempt } from "../operate.ts";
import { LIMIT_MS } from "./answers.ts";
import type { AdminOptions } from "./options.ts";

/** Seconds after which a page that follows loads again. */
const FOLLOW_SECONDS = 5;

const LINES = 200;
const logsQuery = () => z.strictObject({ follow: z.optional(z.literal("1")) });

/**
 * `GET /_admin/logs?follow=1`: the end of the gateway's output, redacted; wakes nothing. A script follows the output;
 * without scripts the page loads again if `follow` asks for it.
 */
export function showLogs({ sandbox }: AdminOptions): Handler<AccessVariables> {
  return async function handleLogsPage(context) {
    const follow = readQuery(context, logsQuery()).follow === "1";
    const { facts, health } = await context.get("visitor")();
    const { value: tail = { lines: [] }, problem } = await attempt(LIMIT_MS, lastLines(sandbox, LINES));
    const head = (
      <>
        <StateLine status={facts.status} overall={health.overall} />
        <ReasonBox reason={problem} />
      </>
    );
    const content = (
      <>
        {head} {linesPart(tail, follow, facts.status.state === "stopped")}
      </>
    );
    const ways = follow ? { refreshSeconds: FOLLOW_SECONDS } : { scripts: ["logs.js"] as const };
    return adminPage(context, { title: "Logs", ...ways }, content);
  };
}

function linesPart({ lines, next }: LogTail, follow: boolean, isStopped: boolean): Markup {
  const path = ROUTES.logsPage.path;
  const ways = follow ? (
    <a href={path}>Stop following</a>
  ) : (
    <>
      <a href={path}>Load again</a> · <a href={`${path}?follow=1`}>Follow every {FOLLOW_SECONDS} s</a>
    </>
  );
  const download = (
    <a href={`${ROUTES.logs.path}?lines=500`} download="steward-logs.json">
      Download 500 lines
    </a>
  );
  const none = isStopped ? "No lines are available while the container is stopped." : "No lines.";
  // Not a live region: read aloud, a log would drown out everything else.
  const output = (
    <pre
      id="output"
      role="region"
      aria-label="The gateway's output"
      aria-live="off"
      tabindex={0}
      data-from={ROUTES.logs.path}
      data-lines={follow ? undefined : JSON.stringify(lines)}
      data-next={next === undefined ? undefined : next}
      hidden={lines.length === 0}
    >
      {lines.map(readableLine).join("\n")}
    </pre>
  );
  return (
    <>
      <p id="ways">{ways}</p>
      {lines.length === 0 ? "" : <p>{download}</p>} {follow ? "" : controls()} {output}
      <p id="none" class="soft" hidden={lines.length > 0}>
        {none}
      </p>
    </>
  );
}

/** Shown by the script that they need. */
function controls(): Markup {
  return (
    <form id="controls" class="row" hidden>
      <label>
        Level
        <select id="level">
          <option value="debug">All</option>
          <option value="info">Info and above</option>
          <option value="warning">Warnings and errors</option>
          <option value="error">Errors</option>
        </select>
      </label>
      <label>
        Text <input id="text" type="search" autocomplete="off" />
      </label>
      <button type="button" id="pause" aria-pressed="false">
        Pause
      </button>
      <p id="note" class="soft" role="status"></p>
    </form>
  );
}
