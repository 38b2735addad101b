/** Who asks, as the platform knows it beside the request itself. */
export interface Client {
  /** The address that the connection came from; never what a request says of itself. */
  clientAddress: string | undefined;
}
