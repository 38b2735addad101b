// Import this module only when a connection needs it, to keep startup fast.
export { WebSocket, WebSocketServer } from "ws";
