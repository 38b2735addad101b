// Loaded with the first connection: a host without Discord needs no WebSocket client.
export { WebSocket } from "ws";
