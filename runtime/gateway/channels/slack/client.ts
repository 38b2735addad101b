// A module of our own between: the bundler gives a CommonJS package's names to a static import only,
// and the package is loaded on first use.
export { SlackAPIClient } from "slack-web-api-client";
