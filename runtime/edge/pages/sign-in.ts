import { html } from "hono/html";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";
import { ROUTES } from "../../contract/routes.ts";
import { page, type Markup } from "./layout.ts";

/** What the sign-in page shows. */
export interface SignInView {
  /** Where to go then: a path of this site. */
  next: string;
  /** What was wrong with the try before. */
  code?: ErrorCode;
  retryAfterSeconds?: number;
}

/** The page of `/_admin/sign-in`. */
export function signInPage({ next, code, retryAfterSeconds }: SignInView): Markup {
  return page(
    "Sign in to steward",
    html`<h1>steward administration</h1>
      ${code === undefined ? "" : trouble(code, retryAfterSeconds)}
      <form method="post" action="${ROUTES.signIn.path}">
        <label for="token">Admin token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          ${code === undefined ? "" : html`aria-invalid="true" aria-describedby="trouble"`}
        />
        <input type="hidden" name="next" value="${next}" />
        <button type="submit">Sign in</button>
      </form>
      <p class="soft">It is the value of ADMIN_TOKEN in this deployment.</p>`,
  );
}

/** The button of a page behind the sign-in. */
export function signOutForm(): Markup {
  return html`<form method="post" action="${ROUTES.signOut.path}">
    <button type="submit">Sign out</button>
  </form>`;
}

function trouble(code: ErrorCode, retryAfterSeconds: number | undefined): Markup {
  const { title, fix } = ERRORS[code];
  const wait = retryAfterSeconds === undefined ? "" : ` Try again in ${retryAfterSeconds} s.`;
  return html`<aside id="trouble" role="alert"><p>${title}. ${fix}${wait}</p></aside>`;
}
