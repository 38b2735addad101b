// Import this module dynamically, instead of the package. The bundler exposes the names of a CommonJS package only to
// static imports, such as this one.
export { SlackAPIClient } from "slack-web-api-client";
