// The bundler exposes a CommonJS package's names only to static imports. A dynamic import of this module loads the
// package on first use.
export { SlackAPIClient } from "slack-web-api-client";
