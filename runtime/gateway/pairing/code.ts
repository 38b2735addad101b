import { randomBytes } from "../../process/random.ts";

/** Letters that nobody mistakes for a digit or for each other when a code is read out: no I, L, O. */
const LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ";
const LENGTH = 8;
const FAIR_BYTES = 256 - (256 % LETTERS.length);

/** A pairing code: 8 uppercase letters, about 36 bits from the cryptographic source. */
export function newPairingCode(): string {
  let code = "";
  while (code.length < LENGTH) {
    // A byte from the incomplete last round would make the first letters likelier.
    const [byte = 255] = randomBytes(1);
    if (byte < FAIR_BYTES) code += LETTERS.charAt(byte % LETTERS.length);
  }
  return code;
}
