// Imported only on first use, to keep startup fast.
export { WebSocketServer } from "ws";
