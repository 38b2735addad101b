/**
 * Substitute for Pulumi's SDK, which the provider's process does not need and which would slow its start; see
 * main.ts.
 */

/** Base class of the resource classes, which the provider never instantiates. */
export const CustomResource = Object;

export const ComponentResource = Object;
