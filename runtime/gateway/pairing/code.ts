import { randomInt } from "node:crypto";

/** Letters that nobody mistakes for a digit or for each other when a code is read out: no I, L, O. */
const LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ";
const LENGTH = 8;

/** A pairing code: 8 uppercase letters, about 36 bits from the cryptographic source. */
export function newPairingCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS.charAt(randomInt(LETTERS.length))).join("");
}
