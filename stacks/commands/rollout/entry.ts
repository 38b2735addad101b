/** One line of a record: when, what, and what is known of it. No value of a secret. */
export interface Entry {
  /** ISO 8601 */
  time: string;
  step:
    | "begun"
    | "planned"
    | "backup"
    | "former"
    | "updating"
    | "canary"
    | "updated"
    | "failed"
    | "back"
    | "ended";
  [fact: string]: unknown;
}
