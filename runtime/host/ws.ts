// Loaded with the first connection, so that a start without one is not held up.
export { WebSocket, WebSocketServer } from "ws";
