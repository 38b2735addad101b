/**
 * Replaces Pulumi's SDK in the provider's process, to start faster; see main.ts. The provider registers no resources
 * and so does not need it.
 */

/** Base class of this package's resources, unused in the provider. */
export const CustomResource = Object;

/** Like {@link CustomResource}, for components. */
export const ComponentResource = Object;
