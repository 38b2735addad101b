/** Tells whether a secret stands in a text: in plain, in hexadecimal, in a URL's form, or in base64. */
export function leaks(content: string, secret: string): boolean {
  // Base64 of a text that stands anywhere in another one ends in what surrounds it: its middle is looked for.
  const middles = ["", " ", "  "].map((before) =>
    Buffer.from(`${before}${secret}`).toString("base64").slice(4, -4),
  );
  const hex = Buffer.from(secret).toString("hex");
  return [secret, hex, hex.toUpperCase(), encodeURIComponent(secret), ...middles].some((form) =>
    content.includes(form),
  );
}
