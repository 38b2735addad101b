import { CHAT_USERS } from "../../runtime/contract/names.ts";
import { fields, list, text } from "./values.ts";

/** Returns true if a container runs as root with exactly the capabilities that give each chat a separate user. */
export function givesChatsUsers(props: {
  user?: unknown;
  capabilities?: unknown;
  securityOpts?: unknown;
}): boolean {
  const { adds, drops } = fields(props.capabilities);
  const texts = (value: unknown): string[] => list(value).map(String);
  return (
    text(props.user) === "root" &&
    texts(adds)
      .map((one) => one.replace(/^CAP_/, ""))
      .sort()
      .join() === CHAT_USERS.rights.join() &&
    texts(drops).join() === "ALL" &&
    texts(props.securityOpts).includes("no-new-privileges")
  );
}
