/** Pieces that, repeated, make each form of a secret begin again and again, or break off late. */
export const SECRET_PIECES: readonly string[] = [
  "eyJaaaaaaaa-",
  "eyJaaaaaaaa.",
  "-eyJ",
  "eyJ",
  "aaaaaaaaaaa.",
  "xoxb-aaaaaaaa-",
  "sk-aaaaaaaaaaaa-",
  "-sk-",
  "123456:",
  "123456789012:-",
  "aW50ZXJhY3Rpb246=",
  "Bearer ",
  "Bearer aaaaaaaa=",
  '"token"',
  '"token" : "\\\\',
  '"secretsecret',
  "https://a@",
  "?a",
  "?a=b",
  "--token",
  '"--token"',
  '"--token", "',
  '"--tokentoken',
  "http://",
  "http://a?b=c&",
  "-token-",
  " ",
  "\n",
];

/** Texts that people write to make a reader slow: what opens a form and never closes it, and what ends late in no match. */
const REPEATED: readonly string[] = [
  ...SECRET_PIECES,
  // References, links and markup.
  ..."<http: <http:a| <mailto: <@U1| <@U1> <@U1|a> <! <!subteam^S1| <#C1| < > <> <b> </ <!-- <script &amp; &lt; & &#x &#".split(
    " ",
  ),
  ..."[ ] [[ ]] ]( [a] [a]( [a](b [a](b) [a](<b [](a(b) ![ ![a]( ( ) (( () )( ((a)".split(" "),
  ...'[a](b " ;[a](b " [a](b \';* ** *** **** *a a* **a a** ***a *a** **a* *a **b _ __ _a __a _a_ ~~ ~~a ~~~ ~'
    .split(";")
    .flatMap((some) => (some.includes("[") ? [some] : some.split(" "))),
  ..."` `` ``` `a ``a` `a`` \\ \\* \\` # ## #a #>".split(" "),
  "* ",
  "** ",
  "*a **b ",
  "_a *b ",
  "**a __b ~~c *d _e ",
  "` ``",
  // Lines.
  "\n\n",
  " \n",
  "\t\n",
  "\r\n",
  "a\n",
  "- ",
  "- a\n",
  "* * ",
  "1. a\n",
  "# a\n",
  "> ",
  "> a\n",
  "| ",
  "|-",
  "| a |\n|---|\n",
  "|a|\n",
  "---\n",
  "```\n",
  "```a\n",
  "~~~\n",
  "```\n~~~\n",
  "    a\n",
  // Words, blanks, signs.
  "a",
  "A",
  "a ",
  "\t",
  "\u00a0",
  "\u2028",
  "1",
  "1.",
  ":1.1",
  "1.1.",
  ",",
  ". ",
  "!",
  "? ",
  "-",
  "--a ",
  "@",
  "@name_of_five",
  "/a ",
  "/",
  "a@b ",
  "=",
  ";",
  // Characters that are more, or less, than one.
  "😀",
  "\ud83d",
  "\udc00",
  "e\u0301",
  "\u0301",
  "\u202e",
  "\u200b",
  "\ufeff",
  "\u0000",
  "\u001b[31m",
  "İ",
  "ß",
  // JSON, quotes and escapes.
  '"',
  "'",
  '\\"',
  "\\",
  '"a',
  '"a",',
  '"a":',
  '{"a":',
  '{"a":1,',
  "{",
  "[",
  "}",
  "]",
  "//",
  "/*",
  '"\\\\',
  "[redacted]",
  // Addresses and secrets.
  "http://a ",
  "::ffff:",
  "***a",
  "api key provided: ",
  "ErrorError",
  "Error: ",
];

/** A beginning, what follows it to the end, and so nothing that would close it. */
const FILLED: readonly (readonly [string, string])[] = [
  ["<http:", "a"],
  ["<@U1|", "a "],
  ["[", "a "],
  ["[a](", "b"],
  ["[a](b ", " "],
  ["`", "a "],
  ["*", "a "],
  ["**", "a*"],
  ["***", "a** "],
  ["- ", " "],
  ["- ", "\t"],
  ["# ", " "],
  ["# a", " "],
  ["# a ", "#"],
  ["> ", " "],
  ["| ", " "],
  ["```", "a"],
  ["```\n", " "],
  ["/a ", " "],
  ["/model", " "],
  ["Bearer ", " "],
  ['"token": "', "\\\\"],
  ['{"a":"', "a"],
  ['{"type":"a","text":"', "<http:"],
  ["application/json", " "],
  ["Error [a]: ", "a"],
  ["at", " "],
];

/** A text of a family. */
export interface Family {
  name: string;
  /** Makes a text of so many characters. */
  make(length: number): string;
}

/** The texts end in what fits no form; the line separator is no end of a line for `.` and `$`, but for `\s`. */
const TAIL = "!\u2028x";

function repeated(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

/** The hostile texts that each reader is measured with. */
export const FAMILIES: readonly Family[] = [
  ...[...new Set(REPEATED)].map((piece) => ({
    name: `${JSON.stringify(piece)} repeated`,
    make: (length: number) => repeated(piece, length) + TAIL,
  })),
  ...FILLED.map(([head, filling]) => ({
    name: `${JSON.stringify(head)} and ${JSON.stringify(filling)} repeated`,
    make: (length: number) => head + repeated(filling, length) + TAIL,
  })),
  ...["`", "*", "~", "#"].map((sign) => ({
    name: `runs of ${sign}, each longer than the one before`,
    make: (length: number) => {
      const runs = Array.from({ length: Math.ceil(Math.sqrt(2 * length)) }, (_, at) => sign.repeat(at + 1));
      return runs.join(" a").slice(0, length) + TAIL;
    },
  })),
  ...["[", '{"a":'].map((open) => ({
    name: `JSON in JSON, by ${open}`,
    make: (length: number) => {
      const depth = Math.floor(length / (open.length + 1));
      return open.repeat(depth) + (open === "[" ? "]" : "1}").repeat(depth).slice(0, depth);
    },
  })),
  {
    name: "JSON with a long text and many keys",
    make: (length) => {
      const keys = Array.from({ length: Math.floor(length / 30) }, (_, at) => [`key${at}`, "<http:"]);
      return JSON.stringify({ ...Object.fromEntries(keys), text: repeated("<http:", length / 3) });
    },
  },
];
