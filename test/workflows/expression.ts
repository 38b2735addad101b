/** What `github`, `inputs`, `steps` and the others hold where an expression is read. */
export type Contexts = Readonly<Record<string, unknown>>;

/**
 * The value of what stands in `${{ … }}` or behind `if:`, as far as the workflows here use it: names, texts, `true`,
 * `==`, `!=`, `&&`, `||` and `always()`. https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
 */
export function evaluate(expression: string, contexts: Contexts): unknown {
  const alternatives = expression.split("||").map((all) => () => conjunction(all, contexts));
  let value: unknown = "";
  for (const alternative of alternatives) {
    value = alternative();
    if (value) return value;
  }
  return value;
}

/** A text in which each `${{ … }}` is replaced by its value. */
export function fill(text: string, contexts: Contexts): string {
  return text.replaceAll(/\$\{\{(.+?)\}\}/g, (_whole, expression: string) =>
    String(evaluate(expression, contexts) ?? ""),
  );
}

function conjunction(expression: string, contexts: Contexts): unknown {
  let value: unknown = true;
  for (const part of expression.split("&&")) {
    value = comparison(part, contexts);
    if (!value) return value;
  }
  return value;
}

function comparison(expression: string, contexts: Contexts): unknown {
  const [, left = expression, operator, right = ""] = /^(.+?)([!=]=)(.+)$/.exec(expression) ?? [];
  if (operator === undefined) return operand(left.trim(), contexts);
  const same = (operand(left.trim(), contexts) ?? "") === (operand(right.trim(), contexts) ?? "");
  return same === (operator === "==");
}

function operand(text: string, contexts: Contexts): unknown {
  if (text === "always()" || text === "true") return true;
  const quoted = /^'([^']*)'$/.exec(text)?.[1];
  if (quoted !== undefined) return quoted;
  if (!/^[a-z]+(\.[\w-]+)+$/i.test(text)) throw new Error(`an expression that is not read here: ${text}`);
  return text.split(".").reduce<unknown>((value, name) => {
    return typeof value === "object" && value !== null ? (value as Contexts)[name] : undefined;
  }, contexts);
}
