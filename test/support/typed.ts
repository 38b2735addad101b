/** Header that browsers send for a typed address. */
export const TYPED = { "sec-fetch-site": "none" };
