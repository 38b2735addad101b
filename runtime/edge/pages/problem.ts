import type { MiddlewareHandler } from "hono";
import { html } from "hono/html";
import { type Problem, PROBLEM_TYPE } from "../../contract/problem.ts";
import { ROUTES } from "../../contract/routes.ts";
import { wantsHtml } from "../access.ts";
import { contentSecurityPolicy, type Markup, page } from "./layout.ts";

/** Answers a browser with a page in place of a problem document. Status and headers stay; debug routes stay JSON. */
export function showProblems(): MiddlewareHandler {
  return async function showProblemsMiddleware(context, next) {
    await next();
    const { res, req } = context;
    if (res.headers.get("content-type") !== PROBLEM_TYPE || !wantsHtml(req.raw)) return;
    if (req.path.startsWith("/debug/")) return;
    const markup = problemPage((await res.json()) as Problem);
    const headers = new Headers(res.headers);
    headers.set("content-type", "text/html; charset=UTF-8");
    headers.set("content-security-policy", await contentSecurityPolicy());
    context.res = undefined;
    context.res = new Response(String(await markup), { status: res.status, headers });
  };
}

function problemPage({ title, detail, fix, code, status }: Problem): Markup {
  return page(
    title,
    html`<h1>${title}</h1>
      <p>${detail}</p>
      <aside>
        <p><strong>Fix:</strong> ${fix}</p>
      </aside>
      <p class="soft">${status} <code>${code}</code></p>
      <p><a class="button" href="${ROUTES.admin.path}">Go to the overview</a></p>`,
  );
}
