import type { Handler } from "hono";
import * as z from "zod/mini";
import type { AccessVariables } from "../access.ts";
import { containerConfig, lastLines } from "../debug-routes.ts";
import { configPage } from "../pages/config.ts";
import { contentSecurityPolicy } from "../pages/layout.ts";
import { logsPage } from "../pages/logs.ts";
import { LOGS_SCRIPT } from "../pages/logs-script.ts";
import type { Sandbox } from "../ports.ts";
import { readQuery } from "../query.ts";
import { attempt } from "./attempt.ts";
import { readFlash } from "./flash.ts";

const LIMIT_MS = 10_000;
const LINES = 200;
const logsQuery = z.strictObject({ follow: z.optional(z.literal("1")) });

/** `GET /_admin/logs?follow=1`: the end of the gateway's output, redacted; wakes nothing. */
export function showLogs(sandbox: Sandbox, signsOut: boolean): Handler<AccessVariables> {
  return async function handleLogsPage(context) {
    const { follow } = readQuery(context, logsQuery);
    const status = await sandbox.status();
    const { value: tail = { lines: [] }, problem } = await attempt(LIMIT_MS, lastLines(sandbox, LINES));
    const visitor = { identity: context.get("identity"), signsOut };
    context.header("content-security-policy", await contentSecurityPolicy(LOGS_SCRIPT));
    return context.html(logsPage({ visitor, status, tail, problem, follow: follow === "1" }));
  };
}

/** `GET /_admin/config`: the config file, redacted, and whether it is valid; wakes nothing. */
export function showConfig(sandbox: Sandbox, signsOut: boolean): Handler<AccessVariables> {
  return async function handleConfigPage(context) {
    const status = await sandbox.status();
    const { value: file, problem } =
      status.state === "stopped" ? {} : await attempt(LIMIT_MS, containerConfig(sandbox));
    const visitor = { identity: context.get("identity"), signsOut };
    context.header("content-security-policy", await contentSecurityPolicy());
    return context.html(configPage({ visitor, flash: readFlash(context), status, file, problem }));
  };
}
