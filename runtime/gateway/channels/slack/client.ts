// Import this module dynamically to load the package on first use. The package is CommonJS, and the bundler exposes
// its names only to static imports.
export { SlackAPIClient } from "slack-web-api-client";
