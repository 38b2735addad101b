/** Facts of an error before it happens. `cause` and `fix` are shown to people. */
export interface ErrorText {
  /** HTTP status where the edge answers with it. */
  status: number;
  title: string;
  cause: string;
  fix: string;
}
