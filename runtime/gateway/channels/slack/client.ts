// The bundler exposes a CommonJS package's names only to static imports. This module makes it possible to load the
// package on first use.
export { SlackAPIClient } from "slack-web-api-client";
