// Import this module dynamically, not the package. The bundler exposes the names of a CommonJS package only to static
// imports and re-exports.
export { SlackAPIClient } from "slack-web-api-client";
