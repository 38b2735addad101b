/** Browsers send this header if the user typed the address. */
export const TYPED = { "sec-fetch-site": "none" };
