// Loaded with the first connection, so that a start without one is faster.
export { WebSocket, WebSocketServer } from "ws";
