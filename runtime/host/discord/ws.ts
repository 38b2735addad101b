// Loaded with the first connection, since hosts without Discord need no WebSocket client.
export { WebSocket } from "ws";
