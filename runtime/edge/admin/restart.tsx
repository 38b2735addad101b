import { StewardError } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import type { Visitor } from "../access.ts";
import { readFields } from "../form.ts";
import { adminPage, isPage } from "../ui/console.tsx";
import { GatewayState, RepairLink } from "../ui/state.tsx";
import { LinkLine, type Markup } from "../ui/document.tsx";
import { ActionButton } from "../ui/form.tsx";
import { attempt } from "../operate.ts";
import { LIMIT_MS } from "./answers.ts";
import { recordChange } from "./change.ts";
import { goTo } from "./flash.ts";
import type { AdminOptions, PageContext } from "./options.ts";

/** `GET /_admin/restart`: asks for confirmation. */
export async function confirmRestart(context: PageContext): Promise<Response> {
  return adminPage(context, { title: "Restart" }, restartPart);
}

/** `POST /_admin/restart`: restarts the gateway, or starts a stopped container. */
export async function restartGateway(context: PageContext, options: AdminOptions): Promise<Response> {
  const { facts } = await context.get("visitor")();
  // Do not restart with an invalid config: the gateway still runs with the previous one.
  const invalid = facts.details?.config.problem;
  if (invalid !== undefined && facts.status.state === "ready") {
    return goTo(context, ROUTES.restartPage, "restarting", invalid);
  }
  await recordChange(context, options, { action: "restart" });
  const { problem } = await attempt(LIMIT_MS, options.sandbox.restart());
  return goTo(context, ROUTES.admin, "restarting", problem);
}

const PATH = /^\/_admin\/[a-z-]*$/;

/** `POST /_admin/wake`, field `page`: starts a stopped container and returns to that page. */
export async function wakeFromPage(context: PageContext, { sandbox, log }: AdminOptions): Promise<Response> {
  const { page } = await readFields(context.req.raw, { page: PATH });
  if (!isPage(page)) throw new StewardError("form_invalid");
  log.info("operator starts the container", { by: context.get("identity").name });
  const isWaking = await sandbox.wake("operator");
  return goTo(context, { path: page }, "waking", isWaking ? undefined : { code: "tenant_unknown" });
}

function restartPart(visitor: Visitor): Markup {
  const { status, details } = visitor.facts;
  const invalid = status.state === "ready" ? details?.config.problem : undefined;
  return (
    <>
      <GatewayState visitor={visitor} reason={invalid ?? status.reason} />
      {invalid === undefined ? (
        <>
          <p>
            The gateway restarts. Replies in progress are redone; messages that arrive meanwhile are queued.
          </p>
          <ActionButton action={ROUTES.restart.path} tone="primary">
            Restart the gateway
          </ActionButton>
        </>
      ) : (
        <>
          <p>The gateway runs with the previous config and could not restart with the current one.</p>
          <RepairLink reason={invalid} />
        </>
      )}
      <LinkLine href={ROUTES.admin.path}>Back to the overview</LinkLine>
    </>
  );
}
