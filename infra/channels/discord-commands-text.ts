/** Members of a command and of an option that are registered; Discord's answers hold more, such as ids and versions. */
const COMMAND_FIELDS = ["type", "name", "description", "integration_types", "contexts"] as const;
const OPTION_FIELDS = ["type", "name", "description", "required", "max_length"] as const;

/**
 * A list of commands as one text, the same for what is registered and for what Discord answers with: by
 * name, without what Discord adds, and without what it leaves out, as `required` where it is false.
 */
export function commandsText(list: unknown): string {
  const byName = listOf(list).toSorted((a, b) => (String(a["name"]) < String(b["name"]) ? -1 : 1));
  const commands = byName.map((command) => {
    const options = listOf(command["options"]).map((option) => pick(option, OPTION_FIELDS));
    return Object.assign(pick(command, COMMAND_FIELDS), options.length > 0 && { options });
  });
  return JSON.stringify(commands);
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
}

function pick(from: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  const given = fields.filter((field) => ![undefined, null, false].includes(from[field] as undefined));
  return Object.fromEntries(given.map((field) => [field, from[field]]));
}
