/** Replaces Pulumi's SDK in the provider's process, which registers no resources, to start faster; see main.ts. */

/** Base class of this package's resources, unused in the provider. */
export const CustomResource = Object;

export const ComponentResource = Object;
