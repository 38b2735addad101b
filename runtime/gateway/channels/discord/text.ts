import { splitMarkdown } from "../../markdown/split.ts";
import { type Forms, writeMarkdown } from "../../markdown/write.ts";

/** https://docs.discord.com/developers/resources/message#create-message */
const LONGEST = 2_000;

const FORMS: Forms = {
  text: escape,
  code: (code) => (code.includes("`") ? `\`\` ${code} \`\`` : `\`${code}\``),
  strong: (inside) => `**${inside}**`,
  emphasis: (inside) => `*${inside}*`,
  struck: (inside) => `~~${inside}~~`,
  link({ target, shown }) {
    if (shown === "" || shown === target) return target;
    // With an address in its label it would not become a link.
    if (/https?:/i.test(shown)) return `${escape(shown)} (${target})`;
    return `[${escape(shown.replace(/[[\]]/g, ""))}](<${target}>)`;
  },
  quote: (inside) => inside.replace(/^/gm, "> "),
  codeBlock: (code, language = "") => `\`\`\`${language}\n${code}\n\`\`\``,
  bullet: "-",
};

/**
 * A reply's Markdown in the forms that Discord shows: it has no tables, boxes and pictures, and some signs that mean
 * more there: `||`, `__` and `-#`.
 * https://support.discord.com/hc/en-us/articles/210298617
 */
export function writeDiscordText(markdown: string): string {
  return writeMarkdown(markdown, FORMS);
}

/** Splits a reply before it is rendered; each part fits as it is rendered, too. */
export function splitForDiscord(text: string, limit: number): string[] {
  return splitMarkdown(text, limit, (part) => writeDiscordText(part).length / LONGEST);
}

function escape(text: string): string {
  return text.replace(/[\\*_~`|]/g, "\\$&").replace(/^([ \t]*)(?=[#>+-])/gm, "$1\\");
}
