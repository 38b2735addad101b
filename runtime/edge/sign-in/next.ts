import { ROUTES } from "../../contract/routes.ts";

/** No such site: it shows whether an address stays where it is resolved. */
const HERE = "http://here.invalid";
// oxlint-disable-next-line no-control-regex -- what a header or the URL parser treats in its own way is refused.
const UNSAFE = /[\u0000-\u0020\u007f\\]/;

/** Returns where a browser goes once it is signed in: a path of this site with its query; anything else is the overview. */
export function nextPath(wanted: string | null | undefined): string {
  const fallback = ROUTES.admin.path;
  if (!wanted?.startsWith("/") || UNSAFE.test(wanted)) return fallback;
  const url = URL.canParse(wanted, HERE) ? new URL(wanted, HERE) : undefined;
  // Looked at after resolving: "/.//evil.example" becomes "//evil.example", which is another host.
  if (url?.origin !== HERE || url.pathname.startsWith("//")) return fallback;
  return url.pathname === ROUTES.signInPage.path ? fallback : `${url.pathname}${url.search}`;
}

/** The sign-in page's address for a request that has no identity. */
export function signInUrl(request: Request): string {
  const { pathname, search } = new URL(request.url);
  const next = request.method === "GET" ? nextPath(`${pathname}${search}`) : ROUTES.admin.path;
  return `${ROUTES.signInPage.path}?next=${encodeURIComponent(next)}`;
}
