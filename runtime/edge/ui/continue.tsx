import { Document, type Markup } from "./document.tsx";
import { Facts } from "./table.tsx";

interface ContinueProps {
  /** Path and query on this site. */
  address: string;
  /** `post` if opening the address changes something. */
  method?: "get" | "post";
}

/**
 * Asks the visitor to confirm an address that another site or the sign-in opened, because a link alone must not run a
 * command.
 */
export function ContinuePage({ address, method = "get" }: ContinueProps): Markup {
  const { pathname, searchParams } = new URL(address, "http://here.invalid");
  return (
    <Document title="Continue?">
      <h1>Continue to {pathname}?</h1>
      <p>You did not come from a page of this service. Continue only if you meant to open this:</p>
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
