import { expect, test } from "vitest";
import { publishedPrice } from "../../../runtime/shared/prices.ts";

test("a model has its family's price, with a snapshot's date or without", () => {
  const price = { input: 3, output: 15 };
  expect(publishedPrice("anthropic/claude-sonnet-4-5")).toEqual(price);
  expect(publishedPrice("anthropic/claude-sonnet-4-5-20250929")).toEqual(price);
  expect(publishedPrice("anthropic/claude-3-7-sonnet-latest")).toEqual(price);
});

test.each([
  // Relatives of families that have one.
  "anthropic/claude-opus-4-7",
  "anthropic/claude-opus-5-5-mini",
  "anthropic/claude-sonnet-4-5-2025",
  "anthropic/claude-sonnet",
  // Somebody else's server may ask what it likes.
  "openrouter/claude-sonnet-4-5",
  "openrouter/anthropic/claude-sonnet-4-5",
  "anthropic/constructor",
  "claude-sonnet-4-5",
  "",
])("%s has no price rather than a guessed one", (model) => {
  expect(publishedPrice(model)).toBeUndefined();
});
