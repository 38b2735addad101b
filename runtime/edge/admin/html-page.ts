import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { contentSecurityPolicy, type Markup } from "../pages/layout.ts";

/** Answers with a page and the policy that fits it. */
export async function htmlPage(
  context: Context,
  markup: Markup,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  context.header("content-security-policy", await contentSecurityPolicy());
  return context.html(markup, status);
}
