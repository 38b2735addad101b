import { Document, type Markup } from "./document.tsx";
import { Facts } from "./table.tsx";

interface ContinueProps {
  /** A path of this site, with its query. */
  address: string;
  /** `post` if the address changes something. */
  method?: "get" | "post";
}

/**
 * The page before an address that somebody was led to from elsewhere: another site, or the sign-in. The button sends the
 * same request from this page. Without a click nothing happens: a link must not run a command by its query.
 */
export function ContinuePage({ address, method = "get" }: ContinueProps): Markup {
  const { pathname, searchParams } = new URL(address, "http://here.invalid");
  return (
    <Document title="Continue?">
      <h1>Continue to {pathname}?</h1>
      <p>No page of this service led you here. Continue only if you meant to open this:</p>
      <Facts facts={[["Address", <code>{pathname}</code>], ...searchParams]} />
      <form method={method} action={pathname}>
        {[...searchParams].map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <button type="submit" autofocus>
          Continue
        </button>
      </form>
    </Document>
  );
}
