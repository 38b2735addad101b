/**
 * Takes the place of Pulumi's SDK in the provider's process. That one manages resources and registers none, and the SDK
 * is most of what it would load: see main.ts.
 */

/** Extended by the classes of this package's resources, which the provider does not use. */
export const CustomResource = Object;

/** As {@link CustomResource}, of components. */
export const ComponentResource = Object;
