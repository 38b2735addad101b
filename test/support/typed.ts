/** The header that browsers send for an address that a person has typed. */
export const TYPED = { "sec-fetch-site": "none" };
